// A text, and the tokens that it becomes as you type.
"use strict";

widgets.tokens = async (place) => {
    const { element, fill, output, count, tokenBox } = elements;
    /** How many characters are cut into tokens, at most: every letter you type redraws each token. */
    const MOST = 2000;

    const text = element("textarea", { rows: 2, spellcheck: "false" });
    text.value = place.dataset.prompt;
    text.addEventListener("input", () => show());
    const label = element("label", { class: "widget-field" }, element("span", {}, "text"), text);
    const list = element("ol", { class: "widget-tokens", tabindex: 0, "aria-label": "The tokens" });
    const said = output();
    fill(place, "Your text, as the model sees it", label, list, said);

    const opened = live.open(place, "tokens", said);

    /** The beginning of a text, up to a whole character. */
    function beginning(whole) {
        const isSplit = /[\uD800-\uDBFF]$/.test(whole.slice(0, MOST));
        return whole.slice(0, isSplit ? MOST - 1 : MOST);
    }

    const show = live.latest(async () => {
        const engine = await opened;
        const shown = beginning(text.value);
        let answer;
        try {
            answer = await engine.ask({ text: shown });
        } catch (error) {
            list.replaceChildren();
            said.textContent = `${error.message}.`;
            return;
        }
        const { tokens, bytes, characters } = answer;
        list.replaceChildren(...tokens.map((token) => tokenBox(token)));
        place.dataset.ids = JSON.stringify(tokens.map(({ id }) => id));
        const rest = shown.length < text.value.length ? "Your text is long, so only its beginning is cut into tokens: " : "";
        said.textContent = `${rest}${count(characters, "character")}, ${count(bytes, "byte")}, `
            + `${count(tokens.length, "token")}.`;
    });

    await opened;
    await show();
};
