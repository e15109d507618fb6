// The way of one token through the network, stop by stop, with the numbers of the bundled model.
"use strict";

widgets.way = async (place) => {
    const { element, fill, slider, field, button, buttons, enable, output, key } = elements;
    /** How long a stop is shown when all are played, in milliseconds. */
    const PAUSE = 1500;

    const text = field({
        label: "text",
        value: place.dataset.prompt,
        change: () => {
            position = null;
            show();
        },
    });
    const steps = elements.steps("The positions of the text", (at) => {
        position = at;
        show();
    });
    const picture = way.picture();
    const title = element("p", { class: "widget-label" });
    const panel = element("div", { class: "widget-way", tabindex: 0, role: "region", "aria-label": "The numbers of this stop" });
    const said = output();
    const opened = live.open(place, "way", said);
    const turns = live.turns({ opened, said });

    let answer = null;
    /** The position that you follow; null for the last. */
    let position = null;
    let stops = [];
    const stop = slider({
        label: "stop",
        min: 1,
        max: 48,
        step: 1,
        value: 1,
        show: (value) => `${value} of ${stops.length || 48}`,
        change: () => draw(),
    });
    const back = button("Back", () => go(stop.value() - 1));
    const next = button("Next", () => go(stop.value() + 1));
    const play = button("Play", () => turns.instead(async (_, goesOn) => {
        while (goesOn() && stop.value() < stops.length) {
            go(stop.value() + 1);
            await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
        }
    }));
    fill(
        place, "The way of one token",
        text.row, steps.box, stop.row,
        buttons("The way", back, next, play, turns.stop),
        element("div", { class: "widget-picture" }, picture.svg),
        key(["new", "computed at this stop"], ["kept", "computed before, and read"], ["chosen", "the likeliest token"]),
        title, panel, said,
    );

    function go(at) {
        stop.set(Math.min(Math.max(at, 1), stops.length));
        draw();
    }

    const show = live.latest(async () => {
        const engine = await opened;
        try {
            answer = await engine.ask({ text: text.input.value, position });
        } catch (error) {
            answer = null;
            stops = [];
            delete place.dataset.shown;
            steps.draw([], 0);
            panel.replaceChildren();
            title.textContent = "";
            enable([back, next, play], false);
            said.textContent = `${error.message}.`;
            return;
        }
        stops = way.stops(answer.layers.length);
        stop.input.max = stops.length;
        steps.draw(answer.tokens.map((token) => token.text), answer.position);
        go(stop.value());
    });

    function draw() {
        if (answer === null) return;
        const at = stop.value();
        const { kind, layer } = stops[at - 1];
        enable([back], at > 1);
        enable([next, play], at < stops.length);
        picture.move(kind, layer, answer.layers.length);
        const { heading, parts, sentence } = way.panels[kind](answer, layer);
        title.textContent = layer === null ? heading : `Block ${layer + 1} of ${answer.layers.length}: ${heading}`;
        panel.replaceChildren(...parts);
        const cut = answer.is_cut ? ` Only the first ${answer.tokens.length} tokens of your text are read here.` : "";
        said.textContent = `${sentence}${cut}`;
        place.dataset.shown = JSON.stringify({ stop: at, kind, layer, answer });
    }

    await opened;
    await show();
};

