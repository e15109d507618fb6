// What the widgets are built from: labelled controls that the browser brings, and bars.
"use strict";

/** Each widget by its name: a function that fills an element, and is done when it can be used. */
const widgets = {};

const elements = {
    /** An element with attributes, a text or children. */
    element(name, attributes = {}, ...children) {
        const svg = ["svg", "rect", "path", "text"].includes(name);
        const made = svg
            ? document.createElementNS("http://www.w3.org/2000/svg", name)
            : document.createElement(name);
        for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
        made.append(...children);
        return made;
    },

    /** The title of a widget, and a line that says what to try. */
    head(place, title) {
        const { element } = elements;
        const line = element("p", { class: "widget-try" }, place.dataset.try);
        return [element("p", { class: "widget-title" }, ...[title].flat()), line];
    },

    /** A slider with its label and its value: `show` writes the value, `change` hears of it. */
    slider({ label, min, max, step, value, show, change }) {
        const { element } = elements;
        const input = element("input", { type: "range", min, max, step, value });
        const shown = element("span", { class: "widget-value" });
        const update = () => {
            shown.textContent = show(input.valueAsNumber);
            input.setAttribute("aria-valuetext", shown.textContent);
        };
        input.addEventListener("input", () => {
            update();
            change();
        });
        update();
        const name = element("span", {}, label);
        const row = element("label", { class: "widget-slider" }, name, input, shown);
        return { row, input, value: () => input.valueAsNumber };
    },

    /** A line to type into, with its label. `change` hears of every letter. */
    field({ label, value, change, enter = () => {} }) {
        const { element } = elements;
        const input = element("input", { type: "text", value, spellcheck: "false", autocomplete: "off" });
        input.addEventListener("input", change);
        input.addEventListener("keydown", (event) => {
            // mdBook turns pages with the arrow keys.
            event.stopPropagation();
            if (event.key === "Enter") enter();
        });
        return { row: element("label", { class: "widget-field" }, element("span", {}, label), input), input };
    },

    /** A whole number, with its label. */
    number({ label, min, max, value, change }) {
        const { element } = elements;
        const input = element("input", { type: "number", min, max, step: 1, value });
        input.addEventListener("change", change);
        input.addEventListener("keydown", (event) => event.stopPropagation());
        const row = element("label", { class: "widget-number" }, element("span", {}, label), input);
        const inside = (number) => Math.min(max, Math.max(min, Math.trunc(number) || min));
        return { row, input, value: () => inside(input.valueAsNumber) };
    },

    /** A button. */
    button(label, press) {
        const made = elements.element("button", { type: "button" }, label);
        made.addEventListener("click", press);
        return made;
    },

    /** A line of text that screen readers read when it changes. */
    output() {
        return elements.element("output", { class: "widget-output", "aria-live": "polite" });
    },

    /** A bar of a share of the room that it has. */
    bar(share, kind) {
        const bar = elements.element("span", { class: `widget-bar ${kind}` });
        bar.style.width = `${100 * share}%`;
        return elements.element("span", { class: "widget-track", "aria-hidden": "true" }, bar);
    },

    /** A token as one sees it: quoted, since most begin with a space. */
    token(text) {
        return elements.element("code", {}, JSON.stringify(text));
    },

    percent(share) {
        const percent = 100 * share;
        if (percent > 0 && percent < 0.05) return "<0.1%";
        return `${percent.toFixed(1)}%`;
    },

    count(number, thing) {
        return `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;
    },
};
