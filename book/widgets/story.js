// A beginning is typed, and the model goes on.
"use strict";

widgets.story = async (place) => {
    const { element, head, slider, field, number, button, output, count } = elements;
    const prompt = field({
        label: "beginning",
        value: place.dataset.prompt,
        change: () => {},
        enter: () => write(),
    });
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
    const go = button("Write", () => write());
    const stop = button("Stop", () => {});
    const another = button("Another seed", () => {
        seed.input.value = Math.floor(Math.random() * 1000);
        write();
    });
    const story = element("div", { class: "widget-story", tabindex: 0, role: "region", "aria-label": "The story" });
    const said = output();

    place.replaceChildren(
        ...head(place, "Ember writes, in this page"),
        prompt.row, temperature.row,
        element("p", { class: "widget-buttons" }, go, stop, another, seed.row),
        story, said,
    );
    said.textContent = "Nothing is loaded from elsewhere. The engine and its weights are 5 MB at most.";

    const opened = live.open(place, "story");
    const write = live.stoppable({
        stop,
        said,
        work: async (goesOn) => tell(await opened, goesOn),
        ended: () => story.removeAttribute("aria-busy"),
    });

    async function tell(engine, goesOn) {
        // A screen reader reads the story when it is complete, not token by token.
        story.setAttribute("aria-busy", "true");
        const beginning = prompt.input.value;
        const { begun } = await engine.ask({ begin: {
            prompt: beginning,
            max_tokens: 400,
            sampling: { temperature: temperature.value(), top_p: 0.95, seed: seed.value() },
        } });
        if (!goesOn()) return;
        const begin = performance.now();
        const text = document.createTextNode("");
        story.replaceChildren(element("b", {}, beginning), text);
        const ids = [];
        let firstMs = 0;
        let end = null;
        while (end === null && goesOn()) {
            const { more } = await engine.ask({ next: { tokens: 1 } });
            if (ids.length === 0) firstMs = performance.now() - begin;
            ids.push(...more.ids);
            text.data += more.text;
            end = more.end;
            story.scrollTop = story.scrollHeight;
        }
        const seconds = (performance.now() - begin) / 1000;
        const why = { eos: "the model ended it", length: "as many as were asked for", context: "the context is full" };
        place.dataset.ids = JSON.stringify(ids);
        place.dataset.rate = (ids.length / seconds).toFixed(1);
        said.textContent = `${count(begun.prompt_tokens, "prompt token")}, ${count(ids.length, "new token")} `
            + `(${end === null ? "stopped" : why[end] ?? end}). First token after ${firstMs.toFixed(0)} ms, `
            + `${(ids.length / seconds).toFixed(0)} tokens/s.`;
    }

    await opened;
};
