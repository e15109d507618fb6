// What is wrong with the page as it is now, beside what `seen` finds.
document.getAnimations().forEach((animation) => animation.finish());
const problems = [];
const add = (problem) => problems.push(problem);
seen.checkWidth(add);
seen.checkText(add);
for (const control of document.querySelectorAll("button, input, textarea")) {
    if (!control.checkVisibility()) continue;
    const name = control.id || control.textContent;
    const { width, height } = (control.closest("label") ?? control).getBoundingClientRect();
    if (Math.min(width, height) < 44) add(`${name} is ${width} by ${height} px: too small to touch`);
    const label = control.labels?.[0]?.textContent ?? control.textContent;
    if (!(label.trim() || control.ariaLabel)) add(`${name} has no label`);
    if (control.type === "number" && control.scrollWidth > control.clientWidth) {
        add(`${name} shows only a part of ${control.value}`);
    }
}
const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
if (new Set(ids).size < ids.length) add("two elements have the same id");
for (const attribute of ["for", "aria-describedby", "aria-labelledby"]) {
    for (const element of document.querySelectorAll(`[${attribute}]`)) {
        const id = element.getAttribute(attribute);
        if (!ids.includes(id)) add(`${attribute} names ${id}, which is not there`);
    }
}
return problems;
