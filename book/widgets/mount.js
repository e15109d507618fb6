// Puts each widget in its place. Where this does not run, the place keeps its figure.
"use strict";

for (const place of document.querySelectorAll(".widget[data-widget]")) {
    widgets[place.dataset.widget](place);
    place.dataset.mounted = "";
}
