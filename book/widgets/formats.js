// One story from weights in several formats, side by side, and the first token where they part.
"use strict";

widgets.formats = async (place) => {
    const { element, head, slider, field, number, button, output, count, percent } = elements;
    /** What the engine writes. The story in f32 stands above these. */
    const FORMATS = 4;
    const MAX_TOKENS = 150;
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
    const stop = button("Stop", () => {});
    const rows = Array.from({ length: 1 + FORMATS }, () => {
        const name = element("p", { class: "widget-format" }, "…");
        const text = element("div", { class: "widget-text", tabindex: 0, role: "region", "aria-label": "A story" });
        return { name, text };
    });
    const said = output();
    place.replaceChildren(
        ...head(place, "One story, five times"),
        prompt.row, temperature.row,
        element("p", { class: "widget-buttons" },
            button("Write", () => write()), stop, button("Another example", () => example()), seed.row),
        ...rows.flatMap(({ name, text }) => [name, text]), said,
    );

    const opened = live.open(place, "formats");
    // The weights in f32 are too large for a page, so only some of their stories are here.
    const examples = opened.then(() => live.json("stories.json"));
    let shown = 0;

    /** The next story that is known in f32. */
    async function example() {
        const all = await examples;
        shown = (shown + 1) % all.length;
        prompt.input.value = all[shown].prompt;
        seed.input.value = all[shown].seed;
        temperature.input.value = all[shown].temperature;
        temperature.input.dispatchEvent(new Event("input"));
        await write();
    }

    const write = live.stoppable({ stop, said, work: async (goesOn) => tell(await opened, goesOn) });

    async function tell(engine, goesOn) {
        delete place.dataset.shown;
        const settings = { prompt: prompt.input.value, temperature: temperature.value(), seed: seed.value() };
        const sampling = { temperature: settings.temperature, top_p: 0.95, seed: settings.seed };
        const inF32 = (await examples).find((story) => story.prompt === settings.prompt
            && story.temperature === settings.temperature
            // A greedy story is the same with each seed.
            && (story.seed === settings.seed || story.temperature === 0));
        const { begun } = await engine.ask({ begin: { prompt: settings.prompt, max_tokens: MAX_TOKENS, sampling } });
        let stories = [];
        do {
            ({ stories } = await engine.ask("next"));
            draw(settings, begun, stories, inF32);
        } while (goesOn() && !stories.every((story) => story.has_ended));
        const { distances } = await engine.ask("compare");
        draw(settings, begun, stories, inF32, distances);
        place.dataset.shown = JSON.stringify({ stories, distances });
    }

    /** The command that writes a story with the weights in f32. */
    function command({ prompt, temperature, seed }) {
        const quoted = `'${prompt.replaceAll("'", "'\\''")}'`;
        return `cargo run --release --example 12_quantized -- --prompt ${quoted} `
            + `--temperature ${temperature} --seed ${seed} --max-tokens ${MAX_TOKENS}`;
    }

    /** At which token a story is no longer the same as another, of which it may be a beginning. */
    function parting(story, other) {
        const at = story.tokens.findIndex(({ id }, i) => other.tokens[i]?.id !== id);
        if (at >= 0) return at;
        return story.has_ended && story.tokens.length < other.tokens.length ? story.tokens.length : -1;
    }

    /** The story in f32, or its first tokens. */
    function drawF32({ prompt, tokens }, count = tokens.length) {
        const [{ name, text }] = rows;
        name.textContent = "f32, written by the library";
        text.replaceChildren(element("b", {}, prompt), tokens.slice(0, count).map((token) => token.text).join(""));
    }

    function draw(settings, begun, stories, inF32, distances) {
        // Where f32 is not known, the first of the others takes its place.
        const reference = inF32 ? { ...inF32, has_ended: true } : stories[0];
        const against = inF32 ? "f32" : begun[0].name;
        const written = Math.max(...stories.map((story) => story.tokens.length));
        const [f32, ...others] = rows;
        if (inF32) {
            drawF32(inF32, written);
        } else {
            f32.name.textContent = "f32: not in this page. The library writes it:";
            f32.text.replaceChildren(element("code", {}, command(settings)));
        }
        const lines = [];
        others.forEach(({ name, text }, i) => {
            const { tokens } = stories[i];
            const at = stories[i] === reference ? -1 : parting(stories[i], reference);
            const kib = (begun[i].bytes / 1024).toLocaleString("en", { maximumFractionDigits: 0 });
            const distance = distances && i > 0
                ? `, ${distances[i].kl.toFixed(4)} nats from ${begun[0].name}, `
                    + `same likeliest token ${percent(distances[i].same_greedy)}`
                : "";
            name.textContent = `${begun[i].name}: ${kib} KiB${distance}`;
            const joined = (part) => part.map((token) => token.text).join("");
            const end = at < 0 ? tokens.length : at;
            const marked = tokens.slice(end, end + 1).map((token) => element("mark", {}, token.text));
            text.replaceChildren(element("b", {}, settings.prompt), joined(tokens.slice(0, end)),
                ...marked, joined(tokens.slice(end + 1)));
            text.scrollTop = text.scrollHeight;
            if (at < 0) return;
            const [was, is] = [reference, stories[i]].map(({ tokens }) => tokens[at]);
            lines.push(`${begun[i].name} parts from ${against} at token ${at + 1}: `
                + `${is ? JSON.stringify(is.text) : "its end"} instead of ${was ? JSON.stringify(was.text) : "the end"}.`);
        });
        f32.text.scrollTop = f32.text.scrollHeight;
        const all = stories.every((story) => story.has_ended) ? `${count(stories[0].tokens.length, "token")}. ` : "";
        said.textContent = all + (lines.length > 0 ? lines.join(" ") : `All are the same as ${against} so far.`);
    }

    drawF32((await examples)[0]);
    said.textContent = "Press Write: the others follow, token by token. The first time, their four models are loaded.";
};
