// One forward pass over a text: its shapes, what each head attends to, and what each layer would predict.
"use strict";

widgets.anatomy = async (place) => {
    const { element, fill, field, output, key, name, percent } = elements;
    const text = field({ label: "text", value: place.dataset.prompt, change: () => show() });
    const steps = elements.steps("The positions of the text", (at) => look(at));
    const heat = element("table", { class: "widget-heat" });
    const lens = element("tbody");
    const shapes = element("ul", { class: "widget-shapes" });
    const said = output();
    fill(
        place, "One forward pass over your text",
        text.row, steps.box,
        element("div", { class: "widget-heat-room", tabindex: 0, role: "region", "aria-label": "What each head attends to" }, heat),
        key(["new", "its own position"], ["kept", "earlier ones"], ["most", "where a head looks most"]),
        element("div", { class: "widget-lens-room" }, element("table", { class: "widget-table widget-lens" },
            element("caption", {}, "What the model would predict if it ended after each layer"),
            element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "after layer"),
                element("th", { scope: "col" }, "likeliest tokens"))),
            lens)),
        element("details", {}, element("summary", {}, "The shapes"), shapes),
        said,
    );

    const opened = live.open(place, "anatomy", said);
    let answer = null;
    let position = 0;

    function look(at) {
        position = Math.min(Math.max(at, 0), answer.tokens.length - 1);
        draw();
    }

    const show = live.latest(async () => {
        const engine = await opened;
        try {
            answer = await engine.ask({ text: text.input.value });
        } catch (error) {
            answer = null;
            delete place.dataset.shown;
            steps.draw([], 0);
            heat.replaceChildren();
            lens.replaceChildren();
            said.textContent = `${error.message}.`;
            return;
        }
        shapes.replaceChildren(...answer.shapes.map(({ name, shape }) =>
            element("li", {}, `${name} `, element("code", {}, `[${shape.join(", ")}]`))));
        look(answer.tokens.length - 1);
    });

    /**
     * A line for each position that the chosen one may look at, and a column for each head. The area of
     * a square is the weight.
     */
    function drawHeat({ tokens, attention }) {
        const columns = attention.flatMap((layer, l) => layer.map((matrix, h) => {
            const row = matrix[position];
            return { layer: l + 1, head: h + 1, row, most: row.indexOf(Math.max(...row)) };
        }));
        const heads = attention[0].length;
        const of = ({ layer, head }) => `layer ${layer}, head ${head}`;
        const cell = (column, at) => {
            const share = column.row[at];
            const square = element("span", { class: at === position ? "new" : "kept" });
            square.style.setProperty("--side", Math.sqrt(share).toFixed(3));
            const said = `${of(column)}: ${percent(share)} on ${name(tokens[at])}`;
            const classes = [column.head === 1 ? "first" : "", column.most === at ? "most" : ""].join(" ").trim();
            return element("td", { title: said, "aria-label": percent(share), ...(classes ? { class: classes } : {}) }, square);
        };
        heat.replaceChildren(
            element("caption", {}, `How much ${name(tokens[position])}, at position ${position}, takes from each position`),
            element("thead", {},
                element("tr", {}, element("td"), ...attention.map((_, l) =>
                    element("th", { scope: "colgroup", colspan: heads, class: "first" }, `layer ${l + 1}`))),
                element("tr", {}, element("th", { scope: "row" }, "head"), ...columns.map(({ head }) =>
                    element("th", { scope: "col", ...(head === 1 ? { class: "first" } : {}) }, `${head}`)))),
            element("tbody", {}, ...tokens.slice(0, position + 1).map((token, at) => element("tr", {},
                element("th", { scope: "row" }, name(token)), ...columns.map((column) => cell(column, at))))),
        );
    }

    // Marks the pointer's column; the style sheet marks its line.
    heat.addEventListener("pointerover", ({ target }) => {
        const at = target.closest("tbody td")?.cellIndex;
        for (const row of heat.querySelectorAll("tbody tr")) {
            [...row.cells].forEach((cell, i) => cell.classList.toggle("column", i === at));
        }
    });

    function draw() {
        if (answer === null) return;
        const { tokens, lens: says } = answer;
        steps.draw(tokens.map((token) => token.text), position);
        drawHeat(answer);
        lens.replaceChildren(...says.map((layers, i) => element("tr", {},
            element("th", { scope: "row" }, `${i + 1}`),
            element("td", {}, layers[position].map(({ token, probability }) => `${name(token)} ${percent(probability)}`).join(", ")))));
        const last = says.at(-1)[position][0];
        said.textContent = `Position ${position}, after ${name(tokens[position])}: the model predicts ${name(last.token)} with `
            + `${percent(last.probability)}.${answer.is_cut ? ` Only the first ${tokens.length} tokens of your text are read here.` : ""}`;
        place.dataset.shown = JSON.stringify({ position, answer });
    }

    await opened;
    await show();
};
