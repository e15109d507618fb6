// A text as it is written: at each step, the candidates before and after each rule of the sampler.
"use strict";

widgets.candidates = async (place) => {
    const { element, fill, slider, field, number, button, buttons, enable, output, key, bar, percent, count } = elements;
    const ROWS = 12;

    // ---- controls, named like the library's parameters; at `off`, a rule does nothing

    const decimals = (value) => value.toFixed(2);
    const controls = {
        temperature: { label: "temperature", min: 0, max: 2, step: 0.05, off: 1 },
        top_k: { label: "top-k", min: 1, max: 60, step: 1, off: 60, says: (value) => `k = ${value}` },
        top_p: { label: "top-p", min: 0.05, max: 1, step: 0.05, off: 1, says: (value) => `p = ${decimals(value)}` },
        min_p: { label: "min-p", min: 0, max: 1, step: 0.01, off: 0 },
        repetition_penalty: { label: "repetition penalty", min: 1, max: 2, step: 0.05, off: 1 },
        frequency_penalty: { label: "frequency penalty", min: 0, max: 2, step: 0.1, off: 0 },
        presence_penalty: { label: "presence penalty", min: 0, max: 2, step: 0.1, off: 0 },
    };
    const sliders = place.dataset.rules.split(" ").map((rule) => {
        const [name, value] = rule.split("=");
        const { off, says = decimals, ...range } = controls[name];
        const shown = (now) => {
            if (name === "temperature") return now > 0 ? `T = ${decimals(now)}` : "0, greedy";
            return now === off ? "off" : says(now);
        };
        const made = slider({ ...range, value: value ?? off, show: shown, change: () => show() });
        return { name, off, ...made };
    });
    const prompt = field({ label: "beginning", value: place.dataset.prompt, change: () => begin() });
    const seed = number({ label: "seed", min: 0, max: 999999, value: 42 });

    function sampling() {
        const set = sliders.filter(({ off, value }) => value() !== off);
        return { seed: seed.value(), ...Object.fromEntries(set.map(({ name, value }) => [name, value()])) };
    }

    // ---- the text: a list of steps, and the one that you look at

    const text = elements.steps("The steps of the text", (at) => look(at));
    let tokens = [];
    let step = 0;
    let hasBegun = false;
    let hasEnded = false;

    function look(at) {
        step = Math.min(Math.max(at, 0), tokens.length);
        drawText();
        return show();
    }

    function drawText() {
        const end = hasEnded ? "∎" : "▁";
        text.draw(hasBegun ? tokens.map((token) => token.text).concat(end) : [], step, prompt.input.value);
    }

    function take({ text: { output, has_ended } }) {
        tokens = output;
        hasEnded = has_ended;
        place.dataset.ids = JSON.stringify(output.map(({ id }) => id));
    }

    // ---- what the buttons do

    const said = output();
    const opened = live.open(place, "candidates", said);
    const more = [button("Draw a token", () => draw(1)), button("Draw ten", () => draw(10))];
    const allow = () => enable(more, hasBegun && !hasEnded);
    const turns = live.turns({ opened, said, changed: allow });

    const begin = () => turns.instead(async (engine) => {
        // If the new text can't begin, nothing of the old one may stay.
        [tokens, step, hasBegun, hasEnded] = [[], 0, false, false];
        delete place.dataset.ids;
        try {
            take(await engine.ask({ begin: { prompt: prompt.input.value } }));
            hasBegun = true;
        } finally {
            if (!hasBegun) clear();
        }
        await look(0);
    });

    /** Empties the table, for when there is no text. */
    function clear() {
        delete place.dataset.shown;
        drawText();
        caption.textContent = CAPTION;
        heads.forEach((head) => { head.textContent = ""; });
        rows.forEach((row) => fillRow(row, undefined));
        allow();
    }

    function draw(tokens_) {
        const drawNext = live.eachFrame(drawText);
        return turns.run(async (engine, goesOn) => {
            for (let i = 0; i < tokens_ && hasBegun && !hasEnded && goesOn(); i += 1) {
                take(await engine.ask({ draw: { sampling: sampling() } }));
                step = tokens.length;
                drawNext();
            }
            if (hasBegun) await look(tokens.length);
        });
    }

    function choose(id) {
        const at = step;
        return turns.instead(async (engine) => {
            if (!hasBegun) return;
            take(await engine.ask({ choose: { step: at, id } }));
            await look(at + 1);
        });
    }

    // ---- the rules, in the sampler's order, and the one that you look at

    const ALL = "all rules";
    const choice = element("fieldset", { class: "widget-stages" });
    const group = elements.id("rule");
    let rule = ALL;

    function drawStages(stages) {
        const names = [ALL, ...stages.slice(1).map((stage) => stage.rule)];
        if (!names.includes(rule)) rule = ALL;
        const old = [...choice.querySelectorAll("input")].map(({ value }) => value);
        // Redrawn buttons lose the focus, and then the next key would go elsewhere.
        const hadFocus = choice.contains(document.activeElement);
        if (old.join() !== names.join()) {
            choice.replaceChildren(element("legend", {}, "look at"), ...names.map((name) => {
                const input = element("input", { type: "radio", name: group, value: name });
                input.addEventListener("change", () => {
                    rule = name;
                    show();
                });
                return element("label", {}, input, ` ${name}`);
            }));
        }
        choice.querySelectorAll("input").forEach((input) => { input.checked = input.value === rule; });
        if (hadFocus) choice.querySelector(":checked").focus();
    }

    // ---- the candidates

    const CAPTION = "The likeliest tokens";
    const caption = element("caption", {}, CAPTION);
    const heads = [element("th", { scope: "col" }), element("th", { scope: "col" })];
    const rows = Array.from({ length: ROWS }, () => {
        const token = button("", () => choose(row.id));
        token.className = "widget-token";
        const cells = [element("td"), element("td")];
        const row = { token, cells, id: null };
        row.line = element("tr", {}, element("th", { scope: "row" }, token), ...cells);
        return row;
    });

    const show = live.latest(async () => {
        const engine = await opened;
        if (!hasBegun) return;
        const at = step;
        let shown;
        try {
            ({ shown } = await engine.ask({ show: { step: at, sampling: sampling(), count: ROWS } }));
        } catch (error) {
            if (hasBegun) said.textContent = `${error.message}.`;
            return;
        }
        // Meanwhile another text has begun, or failed to.
        if (!hasBegun || at > tokens.length) return;
        const { stages, candidates, drawn } = shown;
        drawStages(stages);
        const after = rule === ALL ? stages.length - 1 : stages.findIndex((stage) => stage.rule === rule);
        const before = rule === ALL ? 0 : after - 1;
        caption.textContent = at < tokens.length
            ? `The likeliest tokens at step ${at + 1}, where ${JSON.stringify(tokens[at].text)} was drawn`
            : `The likeliest tokens at step ${at + 1}, the next one`;
        heads[0].textContent = before === 0 ? "the model" : `after ${stages[before].rule}`;
        heads[1].textContent = rule === ALL ? "after all rules" : `after ${rule}`;
        // If the drawn token is further down, it takes the last row.
        const seen = candidates.length > ROWS ? [...candidates.slice(0, ROWS - 1), candidates[ROWS]] : candidates;
        rows.forEach((row, i) => fillRow(row, seen[i], before, after, drawn));
        const [from, to] = [stages[before], stages[after]];
        const bits = ({ entropy_bits, effective_tokens }) =>
            `entropy ${entropy_bits.toFixed(2)} bits, perplexity ${effective_tokens.toFixed(1)}`;
        said.textContent = stages.length === 1
            ? `The model's own distribution: ${count(from.survivors, "token")}, ${bits(from)}.`
            : `Before: ${count(from.survivors, "token")}, ${bits(from)}. After: ${count(to.survivors, "token")}, ${bits(to)}.`;
        place.dataset.shown = JSON.stringify({ step: at, before, after, ...shown });
    });

    function fillRow(row, candidate, before, after, drawn) {
        row.line.hidden = candidate === undefined;
        if (candidate === undefined) return;
        const { token, probabilities } = candidate;
        row.id = token.id;
        row.token.textContent = elements.name(token);
        row.token.title = "Continue from here with this token";
        row.line.className = token.id === drawn ? "chosen" : "";
        const cell = (probability, kind) => (probability === 0
            ? [element("span", { class: "removed" }, "removed")]
            : [bar(probability, kind), percent(probability)]);
        row.cells[0].replaceChildren(...cell(probabilities[before], "kept"));
        row.cells[1].replaceChildren(...cell(probabilities[after], "new"));
    }

    fill(
        place, "One token at a time",
        prompt.row, ...sliders.map(({ row }) => row),
        buttons("The text", ...more, turns.stop, button("Begin again", begin), seed.row),
        text.box, choice,
        element("table", { class: "widget-table widget-candidates" }, caption,
            element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "token"), ...heads)),
            element("tbody", {}, ...rows.map(({ line }) => line))),
        key(["kept", "before a rule"], ["new", "after it"], ["chosen", "drawn at this step"]),
        said,
    );
    drawText();
    allow();
    await opened;
    await begin();
};
