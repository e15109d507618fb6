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
// What is not text has to be seen too.
for (const bar of document.querySelectorAll(".track span")) {
    if (!bar.checkVisibility({ visibilityProperty: true })) continue;
    const { backgroundColor, borderTopColor } = getComputedStyle(bar);
    const ratios = [backgroundColor, borderTopColor].map((color) => seen.contrast(bar.parentElement, seen.parse(color))[1]);
    if (Math.max(...ratios) < 3) add(`contrast ${ratios} of a bar (${bar.className}), needs 3`);
}
const isWithin = (part, whole) => part.top >= whole.top && part.bottom <= whole.bottom && part.right <= whole.right + 0.5;
for (const mark of document.querySelectorAll(".mark:not(:empty)")) {
    if (!isWithin(mark.getBoundingClientRect(), mark.closest("th").getBoundingClientRect())) add("the mark of the chosen token is cut");
}
// Whoever goes to a token sees it whole.
const token = document.activeElement.closest(".token");
if (token) {
    const { top, bottom, right } = token.getClientRects()[0];
    const edge = 2;
    const marked = { top: top - edge, bottom: bottom + edge, right };
    if (!isWithin(marked, token.closest("#story, #messages").getBoundingClientRect())) add("the mark around a token is cut");
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
