// The rows that the naive loop computes, and those that the cached loop does.
"use strict";

widgets.work = (place) => {
    const { element, slider, button, output, bar } = elements;
    const number = (value) => value.toLocaleString("en");
    const tokens = { min: 1, step: 1, show: number, change: all };
    const prompt = slider({ ...tokens, label: "prompt tokens", max: 256, value: 5 });
    const newTokens = slider({ ...tokens, label: "new tokens", max: 480, value: 12 });
    let done = newTokens.value();

    const naive = picture("Naive loop");
    const cached = picture("Cached loop");
    const said = output();

    /** A picture of the rows, with a caption that has a bar for their number. */
    function picture(name) {
        const svg = element("svg", { class: "fig", preserveAspectRatio: "none", "aria-hidden": "true" });
        const total = element("figcaption");
        return { name, svg, total, figure: element("figure", {}, svg, total) };
    }

    function all() {
        done = newTokens.value();
        draw();
    }

    function step() {
        done = done < newTokens.value() ? done + 1 : 1;
        draw();
    }

    /** A stretch of one step's rows: single boxes, where they are large enough to be seen. */
    function stretch(from, to, step, kind, columns) {
        const gap = columns <= 40 ? 0.12 : 0;
        const boxes = gap > 0 ? [...Array(to - from).keys()].map((i) => [from + i, 1]) : [[from, to - from]];
        const path = boxes.map(([x, width]) =>
            `M${x + gap} ${step + gap}h${width - 2 * gap}v${1 - 2 * gap}h${2 * gap - width}z`);
        return element("path", { d: path.join(""), class: kind, "vector-effect": "non-scaling-stroke" });
    }

    function show({ name, svg, total }, computed, most, rowsAt) {
        const columns = prompt.value() + newTokens.value() - 1;
        svg.setAttribute("viewBox", `0 0 ${columns} ${newTokens.value()}`);
        svg.replaceChildren(...rowsAt.flat());
        const rows = computed.slice(0, done).reduce((sum, rows) => sum + rows, 0);
        total.replaceChildren(`${name}: ${number(rows)}`, bar(rows / most, "new"));
        return rows;
    }

    function draw() {
        const [P, N] = [prompt.value(), newTokens.value()];
        const columns = P + N - 1;
        const rows = arithmetic.rowsComputed(P, N);
        const most = rows.naive.reduce((sum, rows) => sum + rows, 0);
        const taken = [...Array(done).keys()];
        const n = show(naive, rows.naive, most,
            taken.map((step) => [stretch(0, P + step, step, "new", columns)]));
        const c = show(cached, rows.cached, most, taken.map((step) => {
            const read = P + step - rows.cached[step];
            const computed = stretch(read, P + step, step, "new", columns);
            return read > 0 ? [stretch(0, read, step, "kept", columns), computed] : [computed];
        }));
        said.textContent = `After ${elements.count(done, "new token")}: the naive loop has computed `
            + `${elements.count(n, "row")}, the cached loop ${number(c)}. That is `
            + `${(n / c).toLocaleString("en", { maximumFractionDigits: 1 })} times as many.`;
    }

    place.replaceChildren(
        element("p", { class: "widget-title" }, "Rows computed: one line a step"),
        prompt.row, newTokens.row,
        element("p", { class: "widget-buttons" }, button("Step", step), button("All steps", all)),
        element("div", { class: "widget-pair" }, naive.figure, cached.figure),
        element("p", { class: "widget-key" },
            element("span", { class: "widget-swatch new" }), " computed ",
            element("span", { class: "widget-swatch kept" }), " read from the cache"),
        said,
    );
    draw();
};
