// Three values under keys of two numbers: what attention finds for each key, and what a state finds, which
// is two numbers for all of them. The arithmetic is the chapter's, so it asks no engine.
"use strict";

widgets.recall = async (place) => {
    const { element, fill, slider, output, key: legend, count } = elements;
    const { KEYS } = recall;
    const pair = (numbers) => `(${numbers.map((number) => Number(number.toFixed(2))).join(", ")})`.replaceAll("-", "−");
    const short = (number) => number.toFixed(1).replace("-0.0", "0.0").replace("-", "−");

    const control = (label, max, step, value, show) =>
        slider({ label, min: 0, max, step, value, show, change: () => draw() });
    const writes = control("written", 3, 1, 3, (value) => count(value, "value"));
    const third = control("third key", KEYS.length - 1, 1, 3, (value) => pair(KEYS[value]));
    const value = control("third value", 50, 5, 20, (shown) => `${shown}`);
    const looks = element("input", { type: "checkbox" });
    looks.checked = true;
    looks.addEventListener("change", () => draw());

    const plane = element("svg", { class: "fig", viewBox: "0 0 420 210", "aria-hidden": "true" });
    const body = element("tbody");
    const said = output();
    fill(
        place, "Three values, and a state of two numbers",
        writes.row, third.row, value.row,
        element("label", { class: "widget-check" }, looks, " look before you write (the delta rule)"),
        element("div", { class: "widget-plane" }, plane),
        legend(["kept", "a value, written under its key"], ["new", "the state, and how it got there"], ["padding", "what the state gives for a key"]),
        element("table", { class: "widget-table" },
            element("caption", {}, "Ask for each key"),
            element("thead", {}, element("tr", {}, ...["key", "written", "attention finds", "the state finds"].map((text) =>
                element("th", { scope: "col" }, text)))), body),
        said,
    );

    function draw() {
        const pairs = recall.pairs(KEYS[third.value()], value.value()).slice(0, writes.value());
        const states = recall.states(pairs, looks.checked);
        const state = states.at(-1);
        const rows = pairs.map(({ key, value: written }) =>
            ({ key, written, attention: recall.attend(pairs, key), state: recall.product(state, key) }));
        body.replaceChildren(...[0, 1, 2].map((i) => {
            const row = rows[i];
            const texts = row === undefined ? ["–", "–", "–"] : [`${row.written}`, short(row.attention), short(row.state)];
            return element("tr", {}, element("th", { scope: "row" }, row === undefined ? "–" : pair(row.key)),
                ...texts.map((text) => element("td", {}, text)));
        }));
        said.textContent = `Attention keeps ${count(pairs.length, "key")} and ${count(pairs.length, "value")}: ${3 * pairs.length} numbers. `
            + `The state is two, whatever you write: (${state.map(short).join(", ")}).`;
        plane.replaceChildren(...picture(rows, states));
        place.dataset.shown = JSON.stringify({ writes: pairs.length, key: KEYS[third.value()], value: value.value(), looks: looks.checked,
            state, rows: rows.map(({ attention, state: found }) => [attention, found]) });
    }

    /** The plane of the states: a value lies on the line of its key, and what a state gives is its shadow there. */
    function picture(rows, states) {
        const at = ([x, y]) => [200 + 1.7 * x, 185 - 1.7 * y].map((place) => place.toFixed(1));
        const line = (kind, ...points) => element("path", { class: kind, d: `M${points.map((point) => at(point).join(" ")).join(" L")}` });
        const dot = (kind, point, radius) => {
            const [cx, cy] = at(point);
            return element("circle", { class: kind, cx, cy, r: radius });
        };
        const times = (vector, by) => vector.map((number) => number * by);
        const state = states.at(-1);
        const label = (point, text, kind) => {
            const [x, y] = at(point);
            return element("text", { class: `small ${kind}`, x, y }, text);
        };
        const names = ["first", "second", "third"];
        /** The names of all keys that are this one, where it is the first of them. */
        const named = (i) => names.filter((_, j) => String(rows[j]?.key) === String(rows[i].key));
        const lines = rows.flatMap(({ key, written, state: found }, i) => [
            line("mark", times(key, -60), times(key, 85)),
            line("padding", state, times(key, found)),
            dot("padding", times(key, found), 5),
            dot("kept", times(key, written), 8),
            label([key[0] * 105, key[1] * 90 - 2], named(i)[0] === names[i] ? named(i).join(", ") : "", "middle"),
        ]);
        return [...lines, line("arrow", ...states), dot("new", state, 6), label([state[0] - 2, state[1] + 4], "state", "end bold")];
    }

    draw();
};

/** The arithmetic: what is written, the states after each write, and attention to what was written. */
const recall = (() => {
    /** The keys of length 1 whose numbers are short, from right to left. */
    const KEYS = [[1, 0], [12 / 13, 5 / 13], [0.8, 0.6], [0.6, 0.8], [5 / 13, 12 / 13], [0, 1],
        [-5 / 13, 12 / 13], [-0.6, 0.8], [-0.8, 0.6], [-12 / 13, 5 / 13], [-1, 0]];
    /** What attention multiplies its scores by, so that the best match gets nearly all weight. */
    const SHARPNESS = 60;
    const product = (a, b) => a[0] * b[0] + a[1] * b[1];
    const pairs = (key, value) => [{ key: [1, 0], value: 30 }, { key: [0, 1], value: 50 }, { key, value }];

    /** The state before and after each write. With `looks`, only what is missing is added. */
    function states(written, looks) {
        const all = [[0, 0]];
        for (const { key, value } of written) {
            const state = all.at(-1);
            const added = value - (looks ? product(state, key) : 0);
            all.push(state.map((number, row) => number + key[row] * added));
        }
        return all;
    }

    /** Attention with a softmax: the values, weighted by how well their keys match. */
    function attend(written, query) {
        const weights = written.map(({ key }) => Math.exp(SHARPNESS * (product(query, key) - 1)));
        const sum = weights.reduce((a, b) => a + b, 0);
        return written.reduce((found, { value }, i) => found + (weights[i] / sum) * value, 0);
    }

    return { KEYS, product, pairs, states, attend };
})();