/** What the widget shows: the stops, their picture, and the numbers of each. */
const way = (() => {
    const { element, name, percent } = elements;
    const BLOCK = ["norm", "qkv", "rope", "weights", "mix", "attention", "norm2", "gate", "feed_forward"];

    /** All stops of a way through so many blocks. */
    function stops(layers) {
        const blocks = Array.from({ length: layers }, (_, layer) => BLOCK.map((kind) => ({ kind, layer })));
        const whole = (kind) => ({ kind, layer: null });
        return [whole("embedding"), ...blocks.flat(), whole("last_norm"), whole("logits")];
    }

    // ---- the picture

    /** The boxes: their stop, text, place and size. */
    const BOXES = [
        ["embedding", "embedding", 4, 62, 78, 34],
        ["norm", "norm", 104, 62, 44, 34],
        ["q", "Q", 166, 40, 30, 24],
        ["k", "K", 166, 67, 30, 24],
        ["v", "V", 166, 94, 30, 24],
        ["weights", "weights", 214, 47, 60, 34],
        ["mix", "mix", 292, 62, 40, 34],
        ["attention", "+", 350, 65, 28, 28],
        ["norm2", "norm", 396, 62, 44, 34],
        ["g", "gate", 458, 49, 44, 28],
        ["u", "up", 458, 81, 44, 28],
        ["feed_forward", "+", 520, 65, 28, 28],
        ["last_norm", "norm", 578, 62, 44, 34],
        ["logits", "logits", 640, 62, 54, 34],
    ];
    /** Which boxes a stop computes. */
    const COMPUTES = { qkv: ["q", "k", "v"], rope: ["q", "k"], gate: ["g", "u"] };
    const ARROWS = [
        "M82 79H100", "M148 79H162", "M196 52L211 60", "M196 79L211 71", "M196 106L289 86", "M274 64L289 73",
        "M332 79H346", "M378 79H392", "M440 72L455 65", "M440 86L455 93", "M502 65L518 74", "M502 93L518 84",
        "M548 79H574", "M622 79H636",
        // Around the parts: the residual stream.
        "M90 79V22H364V61", "M384 79V22H534V61",
    ];

    /** The network as boxes. `move` marks the boxes of a stop, the ones before it and the ones after. */
    function picture() {
        const label = element("text", { x: 324, y: 140, class: "small middle" });
        const boxes = BOXES.map(([box, text, x, y, width, height]) => {
            const rect = element("rect", { x, y, width, height, rx: 5 });
            const name = element("text", { x: x + width / 2, y: y + height / 2 + 5, class: "small middle" }, text);
            return { box, rect, part: element("g", {}, rect, name), middle: x + width / 2 };
        });
        const title = element("title", {}, "The network: embedding, blocks, norm, logits");
        const head = (path) => {
            const [x, y] = path.match(/-?\d+/g).slice(-2).map(Number);
            if (path.endsWith("V61")) return `M${path.match(/H(\d+)V61$/)[1]} 64l-4-7h8z`;
            const end = path.match(/H(\d+)$/);
            if (end) return `M${Number(end[1]) + 3} 79l-7-4v8z`;
            return `M${x + 3} ${y}l-8-3v7z`;
        };
        const svg = element("svg", { class: "fig", viewBox: "0 0 700 150", role: "img" },
            title,
            element("rect", { x: 96, y: 10, width: 466, height: 114, rx: 10, class: "padding" }),
            ...ARROWS.map((path) => element("path", { d: path, class: "arrow" })),
            ...ARROWS.map((path) => element("path", { d: head(path), class: "head" })),
            ...boxes.map(({ part }) => part), label);

        function move(kind, layer, layers) {
            const now = COMPUTES[kind] ?? [kind];
            const first = boxes.findIndex(({ box }) => now.includes(box));
            boxes.forEach(({ box, rect }, i) => {
                const isBehind = i > first || (layer === null && kind === "embedding" && i > 0);
                rect.setAttribute("class", now.includes(box) ? "new" : isBehind ? "padding" : "kept");
            });
            const where = kind === "embedding" ? 0 : layer === null ? layers : layer + 1;
            label.textContent = where === 0 ? `${layers} blocks` : layer === null ? `all ${layers} blocks are done` : `block ${where} of ${layers}`;
            title.textContent = `The network, at ${now.join(", ")}: ${label.textContent}`;
            // On a phone the picture is wider than the page.
            const room = svg.parentElement;
            room.scrollLeft = (boxes[first].middle / 700) * svg.getBoundingClientRect().width - room.clientWidth / 2;
        }
        return { svg, move };
    }

    // ---- numbers

    const number = (value) => value.toFixed(2).replace("-", "−");
    const greatest = (numbers) => numbers.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

    /** A vector as bars above and below a line, with its first numbers. Heads of a vector have a gap between. */
    function strip(label, kind, numbers, heads = 1) {
        const most = greatest(numbers) || 1;
        const length = numbers.length / heads;
        const gap = heads > 1 ? length / 12 : 0;
        const path = numbers.map((value, i) =>
            `M${(i + gap * Math.floor(i / length)).toFixed(2)} 1h.85v${(-value / most).toFixed(3)}h-.85z`);
        const shape = heads > 1 ? `[${heads}, ${length}]` : `[${length}]`;
        const first = numbers.slice(0, 4).map(number).join(" ");
        return element("div", { class: "widget-strip" },
            element("p", {}, `${label} `, element("code", {}, shape), ` ${first} …, at most ${number(most)}`),
            element("svg", { viewBox: `0 0 ${numbers.length + gap * (heads - 1)} 2`, preserveAspectRatio: "none", "aria-hidden": "true" },
                element("path", { d: path.join(""), class: kind })));
    }

    /** What each head takes from each position, as in the attention widget. */
    function weightsTable({ tokens, position }, weights) {
        return element("table", { class: "widget-table widget-weights" },
            element("caption", {}, "The heads' weights: each column sums to 100%"),
            element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "key of"),
                ...weights.map((_, head) => element("th", { scope: "col" }, `head ${head + 1}`)))),
            element("tbody", {}, ...tokens.slice(0, position + 1).map((token, at) => element("tr", {},
                element("th", { scope: "row" }, name(token)),
                ...weights.map((row) => element("td", {}, elements.bar(row[at], at === position ? "new" : "kept"), percent(row[at])))))));
    }

    /** The tokens from which a head takes most, as a sum. */
    function sum({ tokens }, row) {
        const best = row.map((share, at) => [share, at]).sort(([a], [b]) => b - a).slice(0, 3);
        return best.map(([share, at]) => `${number(share)} · v(${name(tokens[at])})`).join(" + ");
    }

    // ---- what each stop shows

    const panels = {
        embedding: ({ tokens, position, embedding }) => ({
            heading: "The embedding",
            parts: [strip(`row ${tokens[position].id} of the matrix`, "new", embedding)],
            sentence: `The token ${name(tokens[position])} has the id ${tokens[position].id}, so row ${tokens[position].id} of the embedding matrix `
                + `goes on from here: a vector of ${embedding.length} numbers.`,
        }),
        norm: (answer, layer) => normed(before(answer, layer), answer.layers[layer].attention_input),
        qkv: ({ layers, heads, kv_heads: kvHeads }, layer) => {
            const { query, key, value } = layers[layer];
            return {
                heading: "queries, keys and values",
                parts: [strip("Q", "new", query, heads), strip("K", "new", key, kvHeads), strip("V", "new", value, kvHeads)],
                sentence: `Three matrices turn the vector into ${heads} queries, ${kvHeads} keys and ${kvHeads} values. The keys and `
                    + "values of the earlier tokens were computed in the same way.",
            };
        },
        rope: ({ layers, position, heads, kv_heads: kvHeads }, layer) => {
            const { rotated_query: query, rotated_key: key } = layers[layer];
            return {
                heading: "RoPE",
                parts: [strip("Q, rotated", "new", query, heads), strip("K, rotated", "new", key, kvHeads)],
                sentence: position === 0
                    ? "At position 0 every angle is 0, so nothing changes."
                    : `Each pair of numbers is rotated by an angle that grows with the position, which is ${position}: the first pair of `
                        + `each head by ${position} radians, the last by much less. Lengths stay the same.`,
            };
        },
        weights: (answer, layer) => ({
            heading: "the weights",
            parts: [weightsTable(answer, answer.layers[layer].weights)],
            sentence: "Each query is multiplied with the key of every position up to its own, and the products are divided by the root of "
                + "their length. The softmax turns them into weights.",
        }),
        mix: (answer, layer) => {
            const { mixed, weights } = answer.layers[layer];
            return {
                heading: "mixing",
                parts: [
                    strip("the mixed values", "new", mixed, answer.heads),
                    element("ul", {}, ...weights.map((row, head) =>
                        element("li", {}, `head ${head + 1}: ${sum(answer, row)}${row.length > 3 ? " + …" : ""}`))),
                ],
                sentence: "Each head adds up the values of all positions, each times its weight. Here information moves from token to token.",
            };
        },
        attention: (answer, layer) => added("attention", before(answer, layer), answer.layers[layer].attention, answer.layers[layer].after_attention,
            "A fourth matrix mixes the heads. Its result doesn't replace the vector, but is added to it."),
        norm2: ({ layers }, layer) => normed(layers[layer].after_attention, layers[layer].feed_forward_input),
        gate: ({ layers }, layer) => {
            const { gate, up, gated } = layers[layer];
            const shut = gate.filter((value) => value < 0).length;
            return {
                heading: "the gate",
                parts: [strip("gate", "new", gate), strip("up", "new", up), strip("silu(gate) · up", "new", gated)],
                sentence: `Two matrices widen the vector to ${gate.length} numbers each. SiLU leaves a large gate as it is, and makes one `
                    + `below 0 nearly 0: ${shut} of ${gate.length} are below 0 here.`,
            };
        },
        feed_forward: ({ layers }, layer) => added("the feed-forward network", layers[layer].after_attention, layers[layer].feed_forward, layers[layer].output,
            "A matrix narrows the numbers again, and the result is added to the vector."),
        last_norm: ({ layers, norm }) => normed(layers.at(-1).output, norm),
        logits: ({ logits, vocabulary }) => ({
            heading: "The logits",
            parts: [element("table", { class: "widget-table widget-logits" },
                element("caption", {}, "The greatest logits, and their probabilities"),
                element("thead", {}, element("tr", {}, ...["token", "logit", "probability"].map((text) => element("th", { scope: "col" }, text)))),
                element("tbody", {}, ...logits.map(({ token, logit, probability }, i) => element("tr", i === 0 ? { class: "chosen" } : {},
                    element("th", { scope: "row" }, name(token)), element("td", {}, number(logit)),
                    element("td", {}, elements.bar(probability, i === 0 ? "chosen" : "new"), percent(probability))))))],
            sentence: `The vector is multiplied with the row of each of the ${vocabulary.toLocaleString("en")} tokens of the vocabulary. `
                + `${name(logits[0].token)} has the greatest product, and with it ${percent(logits[0].probability)} of the probability.`,
        }),
    };

    /** The vector that enters a block. */
    const before = ({ embedding, layers }, layer) => (layer === 0 ? embedding : layers[layer - 1].output);

    function normed(from, to) {
        const size = Math.sqrt(from.reduce((sum, value) => sum + value * value, 0) / from.length);
        return {
            heading: "RMSNorm",
            parts: [strip("the vector", "kept", from), strip("normed", "new", to)],
            sentence: `The root mean square of the vector is ${number(size)}. Each number is divided by it, and multiplied by a learned weight.`,
        };
    }

    function added(part, from, result, to, sentence) {
        return {
            heading: `${part}, added`,
            parts: [strip("the vector before", "kept", from), strip(`the result of ${part}`, "new", result), strip("their sum", "new", to)],
            sentence,
        };
    }

    return { stops, picture, panels };
})();
