// The page of the server: a prompt, its continuation token by token, and the next token's candidates.
"use strict";

const element = (id) => document.getElementById(id);

// ---- the API

/** The events of a stream (server-sent events), from text that arrives in pieces of any size. */
class EventParser {
    #line = "";
    #data = [];
    #begun = false;
    #afterReturn = false;

    /** Takes the next piece, and returns the data of the events that it completes. */
    push(text) {
        const events = [];
        for (const character of text) {
            // A line ends with \n, \r or both, and a piece may end between the two.
            const isSecondHalf = this.#afterReturn && character === "\n";
            this.#afterReturn = character === "\r";
            if (isSecondHalf) continue;
            if (character !== "\n" && character !== "\r") {
                this.#line += character;
                continue;
            }
            const data = this.#endOfLine();
            if (data !== null) events.push(data);
        }
        return events;
    }

    #endOfLine() {
        const line = this.#begun ? this.#line : this.#line.replace(/^\uFEFF/, "");
        this.#begun = true;
        this.#line = "";
        if (line === "") {
            const data = this.#data.length > 0 ? this.#data.join("\n") : null;
            this.#data = [];
            return data;
        }
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        // Other fields have no use here, and a line that begins with a colon is a comment.
        if (field === "data") this.#data.push(colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, ""));
        return null;
    }
}

/** What the server said in place of an answer; without a status, it said nothing. */
class Refusal extends Error {
    constructor(message, { status = null, retryAfter = null, key = null } = {}) {
        super(message);
        this.status = status;
        this.retryAfter = retryAfter;
        /** The API key that was sent. */
        this.key = key;
    }
}

const KEY = "slowburn-key";

async function ask(path, body, signal) {
    const headers = {};
    const key = sessionStorage.getItem(KEY);
    if (key) headers.authorization = `Bearer ${key}`;
    if (body) headers["content-type"] = "application/json";
    let response;
    try {
        response = await fetch(path, {
            method: body ? "POST" : "GET",
            headers,
            body: body && JSON.stringify(body),
            signal,
            cache: "no-store",
        });
    } catch (error) {
        if (signal?.aborted) throw error;
        throw new Refusal("The server does not answer. The page goes on when it is back.");
    }
    if (response.ok) return response;
    const said = await response.json().catch(() => null);
    throw new Refusal(said?.error?.message ?? `The server answered with status ${response.status}.`, {
        status: response.status,
        retryAfter: Number(response.headers.get("retry-after")) || null,
        key,
    });
}

/** The JSON objects of a stream, until it ends. */
async function* objects(response) {
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    const parser = new EventParser();
    for (;;) {
        // Where the connection breaks, the stream ends early, as where the server closes it.
        const { done, value } = await reader.read().catch(() => ({ done: true }));
        if (done) return;
        for (const data of parser.push(decoder.decode(value, { stream: true }))) {
            yield JSON.parse(data);
        }
    }
}

// ---- settings

/** The values of k that the slider goes through; the last one is 0, which keeps all tokens. */
let topKs = [1, 0];
let vocabSize = 0;

function setVocabSize(size) {
    if (vocabSize === size) return;
    vocabSize = size;
    const round = [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9];
    topKs = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    for (let scale = 10; scale < size; scale *= 10) {
        topKs.push(...round.map((k) => k * scale).filter((k) => k < size));
    }
    topKs.push(0);
    element("top_k").max = size;
    element("top_k-slider").max = topKs.length - 1;
    showSettings();
}

const percentOf = (value) => Number(value.toFixed(4)).toString();

/** Each number: what it is at first, how its slider shows it, and what it is in words. */
const FIELDS = {
    temperature: { first: 1, sampler: true },
    top_k: {
        first: 0,
        sampler: true,
        whole: true,
        toSlider: (k) => (k === 0 ? topKs.length - 1 : Math.max(0, topKs.findLastIndex((at) => at !== 0 && at <= k))),
        fromSlider: (position) => topKs[position],
        words: (k) => (k === 0 ? "all tokens" : `${k}`),
    },
    top_p: { first: 1, sampler: true },
    max_tokens: { first: 200, whole: true },
    seed: { first: null, whole: true },
};

const settings = {};
/** Whether each run has a new seed. */
let hasNewSeeds = true;

function resetSettings() {
    for (const [name, field] of Object.entries(FIELDS)) settings[name] = field.first ?? newSeed();
    hasNewSeeds = true;
}

