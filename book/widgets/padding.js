// Prompts of different lengths in one pass: padded on either side, or end to end.
"use strict";

widgets.padding = (place) => {
    const { element, slider, output, count, percent } = elements;
    const names = ["A", "B", "C", "D"];
    const sliders = [7, 2, 4, 3].map((value, i) => slider({
        label: `prompt ${names[i]}`,
        min: 1,
        max: 12,
        step: 1,
        value,
        show: (length) => count(length, "token"),
        change: draw,
    }));
    const group = `layout-${document.querySelectorAll("[data-mounted]").length}`;
    const kinds = ["right", "left", "end to end"];
    const labels = ["padding right", "padding left", "end to end"];
    const radios = kinds.map((value) => element("input", { type: "radio", name: group, value }));
    radios[0].checked = true;
    radios.forEach((radio) => radio.addEventListener("change", draw));

    const grid = element("div", { class: "widget-cells", "aria-hidden": "true" });
    const said = output();

    function cell({ prompt, position, isLast }) {
        const isPadding = position === null;
        const kind = isPadding ? "padding" : isLast ? "chosen" : prompt % 2 ? "kept" : "new";
        return element("span", { class: kind }, isPadding ? "pad" : `${names[prompt]}${position}`);
    }

    function draw() {
        const kind = radios.find((radio) => radio.checked).value;
        const rows = arithmetic.layout(sliders.map((control) => control.value()), kind);
        const { computed, padding } = arithmetic.padding(rows);
        grid.replaceChildren(...rows.map((row) =>
            element("div", { class: kind === "end to end" ? "wraps" : "" }, ...row.map(cell))));
        const last = {
            "right": "The logits to choose from are in a different column for each prompt.",
            "left": "The logits to choose from are all in the last column, and position 0 is not.",
            "end to end": "The logits to choose from are those of each prompt's last token.",
        };
        said.textContent = `${count(computed, "position")} computed, of which ${padding} `
            + `(${percent(padding / computed)}) are padding. ${last[kind]}`;
    }

    const choices = radios.map((radio, i) => element("label", {}, radio, ` ${labels[i]}`));
    place.replaceChildren(
        element("p", { class: "widget-title" }, "Four prompts in one pass"),
        ...sliders.map((control) => control.row),
        element("fieldset", { class: "widget-choice" },
            element("legend", {}, "layout"), ...choices),
        grid,
        element("p", { class: "widget-key" },
            element("span", { class: "widget-swatch chosen" }), " its logits choose the next token "),
        said,
    );
    draw();
};
