// One story from weights in several formats: the story once, and for each format what it writes from the
// token at which it diverges.
"use strict";

widgets.formats = async (place) => {
    const { element, fill, slider, field, number, button, buttons, output, count, percent } = elements;
    /** What the engine writes, after the story in f32. */
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
    const region = (label, kind = "") =>
        element("div", { class: `widget-text ${kind}`, tabindex: 0, role: "region", "aria-label": label });
    const first = { name: element("p", { class: "widget-format" }, "…"), text: region("The story", "whole") };
    const rows = Array.from({ length: FORMATS }, (_, i) => {
        const name = element("p", { class: "widget-format" }, "…");
        return { name, text: region(`Where format ${i + 1} diverges`) };
    });
    const said = output();

    const opened = live.open(place, "formats", said);
    const turns = live.turns({ opened, said });
    // The weights in f32 are too large for a page, so only some of their stories are here.
    const examples = opened.then(() => live.json("stories.json"));
    let shown = 0;
    const write = () => turns.instead(tell);

    /** The next story that is known in f32. */
    async function example() {
        const all = await examples;
        shown = (shown + 1) % all.length;
        prompt.input.value = all[shown].prompt;
        seed.set(all[shown].seed);
        temperature.set(all[shown].temperature);
        await write();
    }

    fill(
        place, "One story in five formats",
        prompt.row, temperature.row,
        buttons("The stories", button("Write", write), turns.stop, button("Another example", example), seed.row),
        first.name, first.text,
        ...rows.flatMap(({ name, text }) => [name, text]), said,
    );

    async function tell(engine, goesOn) {
        delete place.dataset.shown;
        for (const { name, text } of [first, ...rows]) {
            name.textContent = "…";
            text.replaceChildren();
        }
        const settings = { prompt: prompt.input.value, temperature: temperature.value(), seed: seed.value() };
        const sampling = { temperature: settings.temperature, top_p: 0.95, seed: settings.seed };
        const inF32 = (await examples).find((story) => story.prompt === settings.prompt
            && story.temperature === settings.temperature
            // A greedy story is the same with each seed.
            && (story.seed === settings.seed || story.temperature === 0));
        const { begun } = await engine.ask({ begin: { prompt: settings.prompt, max_tokens: MAX_TOKENS, sampling } });
        let stories = [];
        const drawNext = live.eachFrame(() => draw(settings, begun, stories, inF32));
        do {
            ({ stories } = await engine.ask("next"));
            drawNext();
        } while (goesOn() && !stories.every((story) => story.has_ended));
        drawNext.now();
        if (!goesOn()) return;
        const { distances } = await engine.ask("compare");
        draw(settings, begun, stories, inF32, distances);
        place.dataset.shown = JSON.stringify({ stories, distances });
    }

    /** The command that writes a story with the weights in f32. */
    function command({ prompt, temperature, seed }) {
        const quoted = `'${prompt.replaceAll("'", "'\\''")}'`;
        return `cargo run --example 12_quantized -- --prompt ${quoted} `
            + `--temperature ${temperature} --seed ${seed} --max-tokens ${MAX_TOKENS}`;
    }

    /** The token at which a story diverges from another, or ends before it; -1 if it does neither. */
    function parting(story, other) {
        const at = story.tokens.findIndex(({ id }, i) => other.tokens[i]?.id !== id);
        if (at >= 0) return at;
        return story.has_ended && story.tokens.length < other.tokens.length ? story.tokens.length : -1;
    }

    /**
     * The story that the others are compared with: bold up to the first divergence, then with a mark
     * and a number wherever a format diverges.
     */
    function drawStory(prompt, tokens, partings) {
        const common = Math.min(tokens.length, ...partings.filter((at) => at >= 0));
        const text = tokens.flatMap((token, i) => {
            const parts = partings.flatMap((at, format) => (at === i ? [format + 1] : []));
            return parts.length === 0 ? [token.text] : [element("mark", {}, token.text), element("sup", {}, parts.join(", "))];
        });
        // Parts before the first mark are one text.
        first.text.replaceChildren(element("b", {}, prompt, text.slice(0, common).join("")), ...text.slice(common));
    }

    function draw(settings, begun, stories, inF32, distances) {
        // If we don't have the story in f32, the first of the others takes its place.
        const reference = inF32 ? { ...inF32, has_ended: true } : stories[0];
        const against = inF32 ? "f32" : begun[0].name;
        const written = Math.max(...stories.map((story) => story.tokens.length));
        const partings = stories.map((story) => (story === reference ? -1 : parting(story, reference)));
        if (inF32) {
            first.name.textContent = "f32, written by the library. It is bold as long as all formats agree:";
        } else {
            first.name.replaceChildren(`${against}. It is bold as long as all formats agree. This page has no f32; for that, run `,
                element("code", {}, command(settings)));
        }
        drawStory(settings.prompt, reference.tokens.slice(0, written), partings);
        const lines = [];
        // While they are written, show their ends; afterwards, where they diverge.
        const show = (text) => { text.scrollTop = distances ? 0 : text.scrollHeight; };
        rows.forEach(({ name, text }, i) => {
            const { tokens } = stories[i];
            const at = partings[i];
            const kib = (begun[i].bytes / 1024).toLocaleString("en", { maximumFractionDigits: 0 });
            const distance = distances && i > 0
                ? `, ${distances[i].kl.toFixed(4)} nats from ${begun[0].name}, `
                    + `same likeliest token ${percent(distances[i].same_greedy)}`
                : "";
            name.textContent = `${i + 1}. ${begun[i].name}: ${kib} KiB${distance}`;
            if (at < 0) {
                const upTo = stories[i].has_ended ? "to the end" : "so far";
                text.replaceChildren(stories[i] === reference ? "This is the story above." : `The same as ${against} ${upTo}.`);
                return;
            }
            const marked = tokens.slice(at, at + 1).map((token) => element("mark", {}, token.text));
            text.replaceChildren(`from token ${at + 1}: …`, ...marked, tokens.slice(at + 1).map((token) => token.text).join(""));
            show(text);
            const [was, is] = [reference, stories[i]].map((story) => story.tokens[at]);
            lines.push(`${begun[i].name} diverges from ${against} at token ${at + 1}: `
                + `${is ? JSON.stringify(is.text) : "the end"} instead of ${was ? JSON.stringify(was.text) : "the end"}.`);
        });
        show(first.text);
        const all = stories.every((story) => story.has_ended) ? `${count(stories[0].tokens.length, "token")}. ` : "";
        said.textContent = all + (lines.length > 0 ? lines.join(" ") : `So far, all agree with ${against}.`);
    }

    const [known] = await examples;
    first.name.textContent = "f32, written by the library";
    drawStory(known.prompt, known.tokens, []);
    said.textContent = "Press Write, and the other four follow, token by token. The first time, their models have to be loaded.";
};
