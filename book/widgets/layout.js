// Prompts of different lengths in one pass: padded on either side, or end to end.
"use strict";

widgets.layout = async (place) => {
    const { element, head, slider, output, count, percent } = elements;
    const names = ["A", "B", "C", "D"];
    const sliders = [7, 2, 4, 3].map((value, i) => slider({
        label: `prompt ${names[i]}`,
        min: 1,
        max: 12,
        step: 1,
        value,
        show: (length) => count(length, "token"),
        change: () => show(),
    }));
    const group = `layout-${document.querySelectorAll("[data-mounted]").length}`;
    const kinds = ["right", "left", "end to end"];
    const labels = ["padding right", "padding left", "end to end"];
    const radios = kinds.map((value) => element("input", { type: "radio", name: group, value }));
    radios[0].checked = true;
    radios.forEach((radio) => radio.addEventListener("change", () => show()));

    const grid = element("div", { class: "widget-cells", "aria-hidden": "true" });
    const said = output();

    function cell({ prompt, position, is_last: isLast }) {
        const isPadding = position === null;
        const kind = isPadding ? "padding" : isLast ? "chosen" : prompt % 2 ? "kept" : "new";
        return element("span", { class: kind }, isPadding ? "pad" : `${names[prompt]}${position}`);
    }

    const opened = live.open(place, "layout");
    const show = live.latest(async () => {
        const engine = await opened;
        const kind = radios.find((radio) => radio.checked).value;
        const lengths = sliders.map((control) => control.value());
        const answer = await engine.ask({ lengths, kind });
        const { rows, computed, padding } = answer;
        grid.replaceChildren(...rows.map((row) =>
            element("div", { class: kind === "end to end" ? "wraps" : "" }, ...row.map(cell))));
        const last = {
            "right": "The logits to choose from are in a different column for each prompt.",
            "left": "The logits to choose from are all in the last column, and position 0 is not.",
            "end to end": "The logits to choose from are those of each prompt's last token.",
        };
        said.textContent = `${count(computed, "position")} computed, of which ${padding} `
            + `(${percent(padding / computed)}) are padding. ${last[kind]}`;
        place.dataset.shown = JSON.stringify({ lengths, kind, answer });
    });

    const choices = radios.map((radio, i) => element("label", {}, radio, ` ${labels[i]}`));
    place.replaceChildren(
        ...head(place, "Four prompts in one pass"),
        ...sliders.map((control) => control.row),
        element("fieldset", { class: "widget-choice" },
            element("legend", {}, "layout"), ...choices),
        grid,
        element("p", { class: "widget-key" },
            element("span", { class: "widget-swatch chosen" }), " its logits choose the next token "),
        said,
    );
    await opened;
    await show();
};
