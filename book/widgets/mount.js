// Puts each widget in its place. Where the engine can't run, the place keeps its figure; print has the
// figure everywhere.
"use strict";

for (const place of document.querySelectorAll(".widget[data-widget]")) {
    if (!live.isPossible) break;
    const figure = elements.element("div", { class: "widget-static" }, ...place.childNodes);
    place.replaceChildren(figure, elements.element("div", { class: "widget-live" }));
    // mdBook turns the page at an arrow key, and what you did in the widget would be lost. So keys pressed
    // in a widget end here, and a click on its text gives it the focus.
    place.tabIndex = -1;
    place.addEventListener("keydown", (event) => {
        if (event.key !== "Escape") event.stopPropagation();
    });
    const failed = (error) => {
        place.replaceChildren(...figure.childNodes, elements.element("p", { class: "widget-problem" },
            `This page's engine doesn't run here: ${error.message}.`));
        for (const name of ["role", "aria-labelledby", "tabindex", "data-mounted"]) place.removeAttribute(name);
        place.dataset.failed = "";
    };
    place.dataset.mounted = "";
    // A widget draws its controls at once, with room for the engine's answers.
    widgets[place.dataset.widget](place).then(() => { place.dataset.ready = ""; }, failed);
}
