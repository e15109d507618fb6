// The page of the server: a conversation or a text, token by token, and what else the model considered.
"use strict";

const element = (id) => document.getElementById(id);

/** Progress, for the eye and for screen readers. */
function say(text) {
    element("status").textContent = text;
}

/** A button that does nothing now stays focusable, so that the focus is not lost. */
function setDisabled(id, isDisabled) {
    element(id).setAttribute("aria-disabled", String(isDisabled));
}

function press(id, action) {
    const button = element(id);
    button.addEventListener("click", () => button.ariaDisabled !== "true" && action());
}

// ---- the model, and what it writes

/** What the server says of its model. */
let model = null;

/** As many tokens as the context holds. */
const NO_LIMIT = -1;

/** The modes, and the most tokens in each where nobody has said another number. An answer ends by itself. */
const MODES = { conversation: NO_LIMIT, text: 400 };
let mode = null;
/** The one that somebody has chosen. */
let chosenMode = null;

/** A model with a chat template has learned to converse. */
const modeOfModel = () => (model?.chat_template ? "conversation" : "text");

function askedMode() {
    const asked = new URLSearchParams(location.hash.slice(1)).get("mode");
    return asked in MODES ? asked : null;
}

function setMode(next) {
    mode = next;
    document.querySelector("main").inert = false;
    for (const [name, maxTokens] of Object.entries(MODES)) {
        const isShown = name === mode;
        element(name).hidden = !isShown;
        document.querySelector(`[name="mode"][value="${name}"]`).checked = isShown;
        if (isShown) setFirstMaxTokens(maxTokens);
    }
    candidates.select();
    showState();
}

function watchMode() {
    element("modes").addEventListener("change", ({ target }) => {
        chosenMode = target.value;
        hideProblem();
        say("");
        setMode(chosenMode);
        candidates.refresh(0);
    });
    addEventListener("hashchange", () => {
        readSettings();
        chosenMode = askedMode() ?? chosenMode;
        // What is being written goes on.
        if (!run) setMode(chosenMode ?? modeOfModel());
        candidates.refresh();
    });
}

/** Learns which model is here, and what it can. */
async function start() {
    let refusal = null;
    try {
        model = await (await ask("props")).json();
        const context = model.default_generation_settings.n_ctx;
        element("model").textContent = `${model.model_alias}, ${context.toLocaleString("en")} tokens of context`;
        element("max_tokens").max = context;
        element("plain-note").hidden = model.chat_template !== "";
    } catch (error) {
        refusal = error;
    }
    if (!run) setMode(chosenMode ?? modeOfModel());
    if (refusal) showProblem(refusal);
    else candidates.refresh(0);
}

// ---- generating

/** The run that is under way: its controller aborts it. */
let run = null;

/** Asks for tokens, and hands each object of the answer to `take`, which says whether it is a "token" or the
    "end". Returns how it went. */
async function generateTokens(path, body, take) {
    run = new AbortController();
    const { signal } = run;
    showState();
    candidates.pause();
    say("Generating…");
    const begin = performance.now();
    const since = () => (performance.now() - begin) / 1000;
    let [tokens, first, hasEnded, refusal] = [0, null, false, null];
    const progress = setInterval(() => say(`${count(tokens, "token")} so far`), 5000);
    try {
        const response = await ask(path, body, signal);
        for await (const object of objects(response)) {
            const kind = take(object);
            hasEnded ||= kind === "end";
            if (kind !== "token") continue;
            first ??= since();
            tokens += 1;
        }
        if (!hasEnded) throw new Refusal("The connection broke off before the text had ended.");
    } catch (error) {
        if (!signal.aborted) refusal = error;
    }
    clearInterval(progress);
    run = null;
    return { tokens, first, seconds: since(), wasStopped: signal.aborted, refusal };
}

function stop() {
    run?.abort();
}

/** Which controls do something now. */
function showState() {
    element("modes").disabled = run !== null;
    showTextState();
    showConversationState();
}

/** The tokens that arrows go through where none is selected. */
const lastRun = () => (mode === "text" ? story.run : lastAnswer()?.run);

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

/** Says what went wrong, and does what can be done about it: with a key, `again` is done. The message stands
    behind the element `after`. */
function showProblem(refusal, { again = null, after = null } = {}) {
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
    (after ?? element(mode === "conversation" ? "compose" : "shortcuts")).after(box);
    box.hidden = false;
    if (refusal.status === 429) {
        waitFor(refusal);
        showWait(box);
    } else if (refusal.status === 503 || (refusal instanceof Refusal && refusal.status === null)) {
        waitForServer();
    } else if (!(refusal instanceof Refusal)) {
        console.error(refusal);
    }
    box.scrollIntoView({ block: "nearest" });
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
    const { key } = refusal;
    const current = sessionStorage.getItem(KEY);
    // Several requests may be refused for one key, and the last answer may come when there is another key.
    if (current !== null && key !== current) {
        again?.();
        return;
    }
    sessionStorage.removeItem(KEY);
    afterKey = again ?? (form.hidden ? null : afterKey);
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
        element(mode === "conversation" ? "message" : "generate").focus();
        start();
        again?.();
    });
}

// ---- the beginning

addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
        if (run) stop();
        else candidates.select();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && mode === "text") {
        event.preventDefault();
        generate();
    }
});

// The other scripts of the page are there by then.
addEventListener("DOMContentLoaded", () => {
    if (/Mac|iP(hone|ad)/.test(navigator.platform)) element("control").textContent = "⌘";
    watchSettings();
    watchTokens();
    watchText();
    watchConversation();
    watchMode();
    watchKey();
    readSettings();
    chosenMode = askedMode();
    if (chosenMode) setMode(chosenMode);
    start();
});
