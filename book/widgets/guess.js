// A text with guesses from itself, pass by pass: the right ones and the wrong ones.
"use strict";

widgets.guess = async (place) => {
    const { element, fill, field, number, button, buttons, enable, output, slider, count } = elements;
    const prompt = field({ label: "prompt", value: place.dataset.prompt, change: () => begin(), enter: () => step(1) });
    const temperature = slider({
        label: "temperature", min: 0, max: 1.5, step: 0.1, value: 0, show: (value) => value.toFixed(1),
        change: () => begin(),
    });
    const seed = number({ label: "seed", min: 0, max: 999999, value: 42, change: () => begin() });
    const text = element("div", { class: "widget-story", tabindex: 0, role: "region", "aria-label": "The text" });
    const said = output();
    const more = [
        button("Step", () => step(1)), button("Ten steps", () => step(10)), button("Fifty steps", () => step(50)),
    ];
    let steps = [];
    let hasBegun = false;
    const ended = () => steps.at(-1)?.has_ended ?? false;
    const opened = live.open(place, "guess", said);
    const turns = live.turns({ opened, said, changed: () => enable(more, hasBegun && !ended()) });

    const begin = () => turns.instead(async (engine) => {
        hasBegun = false;
        steps = [];
        show();
        const sampling = { temperature: temperature.value(), seed: seed.value() };
        await engine.ask({ begin: { prompt: prompt.input.value, sampling } });
        hasBegun = true;
        show();
        tell();
    });

    function step(passes) {
        const showNext = live.eachFrame(show);
        return turns.run(async (engine, goesOn) => {
            for (let i = 0; i < passes && hasBegun && !ended() && goesOn(); i += 1) {
                steps.push((await engine.ask("step")).step);
                showNext();
            }
            showNext.now();
            if (hasBegun) tell();
        });
    }

    const legend = element("p", { class: "widget-key" },
        element("span", {}, element("ins", {}, "guessed right")), " ",
        element("span", {}, element("del", {}, "guessed wrong")), " ",
        element("span", {}, "not guessed"));
    fill(
        place, "Guesses from the text so far",
        prompt.row, temperature.row, buttons("Steps", ...more, turns.stop, button("Begin again", begin), seed.row),
        element("div", { class: "widget-guess" }, text, legend), said,
    );

    /** How many guesses of a step were right. */
    function right({ guessed, tokens }) {
        const wrong = guessed.findIndex(({ id }, i) => id !== tokens[i]?.id);
        return wrong < 0 ? guessed.length : wrong;
    }

    /** The tokens of a step, with the first wrong guess in front of the token that replaced it. */
    function parts(step) {
        const accepted = right(step);
        return step.tokens.flatMap(({ text }, i) => {
            if (i < accepted) return [element("ins", {}, text)];
            const wrong = i === accepted ? step.guessed[accepted] : undefined;
            return wrong ? [element("del", {}, wrong.text), text] : [text];
        });
    }

    function show() {
        text.replaceChildren(element("b", {}, prompt.input.value), ...steps.flatMap(parts));
        text.scrollTop = text.scrollHeight;
        place.dataset.shown = JSON.stringify(steps);
    }

    function tell() {
        const sum = (of) => steps.reduce((sum, step) => sum + of(step), 0);
        const [tokens, guessed] = [sum((step) => step.tokens.length), sum((step) => step.guessed.length)];
        said.textContent = steps.length === 0
            ? "Nothing is computed yet: press Step."
            : `${count(steps.length, "pass").replace("passs", "passes")} gave ${count(tokens, "token")}. Of `
                + `${guessed === 1 ? "1 guess" : `${guessed} guesses`}, ${sum(right)} ${sum(right) === 1 ? "was" : "were"} right.`;
    }

    show();
    await opened;
    await begin();
};
