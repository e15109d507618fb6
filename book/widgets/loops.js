// The naive loop and the cached loop, step by step: the rows that each computes, the rows that it reads
// from the cache, and the time that it takes.
"use strict";

widgets.loops = async (place) => {
    const { element, fill, field, number, button, buttons, enable, output, key, bar, count } = elements;
    const COLUMNS = 40;
    const prompt = field({ label: "prompt", value: place.dataset.prompt, change: () => begin(), enter: () => step(1) });
    const seed = number({ label: "seed", min: 0, max: 999999, value: 42, change: () => begin() });
    const text = element("div", { class: "widget-text", tabindex: 0, role: "region", "aria-label": "The text" });
    const names = { naive: "Naive loop", cached: "Cached loop" };
    const loops = Object.entries(names).map(([name, title]) => {
        const svg = element("svg", { class: "fig", preserveAspectRatio: "none", "aria-hidden": "true" });
        const total = element("figcaption");
        return { name, title, svg, total, figure: element("figure", {}, svg, total), steps: [] };
    });
    const said = output();
    const more = [
        button("Step", () => step(1)), button("Ten steps", () => step(10)), button("Fifty steps", () => step(50)),
    ];
    let prompts = [];
    let hasBegun = false;
    const ended = () => loops[0].steps.at(-1)?.has_ended ?? false;
    const allow = () => enable(more, hasBegun && !ended());

    const opened = live.open(place, "loops", said);
    const turns = live.turns({ opened, said, changed: allow });

    const begin = () => turns.instead(async (engine) => {
        hasBegun = false;
        prompts = [];
        loops.forEach((loop) => { loop.steps = []; });
        place.dataset.shown = JSON.stringify([[], []]);
        draw();
        const sampling = { temperature: 0.8, top_p: 0.95, seed: seed.value() };
        const { begun } = await engine.ask({ begin: { prompt: prompt.input.value, sampling } });
        prompts = begun.prompt;
        hasBegun = true;
        draw();
        tell();
    });

    function step(steps) {
        const drawNext = live.eachFrame(draw);
        return turns.run(async (engine, goesOn) => {
            for (let i = 0; i < steps && hasBegun && !ended() && goesOn(); i += 1) {
                for (const loop of loops) {
                    const { step } = await engine.ask(loop.name);
                    loop.steps.push({ ...step, ms: engine.ms });
                }
                drawNext();
            }
            drawNext.now();
            if (hasBegun) tell();
        });
    }

    fill(
        place, "Rows computed: one line a step",
        prompt.row, buttons("Steps", ...more, turns.stop, button("Begin again", begin), seed.row), text,
        element("div", { class: "widget-pair" }, ...loops.map(({ figure }) => figure)),
        key(["new", "computed"], ["kept", "read from the cache"]),
        said,
    );

    /** A stretch of one step's rows: single boxes, where they are large enough to be seen. */
    function stretch(from, to, line, kind, columns) {
        const gap = columns <= COLUMNS ? 0.12 : 0;
        const boxes = gap > 0 ? [...Array(to - from).keys()].map((i) => [from + i, 1]) : [[from, to - from]];
        const path = boxes.map(([x, width]) =>
            `M${x + gap} ${line + gap}h${width - 2 * gap}v${1 - 2 * gap}h${2 * gap - width}z`);
        return element("path", { d: path.join(""), class: kind, "vector-effect": "non-scaling-stroke" });
    }

    /** How many steps both loops have taken. */
    const done = () => loops[1].steps.length;

    function draw() {
        const sums = loops.map(({ steps }) => ({
            rows: steps.reduce((sum, { computed }) => sum + computed, 0),
            ms: steps.reduce((sum, { ms }) => sum + ms, 0),
        }));
        // As long as the boxes can be told apart, they keep their size.
        const columns = Math.max(prompts.length + done(), 24);
        loops.forEach(({ title, svg, total, steps }, i) => {
            svg.setAttribute("viewBox", `0 0 ${columns} ${Math.max(done(), 12)}`);
            svg.replaceChildren(...steps.flatMap(({ read, computed }, line) => {
                const parts = [stretch(read, read + computed, line, "new", columns)];
                if (read > 0) parts.unshift(stretch(0, read, line, "kept", columns));
                return parts;
            }));
            const { rows, ms } = sums[i];
            total.replaceChildren(`${title}: ${count(rows, "row")}, ${ms.toFixed(0)} ms`,
                bar(ms / Math.max(...sums.map((sum) => sum.ms), 1e-9), "new"));
        });
        const tokens = loops[1].steps.map(({ token }) => token.text);
        text.replaceChildren(element("b", {}, prompt.input.value), tokens.join(""));
        text.scrollTop = text.scrollHeight;
    }

    function tell() {
        const [naive, cached] = loops.map(({ steps }) => steps.at(-1));
        const same = loops[0].steps.every(({ token }, i) => token.id === loops[1].steps[i]?.token.id);
        said.textContent = done() === 0
            ? `${count(prompts.length, "prompt token")}, and nothing computed yet.`
            : `Step ${done()}: the naive loop computed ${count(naive.computed, "row")} in ${naive.ms.toFixed(1)} ms, the `
                + `cached loop ${cached.computed} in ${cached.ms.toFixed(1)} ms, and read ${cached.read} from the cache. `
                + `${same ? "The tokens are the same." : "The tokens differ: that is a bug."}`;
        place.dataset.shown = JSON.stringify(loops.map(({ steps }) => steps));
        allow();
    }

    draw();
    allow();
    await opened;
    await begin();
};
