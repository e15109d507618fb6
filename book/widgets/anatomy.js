// One forward pass over a text: its shapes, what each head attends to, and what each layer would say.
"use strict";

widgets.anatomy = async (place) => {
    const { element, head, slider, field, output, percent } = elements;
    const text = field({ label: "text", value: place.dataset.prompt, change: () => show() });
    const layer = slider({ label: "layer", min: 1, max: 5, step: 1, value: 1, show: (value) => `${value} of 5`, change: () => draw() });
    const steps = element("div", { class: "widget-text", tabindex: 0, role: "listbox", "aria-label": "The positions of the text" });
    const heads = element("div", { class: "widget-heads" });
    const lens = element("tbody");
    const shapes = element("ul", { class: "widget-shapes" });
    const said = output();
    place.replaceChildren(
        ...head(place, "One forward pass over your text"),
        text.row, steps, layer.row, heads,
        element("div", { class: "widget-lens-room" }, element("table", { class: "widget-table widget-lens" },
            element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "after layer"),
                element("th", { scope: "col" }, "the head would say"))),
            lens)),
        element("details", {}, element("summary", {}, "The shapes"), shapes),
        said,
    );

    const opened = live.open(place, "anatomy");
    let answer = null;
    let position = 0;

    steps.addEventListener("keydown", (event) => {
        const to = { ArrowLeft: position - 1, ArrowRight: position + 1, Home: 0, End: Infinity }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        // mdBook turns pages with the arrow keys.
        event.stopPropagation();
        look(to);
    });

    function look(at) {
        position = Math.min(Math.max(at, 0), answer.tokens.length - 1);
        draw();
    }

    const show = live.latest(async () => {
        const engine = await opened;
        try {
            answer = await engine.ask({ text: text.input.value });
        } catch (error) {
            said.textContent = `${error.message}.`;
            return;
        }
        shapes.replaceChildren(...answer.shapes.map(({ name, shape }) =>
            element("li", {}, `${name} `, element("code", {}, `[${shape.join(", ")}]`))));
        look(answer.tokens.length - 1);
    });

    const name = ({ text, is_special: isSpecial }) => (isSpecial ? text : JSON.stringify(text));

    function draw() {
        if (answer === null) return;
        const { tokens, attention, lens: says } = answer;
        const spans = tokens.map((token, i) => {
            const chosen = i === position;
            const span = element("span", { role: "option", "aria-selected": chosen, ...(chosen ? { class: "chosen" } : {}) }, token.text);
            span.addEventListener("click", () => look(i));
            return span;
        });
        steps.replaceChildren(...spans);
        const rows = attention[layer.value() - 1].map((matrix) => matrix[position]);
        heads.replaceChildren(...rows.map((row, i) => {
            const shaded = tokens.slice(0, position + 1).map((token, at) => {
                const span = element("span", { title: percent(row[at]) }, token.text);
                // The darkest leaves the letters legible.
                span.style.setProperty("--share", `${Math.round(30 * row[at])}%`);
                span.style.setProperty("--line", `${Math.round(100 * row[at])}%`);
                return span;
            });
            const best = row.indexOf(Math.max(...row));
            return element("p", {}, element("b", {}, `head ${i + 1} `),
                element("small", {}, `most on ${name(tokens[best])}, ${percent(row[best])}`), element("br"), ...shaded);
        }));
        lens.replaceChildren(...says.map((layers, i) => element("tr", {},
            element("th", { scope: "row" }, `${i + 1}`),
            element("td", {}, layers[position].map(({ token, probability }) => `${name(token)} ${percent(probability)}`).join(", ")))));
        const last = says.at(-1)[position][0];
        said.textContent = `Position ${position}, after ${name(tokens[position])}: the model says ${name(last.token)} with `
            + `${percent(last.probability)}.${answer.is_cut ? ` Only the first ${tokens.length} tokens are read here.` : ""}`;
        place.dataset.shown = JSON.stringify({ position, layer: layer.value(), answer });
    }

    await opened;
    await show();
};
