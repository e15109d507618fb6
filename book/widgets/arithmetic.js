// The arithmetic of the widgets: functions of numbers, without a page. `cargo xtask book` runs
// them in a browser and compares them with the library.
"use strict";

const arithmetic = {
    /** exp(s_i) / sum_j exp(s_j). A score of -Infinity gets the probability 0. */
    softmax(scores) {
        const best = arithmetic.greatest(scores);
        const exps = scores.map((score) => Math.exp(score - best));
        const sum = exps.reduce((sum, exp) => sum + exp, 0);
        return exps.map((exp) => exp / sum);
    },

    /** Every score divided by a temperature above 0, with the greatest moved to 0 first. */
    temperature(scores, temperature) {
        const best = arithmetic.greatest(scores);
        return scores.map((score) => (score - best) / temperature);
    },

    /** The k best scores, and those that equal the last of them; -Infinity for the others. */
    topK(scores, k) {
        if (k >= scores.length) return scores.slice();
        const kth = scores.slice().sort((a, b) => b - a)[k - 1];
        return scores.map((score) => (score < kth ? -Infinity : score));
    },

    /** The smallest set of best scores whose probabilities sum to at least p. */
    topP(scores, p) {
        if (p >= 1) return scores.slice();
        const probabilities = arithmetic.softmax(scores);
        // Of equals, the last comes first, as in the library.
        const order = (a, b) => probabilities[b] - probabilities[a] || b - a;
        const kept = scores.map(() => -Infinity);
        let mass = 0;
        for (const id of [...scores.keys()].sort(order)) {
            if (mass >= p) break;
            mass += probabilities[id];
            kept[id] = scores[id];
        }
        return kept;
    },

    /** The surprise to expect, in bits. */
    entropy(probabilities) {
        return probabilities.reduce((sum, p) => (p > 0 ? sum - p * Math.log2(p) : sum), 0);
    },

    /** Over how many equally likely tokens one would be as uncertain. */
    perplexity(probabilities) {
        return 2 ** arithmetic.entropy(probabilities);
    },

    /** How many tokens can be drawn. */
    survivors(probabilities) {
        return probabilities.filter((p) => p > 0).length;
    },

    /** The ids, the most likely first. */
    ranked(probabilities) {
        const order = (a, b) => probabilities[b] - probabilities[a] || a - b;
        return [...probabilities.keys()].sort(order);
    },

    /** How many rows each step computes without a KV cache, and with one. */
    rowsComputed(promptTokens, newTokens) {
        const steps = [...Array(newTokens).keys()];
        return {
            naive: steps.map((step) => promptTokens + step),
            cached: steps.map((step) => (step === 0 ? promptTokens : 1)),
        };
    },

    /**
     * Where the tokens of prompts lie: a list of rows of cells. A cell has the number of its
     * prompt, its position in that prompt (null where it is padding), and whether its logits
     * are the ones to choose the next token from.
     */
    layout(lengths, kind) {
        const cell = (prompt, position) => {
            const isToken = position >= 0 && position < lengths[prompt];
            const isLast = position === lengths[prompt] - 1;
            return { prompt, position: isToken ? position : null, isLast };
        };
        const columns = [...Array(Math.max(...lengths)).keys()];
        const row = (length, prompt) => {
            if (kind === "right") return columns.map((column) => cell(prompt, column));
            const missing = columns.length - length;
            return columns.map((column) => cell(prompt, column - missing));
        };
        if (kind !== "end to end") return lengths.map(row);
        return [lengths.flatMap((length, prompt) =>
            columns.slice(0, length).map((position) => cell(prompt, position)))];
    },

    /** How many cells are computed, and how many of these are padding. */
    padding(rows) {
        const cells = rows.flat();
        const padding = cells.filter((cell) => cell.position === null).length;
        return { computed: cells.length, padding };
    },

    greatest(scores) {
        return scores.reduce((best, score) => Math.max(best, score), -Infinity);
    },
};
