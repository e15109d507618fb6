// Top-k and top-p on the same distribution.
"use strict";

widgets.nucleus = (place) => {
    const { element, slider, output, bar, token, percent, count } = elements;
    const { logits, texts, prompt } = openDistribution;
    const shown = 16;
    const best = arithmetic.ranked(logits).slice(0, shown);

    const body = element("tbody");
    const said = output();
    const temperature = slider({
        label: "temperature",
        min: 0.1,
        max: 2,
        step: 0.05,
        value: 1,
        show: (value) => `T = ${value.toFixed(2)}`,
        change: draw,
    });
    const k = slider({
        label: "top-k",
        min: 1,
        max: 40,
        step: 1,
        value: 5,
        show: (value) => `k = ${value}`,
        change: draw,
    });
    const p = slider({
        label: "top-p",
        min: 0.05,
        max: 1,
        step: 0.05,
        value: 0.9,
        show: (value) => (value < 1 ? `p = ${value.toFixed(2)}` : "p = 1, off"),
        change: draw,
    });

    function cell(probability, kind) {
        if (probability === 0) return element("td", { class: "removed" }, "removed");
        return element("td", {}, bar(probability, kind), percent(probability));
    }

    function draw() {
        const { softmax, topK, topP, survivors } = arithmetic;
        const scores = arithmetic.temperature(logits, temperature.value());
        const all = softmax(scores);
        const byK = topK(scores, k.value());
        const [kept, nucleus] = [softmax(byK), softmax(topP(scores, p.value()))];
        const both = softmax(topP(byK, p.value()));
        body.replaceChildren(...best.map((id) => element("tr", {},
            element("th", { scope: "row" }, token(texts[id])),
            cell(all[id], "padding"), cell(kept[id], "kept"), cell(nucleus[id], "new"))));
        const mass = (survivor) =>
            percent(all.reduce((sum, share, id) => (survivor[id] > 0 ? sum + share : sum), 0));
        const what = (survivor) =>
            `${count(survivors(survivor), "token")}, which had ${mass(survivor)} before`;
        said.textContent = `Top-k keeps ${what(kept)}. Top-p keeps ${what(nucleus)}. `
            + `Top-k and then top-p keep ${count(survivors(both), "token")}.`;
    }

    const heads = ["token", "all", "top-k", "top-p"];
    const head = heads.map((text) => element("th", { scope: "col" }, text));
    place.replaceChildren(
        element("p", { class: "widget-title" },
            `The ${shown} likeliest tokens after `, token(prompt)),
        temperature.row, k.row, p.row,
        element("table", { class: "widget-table" },
            element("thead", {}, element("tr", {}, ...head)), body),
        said,
    );
    draw();
};
