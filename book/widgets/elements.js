// What the widgets are built from: the browser's own controls with labels, and bars.
"use strict";

/** Each widget by its name: a function that fills an element, and resolves when you can use it. */
const widgets = {};

const elements = {
    ids: 0,

    /** An id that no other element of the page has, however many widgets it holds. */
    id(name) {
        elements.ids += 1;
        return `widget-${name}-${elements.ids}`;
    },

    /** An element with attributes, a text or children. */
    element(name, attributes = {}, ...children) {
        const svg = ["svg", "g", "rect", "path", "circle", "text", "title"].includes(name);
        const made = svg
            ? document.createElementNS("http://www.w3.org/2000/svg", name)
            : document.createElement(name);
        for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
        made.append(...children);
        return made;
    },

    /**
     * Fills a widget: its title, a line with something to try, and its parts. The figure that was
     * there before stays for print.
     */
    fill(place, title, ...parts) {
        const { element, id } = elements;
        const heading = element(`h${elements.level(place)}`, { class: "widget-title", id: id("title") }, title);
        place.setAttribute("role", "group");
        place.setAttribute("aria-labelledby", heading.id);
        const line = element("p", { class: "widget-try" }, place.dataset.try);
        place.querySelector(":scope > .widget-live").replaceChildren(heading, line, ...parts);
    },

    /** The level of a widget's heading: one below the page's heading above it. */
    level(place) {
        const above = [...document.querySelectorAll("main :is(h1, h2, h3, h4)")].filter((heading) =>
            !heading.closest(".widget")
            && heading.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING);
        return Number(above.at(-1)?.localName[1] ?? 1) + 1;
    },

    /** A slider with its label and its value: `show` formats the value, and `change` is called when it moves. */
    slider({ label, min, max, step, value, show, change }) {
        const { element } = elements;
        const input = element("input", { type: "range", min, max, step, value });
        const shown = element("span", { class: "widget-value" });
        const update = () => {
            shown.textContent = show(input.valueAsNumber);
            input.setAttribute("aria-valuetext", shown.textContent);
        };
        input.addEventListener("input", () => {
            update();
            change();
        });
        update();
        const name = element("span", {}, label);
        const row = element("label", { class: "widget-slider" }, name, input, shown);
        const set = (number) => {
            input.value = number;
            update();
        };
        return { row, input, set, value: () => input.valueAsNumber };
    },

    /** A line to type into, with its label. `change` is called at every letter. */
    field({ label, value, change, enter = () => {} }) {
        const { element } = elements;
        // More characters than any prompt that fits into the context.
        const input = element("input", {
            type: "text", value, maxlength: 20000, spellcheck: "false", autocomplete: "off",
        });
        input.addEventListener("input", change);
        input.addEventListener("keydown", (event) => {
            if (event.key === "Enter") enter();
        });
        return { row: element("label", { class: "widget-field" }, element("span", {}, label), input), input };
    },

    /**
     * A whole number, with its label. What you see is what is used: if you type a number that isn't
     * allowed, the nearest takes its place, and a hint tells you.
     */
    number({ label, min, max, value, change = () => {} }) {
        const { element } = elements;
        const hint = element("small", { class: "widget-hint", id: elements.id("hint"), role: "status" });
        const input = element("input", { type: "number", min, max, step: 1, value, "aria-describedby": hint.id });
        let used = value;
        const settle = () => {
            const typed = input.valueAsNumber;
            const inside = Number.isNaN(typed) ? used : Math.min(max, Math.max(min, Math.trunc(typed)));
            if (inside !== typed) {
                const range = `${min.toLocaleString("en")} to ${max.toLocaleString("en")}`;
                const what = Number.isNaN(typed) ? "That" : String(typed).replace("-", "−");
                hint.textContent = `${what} is not a whole number from ${range}, so ${inside} is used.`;
            }
            used = inside;
            if (input.value !== String(used)) input.value = used;
            return used;
        };
        input.addEventListener("input", () => { hint.textContent = ""; });
        input.addEventListener("change", () => {
            settle();
            change();
        });
        const row = element("span", { class: "widget-number" },
            element("label", {}, element("span", {}, `${label} `), input), hint);
        const set = (number) => {
            hint.textContent = "";
            input.value = number;
            used = number;
        };
        return { row, input, set, value: settle };
    },

    /**
     * A button. Even a disabled one keeps the focus: if it lost it, the keys that you press next would
     * go to the page.
     */
    button(label, press) {
        const made = elements.element("button", { type: "button", "aria-disabled": "false" }, label);
        made.addEventListener("click", () => {
            if (made.getAttribute("aria-disabled") !== "true") press();
        });
        return made;
    },

    /** Enables buttons, or disables them. */
    enable(buttons, isEnabled) {
        for (const button of buttons) button.setAttribute("aria-disabled", String(!isEnabled));
    },

    /** Buttons and controls in a row, which a screen reader announces together. */
    buttons(label, ...parts) {
        return elements.element("div", { class: "widget-buttons", role: "group", "aria-label": label }, ...parts);
    },

    /** A line of text that screen readers read when it changes. */
    output() {
        return elements.element("output", { class: "widget-output", "aria-live": "polite" });
    },

    /** What the colours of a widget stand for: pairs of a class and a word. */
    key(...entries) {
        const { element } = elements;
        return element("p", { class: "widget-key" }, ...entries.map(([kind, text]) =>
            element("span", {}, element("span", { class: `widget-swatch ${kind}` }), ` ${text}`)));
    },

    /** A bar of a share of the room that it has. */
    bar(share, kind) {
        const bar = elements.element("span", { class: `widget-bar ${kind}` });
        bar.style.width = `${100 * share}%`;
        return elements.element("span", { class: "widget-track", "aria-hidden": "true" }, bar);
    },

    /**
     * A row of tokens. You choose one with the pointer or the arrow keys, and `look` is called with its
     * index.
     */
    steps(label, look) {
        const { element } = elements;
        const before = element("b");
        const list = element("span", {
            class: "widget-steps", role: "listbox", tabindex: 0, "aria-label": label, "aria-orientation": "horizontal",
        });
        const box = element("div", { class: "widget-text" }, before, list);
        let [at, count] = [0, 0];
        list.addEventListener("keydown", (event) => {
            const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: count - 1 }[event.key];
            if (to === undefined || count === 0) return;
            event.preventDefault();
            look(Math.min(Math.max(to, 0), count - 1));
        });
        /** Draws the tokens, with `chosen` marked, after a text that isn't part of the list. */
        const draw = (tokens, chosen, text = "") => {
            [at, count] = [chosen, tokens.length];
            before.textContent = text;
            const spans = tokens.map((token, i) => {
                const span = element("span", { role: "option", "aria-selected": i === at, id: elements.id("step") }, token);
                if (i === at) span.className = "chosen";
                span.addEventListener("click", () => look(i));
                return span;
            });
            list.replaceChildren(...spans);
            if (count === 0) {
                list.removeAttribute("aria-activedescendant");
                return;
            }
            list.setAttribute("aria-activedescendant", spans[at].id);
            box.scrollTop = Math.max(0, spans[at].offsetTop - box.offsetTop - box.clientHeight / 2);
        };
        return { box, list, draw };
    },

    /** A token as a reader sees it: quoted, since most begin with a space, or the name of a special one. */
    name({ text, is_special: isSpecial }) {
        return isSpecial ? text : JSON.stringify(text);
    },

    /** A token in a list, with its bytes and its id. Spaces and line ends are marks. */
    tokenBox({ id, text, bytes, is_special: isSpecial }, kind = "") {
        const { element } = elements;
        const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
        const visible = text.replaceAll(" ", "␣").replaceAll("\n", "↵").replaceAll("\t", "⇥");
        return element("li", { class: isSpecial ? "special" : kind },
            element("code", {}, isSpecial ? text : visible),
            element("span", {}, isSpecial ? "special" : hex),
            element("span", {}, `id ${id}`));
    },

    percent(share) {
        const percent = 100 * share;
        if (percent > 0 && percent < 0.05) return "<0.1%";
        return `${percent.toFixed(1)}%`;
    },

    count(number, thing) {
        return `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;
    },
};
