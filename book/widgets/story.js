// You type a beginning, and the model goes on.
"use strict";

widgets.story = async (place) => {
    const { element, fill, slider, field, number, button, buttons, output, count } = elements;
    /** The most tokens in a message: with more, Stop would have to wait. */
    const MOST = 32;
    /** How long the tokens of a message take, in milliseconds: about a frame. */
    const FRAME = 16;

    const prompt = field({ label: "beginning", value: place.dataset.prompt, change: () => {}, enter: () => write() });
    const seed = number({ label: "seed", min: 0, max: 999999, value: 42, change: () => write() });
    const temperature = slider({
        label: "temperature",
        min: 0,
        max: 2,
        step: 0.05,
        value: 0.8,
        show: (value) => (value > 0 ? `T = ${value.toFixed(2)}` : "T = 0, greedy"),
        change: () => {},
    });
    const story = element("div", { class: "widget-story", tabindex: 0, role: "region", "aria-label": "The story" });
    const said = output();
    said.textContent = "Press Write. It all runs in this page, and nothing comes from other sites.";

    const opened = live.open(place, "story", said);
    const turns = live.turns({
        opened,
        said,
        // A screen reader reads the story when it is complete, not token by token.
        changed: (works) => (works ? story.setAttribute("aria-busy", "true") : story.removeAttribute("aria-busy")),
    });
    const write = () => turns.instead(tell);
    const another = () => {
        seed.set(Math.floor(Math.random() * 1000));
        write();
    };
    fill(
        place, "Ember writes, in this page",
        prompt.row, temperature.row,
        buttons("The story", button("Write", write), turns.stop, button("Another seed", another), seed.row),
        story, said,
    );

    async function tell(engine, goesOn) {
        const beginning = prompt.input.value;
        const text = document.createTextNode("");
        story.replaceChildren(element("b", {}, beginning), text);
        const { begun } = await engine.ask({ begin: {
            prompt: beginning,
            max_tokens: 400,
            sampling: { temperature: temperature.value(), top_p: 0.95, seed: seed.value() },
        } });
        const begin = performance.now();
        const ids = [];
        let written = "";
        let end = null;
        let firstMs = 0;
        let engineMs = 0;
        const drawNext = live.eachFrame(() => {
            text.data = written;
            story.scrollTop = story.scrollHeight;
        });
        let tokens = 1;
        const ask = () => engine.ask({ next: { tokens } });
        // Two messages are under way: the engine computes one while the page draws the other.
        const asked = [ask(), ask()];
        try {
            while (end === null && goesOn()) {
                const { more } = await asked.shift();
                tokens = Math.min(MOST, Math.max(1, Math.round((FRAME * more.ids.length) / engine.ms)));
                engineMs += engine.ms;
                if (ids.length === 0) firstMs = performance.now() - begin;
                ids.push(...more.ids);
                written += more.text;
                end = more.end;
                if (end === null && goesOn()) asked.push(ask());
                drawNext();
            }
        } finally {
            // Requests beyond the end of the story have no answer.
            await Promise.allSettled(asked);
        }
        const seconds = (performance.now() - begin) / 1000;
        drawNext.now();
        const why = { eos: "the model ended it", length: "the limit is reached", context: "the context is full" };
        place.dataset.ids = JSON.stringify(ids);
        place.dataset.rate = (ids.length / seconds).toFixed(1);
        place.dataset.engineRate = ((1000 * ids.length) / engineMs).toFixed(1);
        said.textContent = `${count(begun.prompt_tokens, "prompt token")}, ${count(ids.length, "new token")} `
            + `(${end === null ? "stopped" : why[end] ?? end}). First token after ${firstMs.toFixed(0)} ms, `
            + `${(ids.length / seconds).toFixed(0)} tokens/s.`;
    }

    await opened;
};
