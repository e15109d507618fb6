// Tokens on the page, and the candidates at the place of each.
"use strict";

const SHOWN = 10;

// ---- words

/** A token as one sees it: quoted, since most begin with a space. */
const quoted = (text) => JSON.stringify(text);

function percent(share) {
    const value = 100 * share;
    if (value === 0) return "0%";
    return value > 0 && value < 0.05 ? "<0.1%" : `${value.toFixed(1)}%`;
}

const count = (number, thing) => `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;

function ordinal(n) {
    if (n === 1) return "the most likely";
    return `the ${n}${["th", "st", "nd", "rd"][n] ?? "th"} most likely`;
}

const make = (name, className = "") => Object.assign(document.createElement(name), { className });

// ---- bars

/** The rows of a table of bars. They stay, so that bars move from one value to the next. */
function makeRows(table, length) {
    return Array.from({ length }, () => {
        const row = table.tBodies[0].insertRow();
        const head = row.appendChild(Object.assign(make("th"), { scope: "row" }));
        const name = head.appendChild(make("span", "name"));
        const code = name.appendChild(make("code"));
        const mark = name.appendChild(make("span", "mark"));
        const track = row.insertCell().appendChild(make("span", "track"));
        track.ariaHidden = "true";
        const bars = ["model", "sampled"].map((kind) => track.appendChild(make("span", kind)));
        const numbers = [row.insertCell(), row.insertCell()];
        return { row, code, mark, bars, numbers };
    });
}

/** Shows a candidate in a row, or nothing. */
function fillRow({ row, code, mark, bars, numbers }, candidate) {
    row.classList.toggle("empty", !candidate);
    row.classList.toggle("removed", candidate?.sampled === 0);
    row.classList.toggle("chosen", candidate?.isChosen === true);
    code.textContent = candidate ? quoted(candidate.token) : "";
    code.title = code.textContent;
    mark.textContent = candidate?.isChosen ? " ✓" : "";
    const { sampled, probability } = candidate ?? {};
    [probability, sampled].forEach((share, i) => {
        bars[i].style.width = `${100 * (share ?? 0)}%`;
        numbers[i].textContent = share === undefined ? "" : percent(share);
    });
}

// ---- tokens

const tokenOfSpan = new WeakMap();

/** The tokens of one text, each in an element. They are drawn as they arrive. */
class TokenRun {
    tokens = [];
    /** Tokens that have arrived and are not on the page yet. */
    #waiting = [];
    #frame = 0;
    #scroller;
    #boxOf;

    /** `boxOf` says into which element a token belongs, and `scroller` is what scrolls around them all. */
    constructor(scroller, boxOf) {
        this.#scroller = scroller;
        this.#boxOf = boxOf;
    }

    /** A token: its `text`, its `name`, its `logprob`, the `top` candidates, and which of them it is: `chosen`. */
    push(token) {
        Object.assign(token, { run: this, index: this.tokens.length });
        this.tokens.push(token);
        this.#waiting.push(token);
        // Many tokens may arrive before the next picture: they are drawn together.
        this.#frame ||= requestAnimationFrame(() => this.draw());
    }

    draw() {
        this.forget();
        keepEnd(this.#scroller, () => {
            for (const token of this.#waiting) this.#boxOf(token).append(this.#span(token));
        });
        this.#waiting = [];
        candidates.drawArrows();
    }

    /** Draws nothing more. */
    forget() {
        cancelAnimationFrame(this.#frame);
        this.#frame = 0;
    }

    #span(token) {
        const span = make("span", "token");
        span.textContent = token.text;
        span.classList.toggle("breaks", token.text.includes("\n"));
        span.classList.toggle("part", token.text === "");
        span.tabIndex = token.index === 0 ? 0 : -1;
        span.style.setProperty("--surprise", Math.min(-token.logprob / Math.LN2 / 8, 1).toFixed(3));
        token.span = span;
        tokenOfSpan.set(span, token);
        return span;
    }

    /** Makes a token the one stop of the tab key in this text; the arrow keys go from one to the next. */
    stopAt(token) {
        for (const { span } of this.tokens) if (span?.tabIndex === 0) span.tabIndex = -1;
        token.span.tabIndex = 0;
    }

    /** Moves the focus to a token. */
    go(index) {
        const token = this.tokens[Math.min(Math.max(index, 0), this.tokens.length - 1)];
        if (!token) return;
        if (!token.span) this.draw();
        const fold = token.span.closest("details");
        if (fold) fold.open = true;
        token.span.focus({ preventScroll: true });
        token.span.scrollIntoView({ block: "nearest" });
    }

    /** The token above or below another one. */
    inLine(index, direction) {
        const box = (i) => this.tokens[i].span.getClientRects()[0] ?? this.tokens[i].span.getBoundingClientRect();
        const here = box(index);
        const x = here.left + here.width / 2;
        let best = index;
        let line = null;
        for (let i = index + direction; this.tokens[i]?.span; i += direction) {
            const there = box(i);
            if (Math.abs(there.top - here.top) < here.height / 2) continue;
            line ??= there.top;
            if (Math.abs(there.top - line) > here.height / 2) break;
            const distance = (rect) => Math.abs(rect.left + rect.width / 2 - x);
            if (best === index || distance(there) < distance(box(best))) best = i;
        }
        return best;
    }
}

/** Changes what a scrolling element holds; who reads its end goes on to do so. */
function keepEnd(scroller, change) {
    const isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 40;
    change();
    if (isAtEnd) scroller.scrollTop = scroller.scrollHeight;
}

function watchTokens() {
    const tokenAt = (event) => tokenOfSpan.get(event.target.closest?.(".token"));
    addEventListener("focusin", (event) => tokenAt(event) && candidates.select(tokenAt(event)));
    addEventListener("click", (event) => {
        const token = tokenAt(event);
        token?.run.go(token.index);
    });
    // A finger that scrolls passes over tokens without meaning them.
    addEventListener("pointerover", (event) => event.pointerType === "mouse" && candidates.point(tokenAt(event)));
    addEventListener("keydown", (event) => {
        const token = tokenAt(event);
        if (!token || event.ctrlKey || event.metaKey || event.altKey) return;
        const { run, index } = token;
        const targets = {
            ArrowLeft: () => index - 1,
            ArrowRight: () => index + 1,
            ArrowUp: () => run.inLine(index, -1),
            ArrowDown: () => run.inLine(index, 1),
            Home: () => 0,
            End: () => run.tokens.length - 1,
        };
        const target = targets[event.key];
        if (!target) return;
        event.preventDefault();
        run.go(target());
    });
    for (const [id, step] of [["previous", -1], ["next", 1]]) {
        press(id, () => {
            const { selected } = candidates;
            const run = selected?.run ?? lastRun();
            // The place after the last token is the next token's.
            const token = run.tokens[(selected?.index ?? run.tokens.length) + step];
            candidates.select(token);
            token?.span?.scrollIntoView({ block: "nearest" });
        });
    }
}

// ---- the candidates of a place

const rows = makeRows(element("bars"), SHOWN + 1);

const candidates = {
    /** The token that is selected, and the one under the pointer. */
    selected: undefined,
    pointed: undefined,
    isQuiet: false,
    timer: 0,
    asked: null,
    /** What the server said of the next token after which text, or why it said nothing. */
    answer: null,
    after: null,
    fault: "",

    /** Keeps the candidates of one token on show; without one, those of the next token are. */
    select(token, { isQuiet = false } = {}) {
        this.selected?.span?.removeAttribute("aria-current");
        Object.assign(this, { selected: token, pointed: undefined, isQuiet });
        if (token && !token.span) token.run.draw();
        token?.span.setAttribute("aria-current", "true");
        token?.run.stopAt(token);
        this.draw();
    },

    /** Shows the candidates of a token for as long as the pointer is on it. */
    point(token) {
        if (token === this.pointed) return;
        Object.assign(this, { pointed: token, isQuiet: false });
        this.draw();
    },

    /** The token whose candidates are shown. */
    shown() {
        return this.pointed ?? this.selected;
    },

    /** Asks anew, soon: a slider that is drawn makes many changes. Only of a text is the next token known
        before it is there. */
    refresh(delay = 80) {
        clearTimeout(this.timer);
        if (run || mode !== "text") return;
        this.select();
        // The next request that a server with a rate limit takes is for what someone does.
        if (isTooEarly()) return;
        this.timer = setTimeout(() => this.ask(), delay);
    },

    /** A run has the server to itself. */
    pause() {
        clearTimeout(this.timer);
        this.asked?.abort();
    },

    text() {
        return story.isFresh() ? story.text() : element("prompt").value;
    },

    async ask() {
        this.asked?.abort();
        const asked = new AbortController();
        this.asked = asked;
        const after = this.text();
        try {
            const body = { prompt: after, count: SHOWN, ...samplerSettings() };
            const response = await ask("candidates", body, asked.signal);
            const answer = await response.json();
            if (asked.signal.aborted) return;
            Object.assign(this, { answer, after, fault: "" });
            setVocabSize(answer.vocab_size);
        } catch (error) {
            if (asked.signal.aborted) return;
            if (error.status === 400) {
                Object.assign(this, { answer: null, after, fault: sentence(error.message) });
            } else {
                showProblem(error);
            }
        }
        this.draw();
    },

    draw() {
        const token = this.shown();
        element("bars").classList.toggle("of-text", token !== undefined);
        // Read aloud where someone has gone to a token, and not while they type.
        element("place").ariaLive = token && !this.isQuiet ? "polite" : "off";
        if (token) this.drawToken(token);
        else if (mode === "text") this.drawNext();
        else this.drawNone();
        element("bars").classList.toggle("nothing", rows.every(({ row }) => row.classList.contains("empty")));
        this.drawArrows();
    },

    /** The candidates at the place of a token: they came with it. */
    drawToken({ name, index, logprob, top, chosen }) {
        const probability = Math.exp(logprob);
        const shown = top.map((candidate, i) => ({ ...candidate, isChosen: i === chosen }));
        if (chosen < 0) shown.push({ token: name, probability, isChosen: true });
        rows.forEach((row, i) => fillRow(row, shown[i]));
        const place = chosen < 0 ? `not among the ${top.length} most likely` : ordinal(chosen + 1);
        const sum = top.reduce((sum, { probability }) => sum + probability, 0);
        this.say(
            `Token ${index + 1}`,
            `${quoted(name)} was chosen: ${percent(probability)}, ${place}`,
            `The ${top.length} most likely have ${percent(Math.min(sum, 1))} together.`,
        );
    },

    drawNext() {
        // What came after another prompt is no answer to this one. A run has no time to ask.
        const isKnown = this.after !== null && (run !== null || this.after === this.text());
        const text = (isKnown ? this.after : this.text()).replaceAll("\n", "↵");
        const end = text.length > 36 ? `…${text.slice(-36)}` : text;
        rows.forEach((row, i) => fillRow(row, isKnown ? this.answer?.candidates[i] : undefined));
        this.say(
            "Next token",
            end === "" ? "At the beginning" : `After ${end}`,
            isKnown ? this.fault || this.summary() : this.missing(),
        );
    },

    drawNone() {
        rows.forEach((row) => fillRow(row));
        this.say("Candidates", "Choose a token in an answer", this.missing());
    },

    say(title, place, summary) {
        element("candidates-title").textContent = title;
        element("place").textContent = place;
        element("summary").textContent = summary;
    },

    /** Why there is nothing to show. */
    missing() {
        return element("key-form").hidden ? "" : "The candidates are shown when the server has its API key.";
    },

    summary() {
        if (!this.answer) return "";
        const { candidates, survivors, vocab_size, entropy_bits } = this.answer;
        const sum = candidates.reduce((sum, { sampled }) => sum + sampled, 0);
        return `The rules keep ${survivors.toLocaleString("en")} of ${count(vocab_size, "token")}; `
            + `entropy ${entropy_bits.toFixed(2)} bits. Those shown have ${percent(Math.min(sum, 1))} together.`;
    },

    drawArrows() {
        const { selected } = this;
        const length = (selected?.run ?? lastRun())?.tokens.length ?? 0;
        setDisabled("previous", length === 0 || selected?.index === 0);
        setDisabled("next", selected === undefined);
    },
};
