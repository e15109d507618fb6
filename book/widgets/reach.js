// What a position takes up, layer by layer, where layers have a window and one may attend to the whole text.
// It asks which positions attend to which, so it asks no engine.
"use strict";

widgets.reach = async (place) => {
    const { element, fill, slider, output, key, count } = elements;
    const POSITIONS = 16;
    const MOST = 6;
    /** The positions of a block. */
    const BLOCK = 2;

    const control = (label, min, max, value, show) =>
        slider({ label, min, max, step: 1, value, show, change: () => draw() });
    const query = control("query", 0, POSITIONS - 1, POSITIONS - 1, (value) => `position ${value}`);
    const window = control("window", 1, 8, 4, (value) => count(value, "position"));
    const layers = control("layers", 1, MOST, 3, (value) => count(value, "layer"));
    const global = control("global layer", 0, MOST, 0, (value) => (value === 0 ? "none" : `layer ${value}`));

    const rows = Array.from({ length: MOST }, () => {
        const line = element("div");
        line.style.gridTemplateColumns = `repeat(${POSITIONS}, minmax(0, 42px))`;
        return { label: element("p"), line };
    });
    const said = output();
    fill(
        place, "What a position takes up, layer by layer",
        query.row, window.row, layers.row, global.row,
        element("div", { class: "widget-cells widget-tile", "aria-hidden": "true" },
            ...rows.flatMap(({ label, line }) => [label, line])),
        key(["chosen", "the query"], ["new", "the query attends to it in this layer"],
            ["kept", "reaches the query through later layers"], ["padding", "doesn't reach it from here"]),
        said,
    );

    function draw() {
        const [at, wide, many] = [query.value(), window.value(), layers.value()];
        const isGlobal = (layer) => layer === global.value();
        /** The first position that a position attends to in a layer. */
        const first = (position, layer) => (isGlobal(layer) ? 0 : Math.max(0, position + 1 - wide));
        /** From this position on, all is taken up, down to this layer. */
        let reached = at;
        let keys = 0;
        const reaches = [];
        // Layer by layer from the last one, which is on top.
        rows.forEach(({ label, line }, i) => {
            const layer = many - i;
            if (layer < 1) {
                label.textContent = "";
                line.replaceChildren();
                return;
            }
            const own = first(at, layer);
            reached = first(reached, layer);
            reaches.unshift(reached);
            keys += at + 1 - own;
            label.textContent = `layer ${layer}: ${isGlobal(layer) ? "the whole text" : "a window"}`;
            line.replaceChildren(...Array.from({ length: POSITIONS }, (_, position) => {
                const kind = position === at ? "chosen" : position > at || position < reached ? "padding"
                    : position >= own ? "new" : "kept";
                return element("span", { class: kind }, `${position}`);
            }));
        });
        const isWhole = global.value() >= 1 && global.value() <= many;
        const behind = isWhole ? 0 : Math.floor(Math.max(0, at + 2 - wide) / BLOCK);
        const blocks = Math.ceil((at + 1) / BLOCK);
        said.textContent = `Through ${count(many, "layer")}, position ${at} takes up the positions from ${reached} on, and attends to `
            + `${count(keys, "key")} in all. Of ${count(blocks, "block")} of two positions, ${behind} can be given back.`;
        place.dataset.shown = JSON.stringify({ at, wide, layers: many, global: global.value(), reaches, keys, blocks, behind });
    }

    draw();
};
