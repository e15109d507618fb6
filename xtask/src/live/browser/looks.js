// What is wrong with the widgets of the page as it is now, beside what `seen` finds.
document.getAnimations().forEach((animation) => animation.finish());
const problems = [];
const add = (problem) => problems.push(problem);
seen.checkWidth(add);
seen.checkText(add);
for (const widget of document.querySelectorAll(".widget")) {
    const title = widget.dataset.widget;
    if (!widget.querySelector(".widget-try")?.textContent.trim()) add(`${title} says nothing to try`);
    for (const control of widget.querySelectorAll("button, input, textarea, [tabindex]")) {
        if (!control.checkVisibility()) continue;
        const { width, height } = (control.closest("label") ?? control).getBoundingClientRect();
        if (Math.min(width, height) < 24) add(`${title}: a control of ${width} by ${height} px`);
        const label = control.labels?.[0]?.textContent ?? control.ariaLabel ?? control.textContent;
        if (!label.trim()) add(`${title}: a <${control.localName}> has no label`);
        if (control.ariaLabel !== null || control.labels?.length || control.localName === "button") continue;
        add(`${title}: a <${control.localName}> has no label`);
    }
    if (!widget.querySelector("output[aria-live]")) add(`${title} tells a screen reader nothing`);
}
const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
if (new Set(ids).size < ids.length) add("two elements have the same id");
return problems;