function newSeed() {
    return crypto.getRandomValues(new Uint32Array(1))[0];
}

/** The number in a text; null where it is none that the field allows. */
function allowed(name, text) {
    const input = element(name);
    const value = text.trim() === "" ? NaN : Number(text);
    const isInRange = value >= Number(input.min) && (input.max === "" || value <= Number(input.max));
    return isInRange && (!FIELDS[name].whole || Number.isInteger(value)) ? value : null;
}

function showSettings(except) {
    for (const [name, field] of Object.entries(FIELDS)) {
        const input = element(name);
        if (input !== except) {
            input.value = settings[name];
            input.removeAttribute("aria-invalid");
        }
        const slider = element(`${name}-slider`);
        if (!slider) continue;
        if (slider !== except) slider.value = (field.toSlider ?? Number)(settings[name]);
        slider.setAttribute("aria-valuetext", (field.words ?? percentOf)(settings[name]));
    }
    element("new-seed").checked = hasNewSeeds;
}

/** The settings live in the address, so that it can be kept and passed on. */
function keepSettings() {
    const kept = new URLSearchParams();
    for (const [name, field] of Object.entries(FIELDS)) {
        const isKept = name === "seed" ? !hasNewSeeds : settings[name] !== field.first;
        if (isKept) kept.set(name, settings[name]);
    }
    const hash = kept.size > 0 ? `#${kept}` : "";
    if (hash !== location.hash) history.replaceState(null, "", hash || location.pathname);
}

function readSettings() {
    resetSettings();
    for (const [name, text] of new URLSearchParams(location.hash.slice(1))) {
        const value = name in FIELDS ? allowed(name, text) : null;
        if (value === null) continue;
        settings[name] = value;
        if (name === "seed") hasNewSeeds = false;
    }
    showSettings();
}

let keepLater;
function settingsChanged(except) {
    showSettings(except);
    // Browsers refuse to change the address many times a second.
    clearTimeout(keepLater);
    keepLater = setTimeout(keepSettings, 200);
}

function watchSettings() {
    for (const [name, field] of Object.entries(FIELDS)) {
        const input = element(name);
        input.addEventListener("input", () => {
            const value = allowed(name, input.value);
            if (value === null) {
                input.setAttribute("aria-invalid", "true");
                return;
            }
            input.removeAttribute("aria-invalid");
            settings[name] = value;
            if (name === "seed") hasNewSeeds = false;
            settingsChanged(input);
            if (field.sampler) candidates.refresh();
        });
        // What is no value of the setting gives way to the setting.
        input.addEventListener("change", () => showSettings());
        const slider = element(`${name}-slider`);
        slider?.addEventListener("input", () => {
            settings[name] = (field.fromSlider ?? Number)(slider.valueAsNumber);
            settingsChanged(slider);
            candidates.refresh();
        });
    }
    element("new-seed").addEventListener("change", (event) => {
        hasNewSeeds = event.target.checked;
        settingsChanged();
    });
    element("reset").addEventListener("click", () => {
        resetSettings();
        settingsChanged();
        candidates.refresh();
    });
    addEventListener("hashchange", () => {
        readSettings();
        candidates.refresh();
    });
}

function samplerSettings() {
    const { temperature, top_k, top_p } = settings;
    return { temperature, top_k, top_p };
}

// ---- bars

/** A token as one sees it: quoted, since most begin with a space. */
const quoted = (text) => JSON.stringify(text);

function percent(share) {
    const value = 100 * share;
    if (value === 0) return "0%";
    return value > 0 && value < 0.05 ? "<0.1%" : `${value.toFixed(1)}%`;
}

