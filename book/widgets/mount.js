// Puts each widget in its place. Where the engine cannot run, the place keeps its figure.
"use strict";

for (const place of document.querySelectorAll(".widget[data-widget]")) {
    if (!live.isPossible) break;
    const figure = [...place.childNodes];
    const failed = (error) => {
        place.replaceChildren(...figure, elements.element("p", { class: "widget-problem" },
            `The engine of this page does not run here: ${error.message}.`));
        delete place.dataset.mounted;
        place.dataset.failed = "";
    };
    place.dataset.mounted = "";
    // A widget draws its controls at once, with room for what the engine will say.
    widgets[place.dataset.widget](place).then(() => { place.dataset.ready = ""; }, failed);
}
