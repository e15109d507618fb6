// Temperature: what it does to a distribution.
"use strict";

widgets.temperature = (place) => {
    const { element, slider, output, bar, token, percent } = elements;
    const { logits, texts, prompt } = openDistribution;
    const shown = 12;
    // Dividing by a temperature changes no order: the same tokens are the best at all of them.
    const best = arithmetic.ranked(logits).slice(0, shown);

    const list = element("ol", { class: "widget-bars" });
    const said = output();
    const control = slider({
        label: "temperature",
        min: 0.1,
        max: 2,
        step: 0.05,
        value: 1,
        show: (value) => `T = ${value.toFixed(2)}`,
        change: draw,
    });

    function draw() {
        const scores = arithmetic.temperature(logits, control.value());
        const probabilities = arithmetic.softmax(scores);
        list.replaceChildren(...best.map((id) => element("li", {},
            token(texts[id]), bar(probabilities[id], "kept"), percent(probabilities[id]))));
        const rest = best.reduce((rest, id) => rest - probabilities[id], 1);
        said.textContent = `Entropy ${arithmetic.entropy(probabilities).toFixed(2)} bits, `
            + `perplexity ${arithmetic.perplexity(probabilities).toFixed(1)}. The other `
            + `${(logits.length - shown).toLocaleString("en")} tokens have `
            + `${percent(Math.max(rest, 0))} together.`;
    }

    place.replaceChildren(
        element("p", { class: "widget-title" }, "The token after ", token(prompt)),
        control.row, list, said,
    );
    draw();
};