const count = (number, thing) => `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;

/** The rows of a table of bars. They stay, so that bars move from one value to the next. */
function makeRows(table, length) {
    const make = (name, className = "") => Object.assign(document.createElement(name), { className });
    return Array.from({ length }, () => {
        const row = table.tBodies[0].insertRow();
        const head = row.appendChild(Object.assign(make("th"), { scope: "row" }));
        const code = head.appendChild(make("code"));
        const track = row.insertCell().appendChild(make("span", "track"));
        track.ariaHidden = "true";
        const bars = ["sampled", "model"].map((kind) => track.appendChild(make("span", kind)));
        const numbers = [row.insertCell(), row.insertCell()];
        return { row, code, bars, numbers };
    });
}

/** Shows a candidate in a row, or nothing. */
function fillRow({ row, code, bars, numbers }, candidate) {
    row.classList.toggle("empty", !candidate);
    row.classList.toggle("removed", candidate?.sampled === 0);
    row.classList.toggle("chosen", candidate?.isChosen === true);
    const text = candidate ? quoted(candidate.token) : "";
    code.title = text;
    code.textContent = candidate?.isChosen ? `${text} ✓` : text;
    const { sampled, probability } = candidate ?? {};
    bars.forEach((bar, i) => { bar.style.width = `${100 * ([sampled, probability][i] ?? 0)}%`; });
    numbers.forEach((cell, i) => {
        const share = [probability, sampled][i];
        cell.textContent = share === undefined ? "" : percent(share);
    });
}

// ---- the text and its tokens

const SHOWN = 10;

const story = {
    /** What the first token came after. */
    base: "",
    /** Each with its `span`. */
    tokens: [],
    /** Tokens that have arrived and are not on the page yet. */
    waiting: [],
    frame: 0,
    /** The token that is selected, and the one under the pointer. */
    current: -1,
    pointed: -1,

    text() {
        return this.base + this.tokens.map(({ token }) => token).join("");
    },

    /** Whether the tokens follow what the prompt is now. */
    isFresh() {
        return this.tokens.length > 0 && this.base === element("prompt").value;
    },

    begin(base) {
        cancelAnimationFrame(this.frame);
        Object.assign(this, { base, tokens: [], waiting: [], frame: 0, current: -1, pointed: -1 });
        element("base").textContent = base;
        element("tokens").replaceChildren();
        element("story").scrollTop = 0;
        candidates.draw();
    },

    push(token) {
        this.tokens.push(token);
        this.waiting.push(token);
        // Many tokens may arrive before the next picture: they are drawn together.
        this.frame ||= requestAnimationFrame(() => this.draw());
    },

    draw() {
        cancelAnimationFrame(this.frame);
        this.frame = 0;
        const box = element("story");
        const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
        const first = this.tokens.length - this.waiting.length;
        const spans = this.waiting.map((token, i) => {
            const span = document.createElement("span");
            span.className = "token";
            span.textContent = token.token;
            span.classList.toggle("breaks", token.token.includes("\n"));
            span.classList.toggle("part", token.token === "");
            span.dataset.index = first + i;
            span.tabIndex = first + i === Math.max(this.current, 0) ? 0 : -1;
            const bits = -(token.logprob ?? 0) / Math.LN2;
            span.style.setProperty("--surprise", Math.min(bits / 8, 1).toFixed(3));
            token.span = span;
            return span;
        });
        this.waiting = [];
        element("tokens").append(...spans);
        if (isAtEnd) box.scrollTop = box.scrollHeight;
        candidates.drawArrows();
    },

    /** Keeps the candidates of one token on show; without one, those of the next token are. */
    select(index) {
        const token = this.tokens[index];
        for (const other of [this.tokens[0], this.tokens[this.current]]) {
            if (other?.span) other.span.tabIndex = -1;
            other?.span?.removeAttribute("aria-current");
        }
        this.current = token ? index : -1;
        this.pointed = -1;
        // One stop of the tab key for all tokens; the arrow keys go from one to the next.
        const stop = token ?? this.tokens[0];
        if (stop?.span) stop.span.tabIndex = 0;
        token?.span?.setAttribute("aria-current", "true");
        candidates.draw();
    },

    /** Shows the candidates of a token for as long as the pointer is on it. */
    point(index) {
        if (index === this.pointed) return;
        this.pointed = index;
        candidates.draw();
    },

    /** The token whose candidates are shown. */
    shown() {
        return this.pointed >= 0 ? this.pointed : this.current;
    },

    /** Moves the focus to a token. */
    go(index) {
        const token = this.tokens[Math.min(Math.max(index, 0), this.tokens.length - 1)];
        if (!token) return;
        if (!token.span) this.draw();
        token.span.focus({ preventScroll: true });
        token.span.scrollIntoView({ block: "nearest" });
    },

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
    },
};

function ordinal(n) {
    if (n === 1) return "the most likely";
    return `the ${n}${["th", "st", "nd", "rd"][n] ?? "th"} most likely`;
}

function watchStory() {
    const box = element("tokens");
    const index = (event) => Number(event.target.closest(".token")?.dataset.index ?? -1);
    box.addEventListener("focusin", (event) => index(event) >= 0 && story.select(index(event)));
    box.addEventListener("click", (event) => index(event) >= 0 && story.go(index(event)));
    // A finger that scrolls passes over tokens without meaning them.
    box.addEventListener("pointerover", (event) => event.pointerType === "mouse" && story.point(index(event)));
    box.addEventListener("pointerleave", () => story.point(-1));
    box.addEventListener("keydown", (event) => {
        const at = index(event);
        if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
        const targets = {
            ArrowLeft: () => at - 1,
            ArrowRight: () => at + 1,
            ArrowUp: () => story.inLine(at, -1),
            ArrowDown: () => story.inLine(at, 1),
            Home: () => 0,
            End: () => story.tokens.length - 1,
        };
        const target = targets[event.key];
        if (!target) return;
        event.preventDefault();
        story.go(target());
    });
    // The place after the last token is the next token's.
    const places = () => story.tokens.length;
    const place = () => (story.current < 0 ? places() : story.current);
    for (const [id, step] of [["previous", -1], ["next", 1]]) {
        press(id, () => {
            const to = place() + step;
            story.select(to < places() ? to : -1);
            story.tokens[to]?.span.scrollIntoView({ block: "nearest" });
        });
    }
}

// ---- generating

const ENDS = {
    eos: "end token",
    stop_id: "stop token",
    stop_string: "stop string",
    length: "max tokens",
    context: "full context",
    deadline: "time limit",
};

/** The run that is under way: its controller aborts it. */
let run = null;

async function generate({ anew = false } = {}) {
    if (run || isTooEarly()) return;
    hideProblem();
    if (anew || !story.isFresh()) story.begin(element("prompt").value);
    if (hasNewSeeds) {
        settings.seed = newSeed();
        showSettings();
    }
    const { max_tokens, seed } = settings;
    run = new AbortController();
    showState();
    candidates.pause();
    showStats(null);
    say("Generating…");
    const progress = setInterval(() => say(`${count(tokens, "token")} so far`), 5000);
    const begin = performance.now();
    let first = null;
    let tokens = 0;
    let end = null;
    let refusal = null;
    try {
        const body = { prompt: story.text(), max_tokens, seed, ...samplerSettings(), stream: true, logprobs: SHOWN };
        const response = await ask("generate", body, run.signal);
        for await (const object of objects(response)) {
            if (object.error) throw new Refusal(object.error.message, { status: response.status });
            if ("finish_reason" in object) {
                end = object;
            } else {
                first ??= performance.now();
                tokens += 1;
                story.push(object);
            }
        }
        if (!end) throw new Refusal("The connection broke off before the text had ended.");
    } catch (error) {
        if (!run.signal.aborted) refusal = error;
    }
    clearInterval(progress);
    story.draw();
    const wasStopped = run.signal.aborted;
    run = null;
    // Where the server did not come to the end, the page's own clock has to do.
    const seconds = (performance.now() - begin) / 1000;
    const seen = first === null ? null : (first - begin) / 1000;
    showStats({
        tokens,
        rate: end ? tokens / end.total_seconds : tokens / seconds,
        first: end ? end.ttft_seconds : seen,
        usage: end?.usage,
        end: end ? ENDS[end.finish_reason] ?? end.finish_reason : wasStopped ? "Stop" : "error",
    });
    say(`${count(tokens, "token")}, ${element("stat-end").textContent}`);
    if (end?.finish_reason === "eos" && tokens === 0) say("To the model, the text ends here");
    showState();
    if (refusal) showProblem(refusal, () => generate());
    else candidates.refresh();
}

function stop() {
    run?.abort();
}

function showStats(stats) {
    const show = (name, text) => { element(`stat-${name}`).textContent = text ?? "–"; };
    show("tokens", stats && stats.tokens.toLocaleString("en"));
    show("rate", stats?.tokens > 0 ? stats.rate.toFixed(stats.rate < 100 ? 1 : 0) : null);
    show("first", stats?.first != null ? `${(1000 * stats.first).toFixed(0)} ms` : null);
    const usage = stats?.usage;
    show("cached", usage && `${usage.prompt_tokens_details.cached_tokens} of ${usage.prompt_tokens}`);
    show("end", stats?.end);
}

/** Progress, for the eye and for screen readers. */
function say(text) {
    element("status").textContent = text;
}

/** Which buttons do something now. They stay focusable, so that the focus is not lost. */
function showState() {
    const isRunning = run !== null;
    const hasTokens = story.tokens.length > 0;
    setDisabled("generate", isRunning || isTooEarly());
    setDisabled("stop", !isRunning);
    setDisabled("again", isRunning || isTooEarly() || !hasTokens);
    setDisabled("edit", isRunning || !hasTokens);
    setDisabled("clear", isRunning || !hasTokens);
    element("generate").textContent = story.isFresh() ? "Continue" : "Generate";
    element("hint").hidden = isRunning || hasTokens;
    const isStale = hasTokens && !story.isFresh();
    element("story").classList.toggle("stale", isStale);
    if (isStale && !isRunning) say("The prompt has changed: Generate starts anew");
}

function setDisabled(id, isDisabled) {
    element(id).setAttribute("aria-disabled", String(isDisabled));
}

function press(id, action) {
    const button = element(id);
    button.addEventListener("click", () => button.ariaDisabled !== "true" && action());
}

function watchText() {
    const prompt = element("prompt");
    const kept = sessionStorage.getItem("slowburn-prompt");
    if (kept !== null) prompt.value = kept;
    prompt.addEventListener("input", () => {
        sessionStorage.setItem("slowburn-prompt", prompt.value);
        showState();
        candidates.refresh(250);
    });
    press("generate", () => generate());
    press("stop", stop);
    press("again", () => generate({ anew: true }));
    press("edit", () => {
        prompt.value = story.text();
        story.begin("");
        prompt.dispatchEvent(new Event("input"));
        say("The whole text is in the prompt");
        prompt.focus();
        prompt.setSelectionRange(prompt.value.length, prompt.value.length);
        prompt.scrollTop = prompt.scrollHeight;
    });
    press("clear", () => {
        story.begin("");
        showStats(null);
        showState();
        say("");
        candidates.refresh();
        prompt.focus();
    });
    addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            generate();
        } else if (event.key === "Escape") {
            if (run) stop();
            else story.select(-1);
        }
    });
    if (/Mac|iP(hone|ad)/.test(navigator.platform)) document.querySelector("kbd").textContent = "⌘";
}

// ---- the candidates of a place

const rows = makeRows(element("bars"), SHOWN + 1);

const candidates = {
    timer: 0,
    asked: null,
    /** What the server said of the next token after which text, or why it said nothing. */
    answer: null,
    after: null,
    fault: "",

    /** Asks anew, soon: a slider that is drawn makes many changes. */
    refresh(delay = 80) {
        clearTimeout(this.timer);
        if (run) return;
        story.select(-1);
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
        const token = story.tokens[story.shown()];
        element("bars").classList.toggle("of-text", token !== undefined);
        element("candidates-title").textContent = token ? `Token ${story.shown() + 1}` : "Next token";
        // Read aloud where someone has gone to a token, and not while they type.
        element("place").ariaLive = token ? "polite" : "off";
        if (token) this.drawToken(token);
        else this.drawNext();
        element("bars").classList.toggle("nothing", rows.every(({ row }) => row.classList.contains("empty")));
        this.drawArrows();
    },

    /** The candidates at the place of a token: it came with them. */
    drawToken(token) {
        const rank = token.top.findIndex(({ token_id }) => token_id === token.token_id);
        const probability = Math.exp(token.logprob);
        const shown = token.top.map((candidate, i) => ({ ...candidate, isChosen: i === rank }));
        if (rank < 0) shown.push({ token: token.token, probability, isChosen: true });
        rows.forEach((row, i) => fillRow(row, shown[i]));
        const place = rank < 0 ? `not among the ${token.top.length} most likely` : ordinal(rank + 1);
        element("place").textContent = `${quoted(token.token)} was chosen: ${percent(probability)}, ${place}`;
        const sum = token.top.reduce((sum, { probability }) => sum + probability, 0);
        element("summary").textContent = `The ${token.top.length} most likely have ${percent(Math.min(sum, 1))} together.`;
    },

    drawNext() {
        // What came after another prompt is no answer to this one. A run has no time to ask.
        const isKnown = this.after !== null && (run !== null || this.after === this.text());
        const text = (isKnown ? this.after : this.text()).replaceAll("\n", "↵");
        const end = text.length > 36 ? `…${text.slice(-36)}` : text;
        element("place").textContent = end === "" ? "At the beginning" : `After ${end}`;
        rows.forEach((row, i) => fillRow(row, isKnown ? this.answer?.candidates[i] : undefined));
        element("summary").textContent = isKnown ? this.fault || this.summary() : this.missing();
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
        const { current, tokens } = story;
        setDisabled("previous", tokens.length === 0 || current === 0);
        setDisabled("next", current < 0);
    },
};

// ---- what goes wrong

/** The server wants no request before this time, in milliseconds. */
let notBefore = 0;
let countdown = 0;

const isTooEarly = () => Date.now() < notBefore;

function waitFor({ retryAfter }) {
    notBefore = Math.max(notBefore, Date.now() + 1000 * (retryAfter ?? 1));
}

function hideProblem() {
    clearInterval(countdown);
    element("problem").hidden = true;
}

/** A message of the server, as a sentence of the page. */
function sentence(message) {
    const begun = message.charAt(0).toUpperCase() + message.slice(1);
    return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** Says what went wrong, and does what can be done about it. */
function showProblem(refusal, again = null) {
    hideProblem();
    if (refusal.status === 401) {
        askForKey(refusal, again);
        return;
    }
    const box = element("problem");
    const said = refusal instanceof Refusal ? refusal.message : `the page failed: ${refusal.message}`;
    const message = document.createElement("p");
    message.textContent = sentence(said);
    box.replaceChildren(message);
    box.hidden = false;
    if (refusal.status === 429) {
        waitFor(refusal);
        showWait(box);
    } else if (refusal.status === 503 || (refusal instanceof Refusal && refusal.status === null)) {
        waitForServer();
    } else if (!(refusal instanceof Refusal)) {
        console.error(refusal);
    }
}

/** Counts down for the eye; the message has said it for everyone. */
function showWait(box) {
    const left = document.createElement("p");
    left.ariaHidden = "true";
    box.append(left);
    const tick = () => {
        const seconds = Math.ceil((notBefore - Date.now()) / 1000);
        left.textContent = `${count(Math.max(seconds, 0), "second")} left`;
        if (seconds > 0) return;
        hideProblem();
        say("The server takes requests again");
        showState();
    };
    tick();
    showState();
    countdown = setInterval(tick, 500);
}

let watching = 0;

/** Asks until the server is there, then goes on. */
function waitForServer() {
    clearTimeout(watching);
    watching = setTimeout(async () => {
        try {
            const response = await fetch("ready", { cache: "no-store" });
            if (!response.ok) throw new Error();
        } catch {
            waitForServer();
            return;
        }
        hideProblem();
        say("The server is back");
        start();
    }, 1500);
}

/** What the key was needed for. */
let afterKey = null;

function askForKey(refusal, again) {
    const form = element("key-form");
    const isNew = form.hidden;
    afterKey = again ?? (isNew ? null : afterKey);
    // Several requests may have been refused for one key: each says so of the key that it had.
    const { key } = refusal;
    if (key === sessionStorage.getItem(KEY)) sessionStorage.removeItem(KEY);
    form.hidden = false;
    form.querySelector("label").textContent = key
        ? "This API key is not one of those that the server knows."
        : "This server needs an API key.";
    // Who pressed a button is waiting for this; a page that opens takes the focus from nobody.
    if (again || key) element("key").focus();
    candidates.draw();
    say("The server needs an API key");
}

function watchKey() {
    element("key-form").addEventListener("submit", (event) => {
        event.preventDefault();
        const input = element("key");
        const key = input.value.trim();
        // Nothing else can be sent in a header.
        if (!/^[\x21-\x7e]+$/.test(key)) {
            element("key-form").querySelector("label").textContent = "A key has no spaces, and only ASCII characters.";
            return;
        }
        sessionStorage.setItem(KEY, key);
        input.value = "";
        element("key-form").hidden = true;
        say("");
        const again = afterKey;
        afterKey = null;
        element("generate").focus();
        start();
        again?.();
    });
}

// ---- the beginning

/** Learns which model is here, and shows what it would say next. */
async function start() {
    try {
        const { data: [model] } = await (await ask("v1/models")).json();
        element("model").textContent = `${model.id}, ${model.max_model_len.toLocaleString("en")} tokens of context`;
        element("max_tokens").max = model.max_model_len;
        candidates.refresh(0);
    } catch (error) {
        showProblem(error);
    }
}

watchSettings();
watchStory();
watchText();
watchKey();
readSettings();
showState();
start();
