// What is wrong with the widgets of the page as it is now, beside what `seen` finds.
document.getAnimations().forEach((animation) => animation.finish());
const problems = [];
const add = (problem) => problems.push(problem);
seen.checkWidth(add);
seen.checkText(add);
for (const widget of document.querySelectorAll(".widget")) {
    const title = widget.dataset.widget;
    if (!widget.querySelector(".widget-try")?.textContent.trim()) add(`${title} says nothing to try`);
    for (const control of widget.querySelectorAll("button, input, select, textarea, [tabindex]")) {
        if (!control.checkVisibility()) continue;
        const { width, height } = (control.closest("label") ?? control).getBoundingClientRect();
        if (Math.min(width, height) < 24) add(`${title}: a control of ${width} by ${height} px`);
        const label = control.labels?.[0]?.textContent ?? control.ariaLabel ?? control.textContent;
        if (!label.trim()) add(`${title}: a <${control.localName}> has no label`);
        if (control.ariaLabel !== null || control.labels?.length || control.localName === "button") continue;
        add(`${title}: a <${control.localName}> has no label`);
    }
    if (!widget.querySelector("output[aria-live]")) add(`${title} tells a screen reader nothing`);
    const heading = document.getElementById(widget.getAttribute("aria-labelledby"));
    if (widget.getAttribute("role") !== "group" || !/^H[2-6]$/.test(heading?.nodeName)) add(`${title} is no group with a heading`);
    if (widget.querySelector("table:not(:has(> caption))")) add(`${title} has a table without a caption`);
    for (const list of widget.querySelectorAll("[role=listbox]")) {
        const active = document.getElementById(list.getAttribute("aria-activedescendant"));
        if (active?.parentElement !== list || active.ariaSelected !== "true") add(`${title}: the active option is not told`);
        if ([...list.children].some((child) => child.role !== "option")) add(`${title}: a list holds more than options`);
    }
    const row = widget.querySelector(".widget-buttons");
    if (row && (row.role !== "group" || !row.ariaLabel)) add(`${title}: its buttons are no group`);
    if (row && ![...row.children].some((child) => child.textContent === "Stop")) add(`${title} cannot be stopped`);
}
const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
if (new Set(ids).size < ids.length) add("two elements have the same id");
return problems;
