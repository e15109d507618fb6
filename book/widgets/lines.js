// Where 32 units read at the same time, and what memory loads for it: lines, and the sectors of a line. It
// adds addresses, so it asks no engine.
"use strict";

widgets.lines = async (place) => {
    const { element, fill, slider, output, key, count, percent } = elements;
    const UNITS = 32;
    const [LINE, SECTOR] = [128, 32];
    /** The memory that is drawn: so much is reached with the largest stride. */
    const LINES = 32;

    const stride = slider({ label: "stride", min: 0, max: 32, step: 1, value: 1,
        show: (value) => count(value, "number"), change: () => show() });
    const first = slider({ label: "unit 0 reads", min: 0, max: 31, step: 1, value: 0,
        show: (value) => `number ${value}`, change: () => show() });
    const group = elements.id("numbers");
    const bytes = [4, 2].map((value) => element("input", { type: "radio", name: group, value }));
    bytes[0].checked = true;
    bytes.forEach((radio) => radio.addEventListener("change", () => show()));

    const grid = element("div", { class: "widget-cells widget-lines", "aria-hidden": "true" });
    const said = output();
    fill(
        place, "What 32 units read, and what is loaded for it",
        stride.row, first.row,
        element("fieldset", { class: "widget-choice" }, element("legend", {}, "numbers"),
            element("label", {}, bytes[0], " f32, 4 bytes"), element("label", {}, bytes[1], " f16, 2 bytes")),
        element("p", { class: "widget-label" }, "Memory: boxes of 32 bytes, four in a line. In each, the bytes that are asked for."),
        grid,
        key(["new", "asked for"], ["kept", "the rest of its line"], ["padding", "not loaded"]),
        said,
    );

    function show() {
        const size = Number(bytes.find((radio) => radio.checked).value);
        /** The bytes that are asked for: those that several units read count once. */
        const asked = new Set();
        for (let unit = 0; unit < UNITS; unit += 1) {
            const address = size * (first.value() + stride.value() * unit);
            for (let byte = 0; byte < size; byte += 1) asked.add(address + byte);
        }
        /** How many bytes are asked for of each piece that has any. */
        const pieces = (length) => {
            const found = new Map();
            asked.forEach((byte) => {
                const piece = Math.floor(byte / length);
                found.set(piece, (found.get(piece) ?? 0) + 1);
            });
            return found;
        };
        const [lines, sectors] = [pieces(LINE), pieces(SECTOR)];
        const inLine = LINE / SECTOR;
        grid.replaceChildren(element("div", {}, ...Array.from({ length: LINES * inLine }, (_, sector) => {
            const kind = sectors.has(sector) ? "new" : lines.has(Math.floor(sector / inLine)) ? "kept" : "padding";
            const begins = sector % inLine === 0 ? " begins" : "";
            return element("span", { class: kind + begins }, `${sectors.get(sector) ?? "·"}`);
        })));
        const shares = [asked.size / (LINE * lines.size), asked.size / (SECTOR * sectors.size)];
        said.textContent = `${count(asked.size, "byte")} are asked for. By lines of ${LINE} bytes: ${count(lines.size, "line")}, `
            + `of which ${percent(shares[0])} is used. By sectors of ${SECTOR} bytes: ${count(sectors.size, "sector")}, ${percent(shares[1])}.`;
        place.dataset.shown = JSON.stringify({ stride: stride.value(), first: first.value(), size, lines: lines.size,
            sectors: sectors.size, shares });
    }

    show();
};
