// Runs the widgets' arithmetic on what the page holds, and writes down what came out.
"use strict";

(() => {
    const cases = JSON.parse(document.getElementById("cases").textContent);
    const distributions = cases.distributions.map(({ logits, temperature, k, p }) => {
        let scores = logits === null ? openDistribution.logits : logits;
        scores = arithmetic.temperature(scores, temperature);
        if (k !== null) scores = arithmetic.topK(scores, k);
        if (p !== null) scores = arithmetic.topP(scores, p);
        const probabilities = arithmetic.softmax(scores);
        return {
            kept: [...probabilities.entries()].filter(([, probability]) => probability > 0),
            survivors: arithmetic.survivors(probabilities),
            entropy: arithmetic.entropy(probabilities),
            perplexity: arithmetic.perplexity(probabilities),
            best: arithmetic.ranked(probabilities)[0],
        };
    });
    const rows = cases.rows.map(({ prompt, output }) => arithmetic.rowsComputed(prompt, output));
    const layouts = cases.layouts.map(({ lengths, kind }) => {
        const cells = arithmetic.layout(lengths, kind);
        return {
            positions: cells.map((row) => row.map((cell) => cell.position)),
            last: cells.flatMap((row) => row.map((cell, i) => (cell.isLast ? i : -1))).filter((i) => i >= 0),
            ...arithmetic.padding(cells),
        };
    });
    const result = document.createElement("pre");
    result.id = "result";
    result.textContent = JSON.stringify({ distributions, rows, layouts });
    document.body.append(result);
})();
