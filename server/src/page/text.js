// A text that the model continues.
"use strict";

const ENDS = {
    eos: "end token",
    stop_id: "stop token",
    stop_string: "stop string",
    length: "max tokens",
    context: "full context",
    deadline: "time limit",
};

const story = {
    /** What the first token came after. */
    base: "",
    run: new TokenRun(element("story"), () => element("tokens")),

    get tokens() {
        return this.run.tokens;
    },

    text() {
        return this.base + this.tokens.map(({ text }) => text).join("");
    },

    /** Whether the tokens follow what the prompt is now. */
    isFresh() {
        return this.tokens.length > 0 && this.base === element("prompt").value;
    },

    begin(base) {
        this.run.forget();
        this.base = base;
        this.run = new TokenRun(element("story"), () => element("tokens"));
        element("base").textContent = base;
        element("tokens").replaceChildren();
        element("story").scrollTop = 0;
        candidates.select();
    },

    take({ token, token_id, logprob, top }) {
        const chosen = top.findIndex((candidate) => candidate.token_id === token_id);
        const name = top[chosen]?.token ?? token;
        this.run.push({ text: token, name, logprob, top, chosen });
    },
};

/** How often the prompt was continued again: each time with another seed. */
let textRepeats = 0;

async function generate({ anew = false } = {}) {
    if (run || isTooEarly()) return;
    hideProblem();
    if (anew || !story.isFresh()) story.begin(element("prompt").value);
    textRepeats = anew ? textRepeats + 1 : textRepeats;
    showStats(null);
    const body = { prompt: story.text(), ...samplingOptions(textRepeats), stream: true, logprobs: SHOWN };
    let end = null;
    const { tokens, seconds, first, wasStopped, refusal } = await generateTokens("generate", body, (object) => {
        if ("finish_reason" in object) {
            end = object;
            return "end";
        }
        story.take(object);
        return "token";
    });
    story.run.draw();
    // Where the server did not come to the end, the page's own clock has to do.
    showStats({
        tokens,
        rate: end ? tokens / end.total_seconds : tokens / seconds,
        first: end ? end.ttft_seconds : first,
        usage: end?.usage,
        end: end ? ENDS[end.finish_reason] ?? end.finish_reason : wasStopped ? "Stop" : "error",
    });
    say(`${count(tokens, "token")}, ${element("stat-end").textContent}`);
    if (end?.finish_reason === "eos" && tokens === 0) say("To the model, the text ends here");
    showState();
    if (refusal) showProblem(refusal, { again: generate });
    else candidates.refresh();
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

function showTextState() {
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

function watchText() {
    const prompt = element("prompt");
    const kept = sessionStorage.getItem("slowburn-prompt");
    if (kept !== null) prompt.value = kept;
    prompt.addEventListener("input", () => {
        sessionStorage.setItem("slowburn-prompt", prompt.value);
        textRepeats = 0;
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
        textRepeats = 0;
        showStats(null);
        showState();
        say("");
        candidates.refresh();
        prompt.focus();
    });
}
