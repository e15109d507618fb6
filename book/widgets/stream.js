// Tokens come one by one: what of their text may be handed over, and what is held back. The tokens are
// the engine's; the rule is that of `TextBuffer` in the library.
"use strict";

widgets.stream = async (place) => {
    const { element, fill, field, button, buttons, enable, output, key, count, tokenBox } = elements;
    /** A line feed is typed as in Rust. */
    const typed = ({ input }) => input.value.replaceAll("\\n", "\n");
    const visible = (text) => JSON.stringify(text);
    const text = field({ label: "generated", value: place.dataset.text, change: () => begin(), enter: () => step(1) });
    const stop = field({ label: "stop string", value: place.dataset.stop, change: () => begin(), enter: () => step(1) });
    const list = (label) => element("ol", { class: "widget-tokens", tabindex: 0, "aria-label": label });
    const lists = { comes: list("The token that comes"), held: list("Held back") };
    const handed = element("div", { class: "widget-text", tabindex: 0, role: "region", "aria-label": "Handed over" });
    const said = output();
    const more = [
        button("A token", () => step(1)), button("All tokens", () => step(Infinity)),
        button("End here", () => turns.run(async () => { draw(buffer.finish()); })),
    ];
    let [tokens, came, buffer] = [[], 0, null];
    const allow = () => enable(more, buffer !== null && buffer.ended === null);
    const opened = live.open(place, "tokens", said);
    const turns = live.turns({ opened, said, changed: allow });

    const begin = () => turns.instead(async (engine) => {
        [tokens, came, buffer] = [[], 0, null];
        delete place.dataset.shown;
        lists.comes.replaceChildren();
        lists.held.replaceChildren();
        handed.replaceChildren();
        const { tokens: all } = await engine.ask({ text: typed(text) });
        // The first token begins every text, so it is the prompt's.
        tokens = all.slice(1);
        buffer = stream.buffer(typed(stop));
        draw("");
    });

    const step = (steps) => turns.run(async (_, goesOn) => {
        let out = "";
        for (let i = 0; i < steps && buffer?.ended === null && goesOn(); i += 1) {
            came += 1;
            out = came > tokens.length ? buffer.finish() : buffer.push(tokens[came - 1]);
        }
        if (buffer !== null) draw(out);
    });

    fill(
        place, "What may be shown, and what has to wait",
        text.row, stop.row, buttons("Tokens", ...more, turns.stop, button("Begin again", begin)),
        element("p", { class: "widget-label" }, "The token that comes"), lists.comes,
        element("p", { class: "widget-label" }, "Held back"), lists.held,
        element("p", { class: "widget-label" }, "Handed over"), handed,
        key(["new", "comes now, or goes out now"], ["kept", "held back"]),
        said,
    );

    function draw(out) {
        const { held, ended, done, within } = buffer;
        const last = came === 0 || came > tokens.length ? null : tokens[came - 1];
        lists.comes.replaceChildren(...(last === null ? [] : [tokenBox(last, "new")]));
        lists.held.replaceChildren(...held.map(({ token }) => tokenBox(token, "kept")));
        handed.replaceChildren(done.slice(0, done.length - out.length), ...(out === "" ? [] : [element("mark", {}, out)]));
        handed.scrollTop = handed.scrollHeight;
        said.textContent = why(out, within);
        place.dataset.shown = JSON.stringify({ came, held: held.map(({ token }) => token.id), done, ended });
        allow();
    }

    function why(out, within) {
        if (buffer.ended === "stop") return `The stop string ${visible(typed(stop))} is complete: the text ends before it.`;
        if (buffer.ended === "end") return `The text has ended. ${out === "" ? "Nothing was held back." : `What was held back goes out: ${visible(out)}.`}`;
        if (came === 0) return `${count(tokens.length, "token")} will come.`;
        const gone = out === "" ? "nothing goes out" : `${visible(out)} goes out`;
        const reasons = [];
        if (within > 0) reasons.push(`${count(within, "byte")} may become a character`);
        if (buffer.undecided > 0) reasons.push(`${visible(buffer.text().slice(-buffer.undecided))} may become the stop string`);
        return `Token ${came} of ${tokens.length}: ${gone}${reasons.length === 0 ? "" : `, since ${reasons.join(", and ")}`}.`;
    }

    allow();
    await opened;
    await begin();
};

/** The text of tokens, of which a part is held back. */
const stream = (() => {
    /** A buffer that ends the text before a stop string. */
    function buffer(stop) {
        const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
        const encoder = new TextEncoder();
        const self = {
            /** Tokens with their text, the oldest first. */
            held: [],
            /** The text that was handed over. */
            done: "",
            /** How many bytes at the end may become a character. */
            within: 0,
            /** How many letters at the end of the held text may become the stop string. */
            undecided: 0,
            /** Why the text has ended. */
            ended: null,
            text: () => self.held.map(({ text }) => text).join(""),
            push,
            finish,
        };

        /** Takes a token, and returns the text that goes out. */
        function push(token) {
            const text = decoder.decode(Uint8Array.from(token.bytes), { stream: true });
            self.within += token.bytes.length - encoder.encode(text).length;
            self.held.push({ token, text });
            // A token without text settles nothing.
            if (text === "") return "";
            if (cut()) return out(self.held.length);
            const whole = self.text();
            const lengths = [...stop].map((_, letters) => [...stop].slice(0, letters).join("").length);
            self.undecided = Math.max(0, ...lengths.filter((length) => length > 0 && whole.endsWith(stop.slice(0, length))));
            let [end, settled] = [0, 0];
            self.held.forEach((one, i) => {
                end += one.text.length;
                if (end <= whole.length - self.undecided && one.text !== "") settled = i + 1;
            });
            // If its character is never completed, the replacement must come with a token.
            if (settled === self.held.length && self.within > 0) settled -= 1;
            return out(settled);
        }

        /** Ends the text, and returns what was held back. */
        function finish() {
            const last = self.held.at(-1);
            const rest = decoder.decode();
            if (last !== undefined) last.text += rest;
            [self.within, self.undecided] = [0, 0];
            if (!cut()) self.ended = "end";
            return out(self.held.length);
        }

        function out(tokens) {
            const text = self.held.splice(0, tokens).map((one) => one.text).join("");
            self.done += text;
            return text;
        }

        /** Cuts the held text before a stop string, and says whether there was one. */
        function cut() {
            let left = stop === "" ? -1 : self.text().indexOf(stop);
            if (left < 0) return false;
            for (const one of self.held) {
                one.text = one.text.slice(0, left);
                left -= one.text.length;
            }
            [self.ended, self.undecided, self.within] = ["stop", 0, 0];
            return true;
        }
        return self;
    }

    return { buffer };
})();
