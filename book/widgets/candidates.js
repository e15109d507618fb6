// A text in the making: at each step, the candidates before and after each rule of the sampler.
"use strict";

widgets.candidates = async (place) => {
    const { element, head, slider, field, number, button, output, bar, percent, count } = elements;
    const ROWS = 12;

    // ---- controls, by the names of the library's parameters; `off` is where a rule does nothing

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
    const seed = number({ label: "seed", min: 0, max: 999999, value: 42, change: () => {} });

    function sampling() {
        const set = sliders.filter(({ off, value }) => value() !== off);
        return { seed: seed.value(), ...Object.fromEntries(set.map(({ name, value }) => [name, value()])) };
    }

    // ---- the text: a list of steps, of which one is looked at

    const text = element("div", { class: "widget-text", tabindex: 0, role: "listbox", "aria-label": "The steps of the text" });
    let output_ = [];
    let step = 0;
    let hasEnded = false;

    text.addEventListener("keydown", (event) => {
        const to = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: output_.length }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        // mdBook turns pages with the arrow keys.
        event.stopPropagation();
        look(to);
    });

    function look(at) {
        step = Math.min(Math.max(at, 0), output_.length);
        drawText();
        return show();
    }

    function drawText() {
        const steps = output_.map(({ text }) => text).concat(hasEnded ? "∎" : "▁");
        const spans = steps.map((token, i) => {
            const chosen = i === step;
            const span = element("span", { role: "option", "aria-selected": chosen, ...(chosen ? { class: "chosen" } : {}) }, token);
            span.addEventListener("click", () => look(i));
            return span;
        });
        text.replaceChildren(element("b", {}, prompt.input.value), ...spans);
        const box = spans[step];
        text.scrollTop = Math.max(0, box.offsetTop - text.offsetTop - text.clientHeight / 2);
    }

    function take({ text: { output, has_ended } }) {
        output_ = output;
        hasEnded = has_ended;
        place.dataset.ids = JSON.stringify(output.map(({ id }) => id));
    }

    const opened = live.open(place, "candidates");
    // What is pressed is done in order, each with the text that the one before has left.
    let queue = Promise.resolve();
    const inTurn = (work) => {
        queue = queue.then(async () => work(await opened)).catch((error) => { said.textContent = `${error.message}.`; });
        return queue;
    };

    const begin = live.latest(() => inTurn(async (engine) => {
        take(await engine.ask({ begin: { prompt: prompt.input.value } }));
        await look(0);
    }));

    function draw(tokens) {
        return inTurn(async (engine) => {
            for (let i = 0; i < tokens && !hasEnded; i += 1) {
                take(await engine.ask({ draw: { sampling: sampling() } }));
                step = output_.length;
                drawText();
            }
            await look(output_.length);
        });
    }

    function choose(id) {
        return inTurn(async (engine) => {
            take(await engine.ask({ choose: { step, id } }));
            await look(step + 1);
        });
    }

    // ---- the rules, in the order of the sampler, of which one is looked at

    const ALL = "all rules";
    const choice = element("fieldset", { class: "widget-stages" });
    const group = `rule-${widgets.candidates.count = (widgets.candidates.count ?? 0) + 1}`;
    let rule = ALL;

    function drawStages(stages) {
        const names = [ALL, ...stages.slice(1).map((stage) => stage.rule)];
        if (!names.includes(rule)) rule = ALL;
        const old = [...choice.querySelectorAll("input")].map(({ value }) => value);
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
    }

    // ---- the candidates

    const heads = [element("th", { scope: "col" }), element("th", { scope: "col" })];
    const rows = Array.from({ length: ROWS }, () => {
        const token = button("", () => choose(row.id));
        token.className = "widget-token";
        const cells = [element("td"), element("td")];
        const row = { token, cells, id: null };
        row.line = element("tr", {}, element("th", { scope: "row" }, token), ...cells);
        return row;
    });
    const said = output();

    const show = live.latest(async () => {
        const engine = await opened;
        let shown;
        try {
            ({ shown } = await engine.ask({ show: { step, sampling: sampling(), count: ROWS } }));
        } catch (error) {
            said.textContent = `${error.message}.`;
            return;
        }
        const { stages, candidates, drawn } = shown;
        drawStages(stages);
        const after = rule === ALL ? stages.length - 1 : stages.findIndex((stage) => stage.rule === rule);
        const before = rule === ALL ? 0 : after - 1;
        heads[0].textContent = before === 0 ? "the model" : `after ${stages[before].rule}`;
        heads[1].textContent = rule === ALL ? "after all rules" : `after ${rule}`;
        // A token that was drawn from further down takes the place of the last.
        const seen = candidates.length > ROWS ? [...candidates.slice(0, ROWS - 1), candidates[ROWS]] : candidates;
        rows.forEach((row, i) => fill(row, seen[i], before, after, drawn));
        const [from, to] = [stages[before], stages[after]];
        const bits = ({ entropy_bits, effective_tokens }) =>
            `entropy ${entropy_bits.toFixed(2)} bits, perplexity ${effective_tokens.toFixed(1)}`;
        said.textContent = stages.length === 1
            ? `The model's own distribution: ${count(from.survivors, "token")}, ${bits(from)}.`
            : `Before: ${count(from.survivors, "token")}, ${bits(from)}. After: ${count(to.survivors, "token")}, ${bits(to)}.`;
        place.dataset.shown = JSON.stringify({ step, before, after, ...shown });
    });

    function fill(row, candidate, before, after, drawn) {
        row.line.hidden = candidate === undefined;
        if (candidate === undefined) return;
        const { token, probabilities } = candidate;
        row.id = token.id;
        row.token.textContent = token.is_special ? token.text : JSON.stringify(token.text);
        row.token.title = "Go on from here with this token";
        row.line.className = token.id === drawn ? "chosen" : "";
        const cell = (probability) => (probability === 0
            ? [element("span", { class: "removed" }, "removed")]
            : [bar(probability, "kept"), percent(probability)]);
        row.cells[0].replaceChildren(...cell(probabilities[before]));
        row.cells[1].replaceChildren(...cell(probabilities[after]));
        if (probabilities[after] > 0) row.cells[1].querySelector(".widget-bar").classList.replace("kept", "new");
    }

    const go = element("p", { class: "widget-buttons" },
        button("Draw a token", () => draw(1)), button("Draw ten", () => draw(10)),
        button("Begin again", () => begin()), seed.row);
    place.replaceChildren(
        ...head(place, "One token at a time"),
        prompt.row, ...sliders.map(({ row }) => row), go, text, choice,
        element("table", { class: "widget-table widget-candidates" },
            element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "token"), ...heads)),
            element("tbody", {}, ...rows.map(({ line }) => line))),
        said,
    );
    drawText();
    await opened;
    await begin();
};
