// A text, and the tokens that it becomes as one types.
"use strict";

widgets.tokens = async (place) => {
    const { element, head, output, count } = elements;
    const text = element("textarea", { rows: 2, spellcheck: "false" });
    text.value = place.dataset.prompt;
    text.addEventListener("keydown", (event) => event.stopPropagation());
    text.addEventListener("input", () => show());
    const label = element("label", { class: "widget-field" }, element("span", {}, "text"), text);
    const list = element("ol", { class: "widget-tokens", tabindex: 0, "aria-label": "The tokens" });
    const said = output();
    place.replaceChildren(...head(place, "Your text, as the model sees it"), label, list, said);

    const opened = live.open(place, "tokens");

    const show = live.latest(async () => {
        const engine = await opened;
        const { tokens, bytes, characters } = await engine.ask({ text: text.value });
        list.replaceChildren(...tokens.map(item));
        place.dataset.ids = JSON.stringify(tokens.map(({ id }) => id));
        said.textContent = `${count(characters, "character")}, ${count(bytes, "byte")}, `
            + `${count(tokens.length, "token")}.`;
    });

    function item({ id, text, bytes, is_special: isSpecial }) {
        const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
        return element("li", isSpecial ? { class: "special" } : {},
            element("code", {}, isSpecial ? text : visible(text)),
            element("span", {}, isSpecial ? "special" : hex),
            element("span", {}, `id ${id}`));
    }

    /** Spaces and line ends as marks. */
    function visible(text) {
        return text.replaceAll(" ", "␣").replaceAll("\n", "↵").replaceAll("\t", "⇥");
    }

    await opened;
    await show();
};
