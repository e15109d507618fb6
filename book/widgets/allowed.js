// A regular expression and a text so far: which tokens may come next, and why none may.
"use strict";

widgets.allowed = async (place) => {
    const { element, fill, field, output, button, percent, count } = elements;
    /** How many bytes to name, at most, where the text leaves the grammar. */
    const NAMED = 12;

    const regex = field({ label: "expression", value: place.dataset.regex, change: () => show() });
    const text = field({ label: "text so far", value: place.dataset.text, change: () => show() });
    const before = element("p", { class: "widget-format" }, `The prompt: ${JSON.stringify(place.dataset.prompt)}`);
    const list = element("ol", { class: "widget-tokens", tabindex: 0, "aria-label": "The tokens that may come next" });
    const said = output();
    fill(place, "Which tokens may come next", before, regex.row, text.row, list, said);

    const opened = live.open(place, "allowed", said);

    const show = live.latest(async () => {
        const engine = await opened;
        const request = { prompt: place.dataset.prompt, regex: regex.input.value, text: text.input.value };
        let answer;
        try {
            answer = await engine.ask(request);
        } catch (error) {
            answer = { refused: error.message };
        }
        // A redrawn list loses the focus, and then the next key would go elsewhere.
        const hadFocus = list.contains(document.activeElement);
        list.replaceChildren(...(answer.inside?.likeliest ?? []).map(item));
        if (hadFocus) (list.querySelector("button") ?? list).focus();
        said.textContent = sentence(answer, request.text);
        place.dataset.shown = JSON.stringify({ request, answer });
    });

    /** Press a token to append it, unless it isn't whole characters, or a one-line field can't hold it. */
    function item([token, share]) {
        const shown = token.is_special ? "the end" : visible(token);
        const isWhole = !token.is_special && !/[\uFFFD\r\n]/.test(token.text);
        const name = isWhole ? button(shown, () => append(token.text)) : element("code", {}, shown);
        return element("li", token.is_special ? { class: "special" } : {}, name, element("span", {}, percent(share)));
    }

    function append(more) {
        text.input.value += more;
        show();
    }

    /** Spaces as marks, and incomplete characters as hexadecimal bytes. */
    function visible({ text, bytes }) {
        if (text.includes("\uFFFD")) return bytes.map(hex).join(" ");
        return text.replaceAll(" ", "␣").replaceAll("\n", "↵").replaceAll("\t", "⇥");
    }

    function hex(byte) {
        return byte.toString(16).padStart(2, "0");
    }

    function sentence({ inside, outside, refused }, text) {
        if (refused !== undefined) return `${refused}.`;
        if (outside) return left(outside, text);
        const { state, states, may_end: mayEnd, allowed, vocab_size: vocabSize, share } = inside;
        const at = `State ${state} of ${states}.`;
        if (allowed === 0) return `${at} The text is complete: nothing may come next.`;
        const them = allowed === 1 ? "it" : "them";
        const end = mayEnd ? "The text may end here." : "The text may not end here.";
        return `${at} Of ${count(vocabSize, "token")}, ${allowed.toLocaleString("en")} may come next, and the model gives ${them} `
            + `${percent(share)} of its probability. ${end}`;
    }

    /** Why a text is outside: the byte that can't come next, and what can. */
    function left({ state, states, read, instead }, text) {
        const byte = new TextEncoder().encode(text)[read];
        const others = instead.length > NAMED ? ` and ${instead.length - NAMED} others` : "";
        const could = instead.length === 0
            ? "Nothing can: the text was already complete."
            : `Only ${instead.slice(0, NAMED).map(named).join(" ")}${others} can.`;
        return `State ${state} of ${states}. The text leaves the grammar after ${count(read, "byte")}: `
            + `${named(byte)} can't come next. ${could}`;
    }

    function named(byte) {
        return byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : byte === 0x20 ? "␣" : hex(byte);
    }

    await opened;
    await show();
};
