// Prompts of different lengths in one pass: padded on either side, or end to end.
"use strict";

widgets.layout = async (place) => {
    const { element, fill, slider, output, key, count, percent } = elements;
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
    const group = elements.id("layout");
    const kinds = ["right", "left", "end to end"];
    const labels = ["padding right", "padding left", "end to end"];
    const radios = kinds.map((value) => element("input", { type: "radio", name: group, value }));
    radios[0].checked = true;
    radios.forEach((radio) => radio.addEventListener("change", () => show()));

    const grid = element("div", { class: "widget-cells", "aria-hidden": "true" });
    const said = output();

    /** A pass computes every cell. A thick edge is where a prompt begins. */
    function cell({ prompt, position, is_last: isLast }) {
        const kind = position === null ? "padding" : isLast ? "chosen" : "new";
        const begins = position === 0 ? " begins" : "";
        return element("span", { class: kind + begins }, position === null ? "pad" : `${names[prompt]}${position}`);
    }

    const opened = live.open(place, "layout", said);
    const show = live.latest(async () => {
        const engine = await opened;
        const kind = radios.find((radio) => radio.checked).value;
        const lengths = sliders.map((control) => control.value());
        const answer = await engine.ask({ lengths, kind });
        const { rows, computed, padding } = answer;
        grid.replaceChildren(...rows.map((row) =>
            element("div", { class: kind === "end to end" ? "wraps" : "" }, ...row.map(cell))));
        const last = {
            "right": "The logits that we need are in a different column for each prompt.",
            "left": "The logits that we need are all in the last column, but the prompts begin in different ones.",
            "end to end": "The logits that we need follow each prompt's last token.",
        };
        said.textContent = `${count(computed, "position")} computed, of which ${padding} `
            + `(${percent(padding / computed)}) are padding. ${last[kind]}`;
        place.dataset.shown = JSON.stringify({ lengths, kind, answer });
    });

    const choices = radios.map((radio, i) => element("label", {}, radio, ` ${labels[i]}`));
    fill(
        place, "Four prompts in one pass",
        ...sliders.map((control) => control.row),
        element("fieldset", { class: "widget-choice" },
            element("legend", {}, "layout"), ...choices),
        grid,
        key(["new", "computed"], ["chosen", "computed, and its logits choose the next token"], ["padding", "computed for nothing"]),
        said,
    );
    await opened;
    await show();
};
