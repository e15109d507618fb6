// One story from weights in several formats, side by side, and the first token where they part.
"use strict";

widgets.formats = async (place) => {
    const { element, head, slider, field, number, button, output, token, count, percent } = elements;
    const FORMATS = 4;
    const prompt = field({ label: "beginning", value: place.dataset.prompt, change: () => {}, enter: () => write() });
    const seed = number({ label: "seed", min: 0, max: 999999, value: 42, change: () => write() });
    const temperature = slider({
        label: "temperature",
        min: 0,
        max: 2,
        step: 0.05,
        value: 0,
        show: (value) => (value > 0 ? `T = ${value.toFixed(2)}` : "0, greedy"),
        change: () => {},
    });
    const stop = button("Stop", () => { run += 1; });
    stop.disabled = true;
    const rows = Array.from({ length: FORMATS }, () => {
        const name = element("p", { class: "widget-format" }, "…");
        const text = element("div", { class: "widget-text", tabindex: 0, role: "region", "aria-label": "A story" });
        return { name, text };
    });
    const said = output();
    place.replaceChildren(
        ...head(place, "One story, four times"),
        prompt.row, temperature.row,
        element("p", { class: "widget-buttons" }, button("Write", () => write()), stop, seed.row),
        ...rows.flatMap(({ name, text }) => [name, text]), said,
    );

    let run = 0;
    const opened = live.open(place, "formats");

    async function write() {
        const current = ++run;
        try {
            await tell(await opened, current);
        } catch (error) {
            said.textContent = `${error.message}.`;
        } finally {
            if (current === run) run += 1;
            stop.disabled = true;
        }
    }

    async function tell(engine, current) {
        stop.disabled = false;
        delete place.dataset.shown;
        const sampling = { temperature: temperature.value(), seed: seed.value() };
        const { begun } = await engine.ask({ begin: { prompt: prompt.input.value, max_tokens: 150, sampling } });
        let stories = [];
        do {
            ({ stories } = await engine.ask("next"));
            draw(begun, stories);
        } while (current === run && !stories.every((story) => story.has_ended));
        const { distances } = await engine.ask("compare");
        draw(begun, stories, distances);
        place.dataset.shown = JSON.stringify({ stories, distances });
    }

    /** How many tokens a story begins with that are those of the first one. */
    function agreed(story, first) {
        const parts = story.tokens.findIndex(({ id }, i) => first.tokens[i]?.id !== id);
        return parts < 0 ? Math.min(story.tokens.length, first.tokens.length) : parts;
    }

    function draw(begun, stories, distances) {
        const [first] = stories;
        const parts = stories.map((story) => agreed(story, first));
        rows.forEach(({ name, text }, i) => {
            const { tokens } = stories[i];
            const kib = (begun[i].bytes / 1024).toLocaleString("en", { maximumFractionDigits: 0 });
            const distance = distances && i > 0
                ? `, ${distances[i].kl.toFixed(4)} nats from the first, same likeliest token ${percent(distances[i].same_greedy)}`
                : "";
            name.textContent = `${begun[i].name}: ${kib} KiB${distance}`;
            const same = tokens.slice(0, parts[i]).map((token) => token.text).join("");
            const rest = tokens.slice(parts[i] + 1).map((token) => token.text).join("");
            const at = tokens[parts[i]];
            text.replaceChildren(element("b", {}, prompt.input.value), same,
                ...(i > 0 && at ? [element("mark", {}, at.text), rest] : [at?.text ?? "", rest]));
            text.scrollTop = text.scrollHeight;
        });
        const differ = stories.map((story, i) => ({ story, i })).slice(1)
            .filter(({ story, i }) => story.tokens.length > parts[i] || first.tokens.length > parts[i]);
        const lines = differ.map(({ i }) => {
            const [was, is] = [first, stories[i]].map(({ tokens }) => tokens[parts[i]]);
            return `${begun[i].name} parts at token ${parts[i] + 1}: ${is ? JSON.stringify(is.text) : "its end"} instead of `
                + `${was ? JSON.stringify(was.text) : "the end"}.`;
        });
        const all = stories.every((story) => story.has_ended) ? `${count(first.tokens.length, "token")}. ` : "";
        said.textContent = all + (lines.length > 0 ? lines.join(" ") : "All four are the same so far.");
    }

    await opened;
};
