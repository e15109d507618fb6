// The scheduler in steps: requests are added, and each step shows what is computed, whose blocks are
// whose, and why.
"use strict";

widgets.scheduler = async (place) => {
    const { element, head, slider, field, button, output, count } = elements;
    const BLOCKS = Number(place.dataset.blocks);
    const story = "Once upon a time, there was a little brown frog called Finn. Early one windy morning, he was "
        + "waiting for a friend by the stone wall. Only a note came, from Juno the girl: \"No games today. I have a "
        + "sore throat.\" So Finn bounced to Juno's home";
    const prompts = [`${story} with cheese`, `${story} and knocked`, "One day", `${story}.`, "The queen of the hill"];
    const letter = (id) => String.fromCharCode(65 + (id % 26));

    const budget = slider({ label: "token budget", min: 4, max: 128, step: 4, value: 32,
        show: (value) => count(value, "token"), change: () => begin() });
    const policies = { "chunked-prefill": "chunked prefill", "continuous-batch": "continuous batch", "static-batch": "static batch", "one-at-a-time": "one at a time" };
    const policy = element("select", {}, ...Object.entries(policies).map(([value, name]) => element("option", { value }, name)));
    policy.addEventListener("change", () => begin());
    const prefix = element("input", { type: "checkbox", checked: "" });
    prefix.addEventListener("change", () => begin());
    const prompt = field({ label: "prompt", value: prompts[0], change: () => {}, enter: () => add() });

    const grid = element("div", { class: "widget-blocks", "aria-hidden": "true" });
    grid.append(...Array.from({ length: BLOCKS }, (_, block) =>
        element("span", { class: "padding" }, element("b", {}, "·"), ` ${block}`)));
    const body = element("tbody");
    const why = element("ul", { class: "widget-why", tabindex: 0, "aria-label": "What the step decided" });
    const said = output();
    place.replaceChildren(
        ...head(place, `An engine with ${BLOCKS} blocks of 32 tokens`),
        budget.row,
        element("label", { class: "widget-field" }, element("span", {}, "policy"), policy),
        element("label", { class: "widget-check" }, prefix, " prefix cache"),
        prompt.row,
        element("p", { class: "widget-buttons" }, button("Add a request", () => add()), button("Step", () => step(1)),
            button("Ten steps", () => step(10)), button("Begin again", () => begin())),
        grid,
        element("p", { class: "widget-key" },
            element("span", { class: "widget-swatch new" }), " one owner ",
            element("span", { class: "widget-swatch chosen" }), " shared ",
            element("span", { class: "widget-swatch kept" }), " written in this step"),
        element("div", { class: "widget-requests", tabindex: 0, role: "region", "aria-label": "The requests" },
            element("table", { class: "widget-table" }, element("thead", {}, element("tr", {},
                ...["request", "tokens", "this step", "blocks"].map((text) => element("th", { scope: "col" }, text)))), body)),
        why, said,
    );

    const opened = live.open(place, "scheduler");
    let added = 0;
    let queue = Promise.resolve();
    const inTurn = (work) => {
        queue = queue.then(async () => work(await opened)).catch((error) => { said.textContent = `${error.message}.`; });
        return queue;
    };

    const begin = live.latest(() => inTurn(async (engine) => {
        added = 0;
        prompt.input.value = prompts[0];
        draw(await engine.ask({ begin: {
            blocks: BLOCKS, token_budget: budget.value(), policy: policy.value, prefix_cache: prefix.checked,
        } }));
    }));

    function add() {
        return inTurn(async (engine) => {
            const answer = await engine.ask({ add: { prompt: prompt.input.value, max_tokens: 60, seed: added } });
            added += 1;
            prompt.input.value = prompts[added % prompts.length];
            draw(answer);
        });
    }

    function step(steps) {
        return inTurn(async (engine) => {
            let answer = await engine.ask("step");
            for (let i = 1; i < steps && answer.has_work; i += 1) {
                draw(answer);
                answer = await engine.ask("step");
            }
            draw(answer);
        });
    }

    function draw(answer) {
        const { sequences, owners, cached, decisions, steps, tokens, preemptions, prefix_hits: hits } = answer;
        const written = new Set(sequences.flatMap(({ computed, blocks }) => (computed === null ? []
            : blocks.filter((_, i) => 32 * i < computed[1] && computed[0] < 32 * (i + 1)))));
        grid.replaceChildren(...owners.map((number, block) => {
            const of = sequences.filter(({ blocks }) => blocks.includes(block)).map(({ id }) => letter(id)).join("");
            const kind = number > 1 ? "chosen" : written.has(block) ? "kept" : number === 1 ? "new" : "padding";
            return element("span", { class: kind }, element("b", {}, of || "·"), ` ${block}`);
        }));
        body.replaceChildren(...[...sequences].reverse().map((one) => {
            const now = one.has_ended ? "ended" : one.computed === null ? "waits"
                : one.computed[1] - one.computed[0] === 1 && one.computed[0] >= one.prompt ? "decode"
                    : `prefill ${one.computed.join("..")}`;
            return element("tr", {},
                element("th", { scope: "row", title: one.text }, `${letter(one.id)}: …${one.text.slice(-18)}`),
                element("td", {}, `${one.length}, kept ${one.kept}`), element("td", {}, now),
                element("td", {}, one.blocks.join(" ") || "none"));
        }));
        const named = decisions.map((decision) => decision.replace(/^\d+/, (id) => letter(Number(id))));
        why.replaceChildren(...named.map((decision) => element("li", {}, decision)));
        const used = owners.filter((number) => number > 0).length;
        said.textContent = `Step ${steps}: ${count(tokens, "token")} computed. ${used} of ${owners.length} blocks have an owner, `
            + `${cached} are kept by the prefix cache alone. ${count(hits, "block")} found there so far, `
            + `${count(preemptions, "preemption")}.`;
        place.dataset.shown = JSON.stringify(answer);
    }

    await opened;
    await begin();
};
