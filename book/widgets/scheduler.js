// The scheduler, step by step: you add requests, and each step shows what is computed, which blocks belong
// to whom, and why.
"use strict";

widgets.scheduler = async (place) => {
    const { element, fill, slider, field, button, buttons, output, key, count } = elements;
    const BLOCKS = Number(place.dataset.blocks);
    const story = "Once upon a time, there was a little brown frog called Finn. Early one windy morning, he was "
        + "waiting for a friend by the stone wall. Only a note came, from Juno the girl: \"No games today. I have a "
        + "sore throat.\" So Finn bounced to Juno's home";
    const prompts = [`${story} with cheese`, `${story} and knocked`, "One day", `${story}.`, "The queen of the hill"];
    const letter = (id) => String.fromCharCode(65 + (id % 26));

    const budget = slider({ label: "token budget", min: 4, max: 128, step: 4, value: 32,
        show: (value) => count(value, "token"), change: () => repeat() });
    const policies = { "chunked-prefill": "chunked prefill", "continuous-batch": "continuous batch", "static-batch": "static batch", "one-at-a-time": "one at a time" };
    const policy = element("select", {}, ...Object.entries(policies).map(([value, name]) => element("option", { value }, name)));
    policy.addEventListener("change", () => repeat());
    const prefix = element("input", { type: "checkbox", checked: "" });
    prefix.addEventListener("change", () => repeat());
    const prompt = field({ label: "prompt", value: prompts[0], change: () => {}, enter: () => add() });

    const grid = element("div", { class: "widget-blocks", "aria-hidden": "true" });
    grid.append(...Array.from({ length: BLOCKS }, (_, block) =>
        element("span", { class: "padding" }, element("b", {}, "·"), ` ${block}`)));
    const body = element("tbody");
    const why = element("ul", { class: "widget-why", tabindex: 0, "aria-label": "What the step decided" });
    const said = output();

    const opened = live.open(place, "scheduler", said);
    const turns = live.turns({ opened, said });
    /** All that was done since the beginning: requests that arrived, and steps. */
    let done = [];
    /** The requests that were added and have not arrived yet. */
    let arriving = [];
    let added = 0;

    /** Changes at every beginning, so that an outdated repetition ends. */
    let latest = {};

    function begin() {
        latest = {};
        return turns.instead(async (engine) => {
            [done, arriving, added] = [[], [], 0];
            prompt.input.value = prompts[0];
            draw(await empty(engine));
        });
    }

    /** The same requests and as many steps, with other settings. */
    function repeat() {
        const mine = {};
        latest = mine;
        turns.instead(async (engine) => {
            let answer = await empty(engine);
            for (const request of done) {
                if (latest !== mine) return;
                if (request !== "step" || answer.has_work) answer = await engine.ask(request);
            }
            answer = await arrive(engine, answer);
            draw(answer, done.length === 0 ? "" : "The same requests and steps again, with these settings. ");
        });
    }

    const empty = (engine) => engine.ask({ begin: {
        blocks: BLOCKS, token_budget: budget.value(), policy: policy.value, prefix_cache: prefix.checked,
    } });

    function add() {
        arriving.push({ add: { prompt: prompt.input.value, max_tokens: 60, seed: added } });
        added += 1;
        prompt.input.value = prompts[added % prompts.length];
        turns.run(async (engine) => {
            const answer = await arrive(engine);
            if (answer !== null) draw(answer);
        });
    }

    async function arrive(engine, answer = null) {
        let last = answer;
        while (arriving.length > 0) {
            const request = arriving.shift();
            try {
                last = await engine.ask(request);
            } catch (error) {
                prompt.input.value = request.add.prompt;
                throw error;
            }
            done.push(request);
        }
        return last;
    }

    const step = (steps) => turns.run(async (engine, goesOn) => {
        let answer = null;
        const drawNext = live.eachFrame(() => draw(answer));
        do {
            answer = await engine.ask("step");
            done.push("step");
            drawNext();
            steps -= 1;
        } while (steps > 0 && answer.has_work && goesOn());
        drawNext.now();
    });

    fill(
        place, `An engine with ${BLOCKS} blocks of 32 tokens`,
        budget.row,
        element("label", { class: "widget-field" }, element("span", {}, "policy"), policy),
        element("label", { class: "widget-check" }, prefix, " prefix cache"),
        prompt.row,
        buttons("The engine", button("Add a request", add), button("Step", () => step(1)),
            button("Ten steps", () => step(10)), turns.stop, button("Begin again", begin)),
        grid,
        key(["new", "written in this step"], ["kept", "in use, one owner"], ["shared", "in use, several owners"], ["padding", "no owner"]),
        element("div", { class: "widget-requests", tabindex: 0, role: "region", "aria-label": "The requests" },
            element("table", { class: "widget-table" },
                element("caption", {}, "The requests, latest first"),
                element("thead", {}, element("tr", {},
                    ...["request", "tokens", "this step", "blocks"].map((text) => element("th", { scope: "col" }, text)))), body)),
        element("p", { class: "widget-label" }, "What the step decided"),
        why, said,
    );

    function draw(answer, before = "") {
        const { sequences, owners, cached, decisions, steps, tokens, preemptions, prefix_hits: hits } = answer;
        const written = new Set(sequences.flatMap(({ computed, blocks }) => (computed === null ? []
            : blocks.filter((_, i) => 32 * i < computed[1] && computed[0] < 32 * (i + 1)))));
        grid.replaceChildren(...owners.map((number, block) => {
            const of = sequences.filter(({ blocks }) => blocks.includes(block)).map(({ id }) => letter(id)).join("");
            const kind = written.has(block) ? "new" : number > 1 ? "shared" : number === 1 ? "kept" : "padding";
            return element("span", { class: kind }, element("b", {}, of || "·"), ` ${block}`);
        }));
        body.replaceChildren(...[...sequences].reverse().map((one) => {
            const now = one.has_ended ? "ended" : one.computed === null ? "waits"
                : one.computed[1] - one.computed[0] === 1 && one.computed[0] >= one.prompt ? "decode"
                    : `prefill ${one.computed.join("..")}`;
            return element("tr", {},
                element("th", { scope: "row", title: one.text }, `${letter(one.id)}: …${one.text.slice(-18)}`),
                element("td", {}, `${one.length}, ${one.kept} cached`), element("td", {}, now),
                element("td", {}, one.blocks.join(" ") || "none"));
        }));
        const named = decisions.map((decision) => decision.replace(/^\d+/, (id) => letter(Number(id))));
        why.replaceChildren(...named.map((decision) => element("li", {}, decision)));
        const used = owners.filter((number) => number > 0).length;
        said.textContent = `${before}Step ${steps}: ${count(tokens, "token")} computed. ${used} of ${owners.length} blocks have an owner, and `
            + `the prefix cache alone holds ${cached}. So far, ${count(hits, "block")} found there, and `
            + `${count(preemptions, "preemption")}.`;
        place.dataset.shown = JSON.stringify(answer);
    }

    await opened;
    await begin();
};
