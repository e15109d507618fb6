// A conversation: messages, and the answers to them.
"use strict";

function isJson(text) {
    try {
        JSON.parse(text);
        return true;
    } catch {
        return false;
    }
}

/** A copy of what a `<template>` holds. */
const copyOf = (id) => element(id).content.firstElementChild.cloneNode(true);

const AUTHORS = { user: "You", assistant: "Model", tool: "Tool" };

/** Whether thoughts are folded: as they were left last. */
let foldsThoughts = false;

/** A message, and how it is shown. */
class Message {
    text = "";
    /** Of an answer: what the model thought before it. */
    thought = "";
    /** Of an answer: the calls of tools, each with its `id`, `name`, `arguments` and the `box` of these. */
    calls = [];
    /** Of a result: the call that it answers. */
    call = null;
    /** What the answer took, in words. */
    took = "";
    /** Tokens that have arrived, and may be part of a call or a thought: their text comes with a later one. */
    #held = [];

    constructor({ role, text = "", thought = "", calls = [], call = null, took = "" }) {
        Object.assign(this, { role, text, thought, call });
        this.view = copyOf("message-view");
        this.view.classList.add(role);
        this.find("h2").textContent = call ? `Result of ${call.name}` : AUTHORS[role];
        this.run = new TokenRun(element("messages"), (token) => this.#boxOf(token));
        this.find(".thought .part").textContent = thought;
        this.find(".said").textContent = text;
        for (const { arguments: written, ...call } of calls) {
            this.#begin(call).append(written);
            this.calls.at(-1).arguments = written;
        }
        this.#showThought();
        this.note(took);
        this.retryButton = this.#button("Retry", retry);
        this.editButton = role === "user" ? this.#button("Edit", () => edit(this)) : null;
    }

    find(selector) {
        return this.view.querySelector(selector);
    }

    #button(text, action) {
        const button = this.find(".buttons").appendChild(make("button", "small"));
        Object.assign(button, { type: "button", textContent: text });
        button.addEventListener("click", () => button.ariaDisabled !== "true" && action());
        return button;
    }

    note(text) {
        this.took = text;
        this.find(".took").textContent = text;
    }

    /** Whether nothing was answered. */
    isEmpty() {
        return this.text.trim() === "" && this.thought === "" && this.calls.length === 0;
    }

    /** Adds what a chunk of the stream has. Whether it was a token. */
    take({ delta, logprobs }) {
        const [part] = delta.tool_calls ?? [];
        if (part?.id) this.#begin({ id: part.id, name: part.function.name });
        const thought = delta.reasoning_content ?? "";
        const text = part ? part.function.arguments : thought || (delta.content ?? "");
        const place = { call: part && this.calls[part.index], isThought: thought !== "" };
        if (part) place.call.arguments += text;
        else if (place.isThought) this.thought += text;
        else this.text += text;
        const [said] = logprobs?.content ?? [];
        if (said) this.#held.push({ ...tokenOf(said), text });
        if (part || text !== "") this.#settle(place);
        // What a token completes besides its own part of the message: the text before a call, or behind it.
        if (!said && text !== "") {
            this.run.draw();
            this.#boxOf(place).append(text);
        }
        this.#showThought();
        return said !== undefined;
    }

    /** The tokens that were held belong to a call, to the thought or to the text. */
    #settle(place) {
        for (const token of this.#held.splice(0)) this.run.push({ ...token, ...place });
    }

    /** Nothing more comes. */
    end() {
        this.#settle({ call: this.calls.at(-1), isThought: this.text === "" && this.thought !== "" });
        this.run.draw();
    }

    /** The element that a token belongs into. */
    #boxOf({ call, isThought }) {
        return call ? call.box : this.find(isThought ? ".thought .part" : ".said");
    }

    #showThought() {
        const thought = this.find(".thought");
        if (!thought.hidden || this.thought === "") return;
        thought.hidden = false;
        thought.open = !foldsThoughts;
        thought.querySelector("summary").addEventListener("click", () => { foldsThoughts = thought.open; });
    }

    /** A call begins. Returns the element for its arguments. */
    #begin(call) {
        const view = copyOf("call-view");
        view.querySelector(".name").textContent = call.name;
        this.find(".took").before(view);
        const box = view.querySelector(".part");
        this.calls.push({ ...call, arguments: "", box });
        return box;
    }

    /** The message as the server reads it. */
    wired() {
        const { role, text, thought, call } = this;
        const message = { role, content: text };
        if (call) message.tool_call_id = call.id;
        if (thought !== "" && model?.chat_template !== "") message.reasoning_content = thought;
        const calls = this.#wholeCalls();
        if (calls.length > 0) {
            message.tool_calls = calls.map(({ id, name, arguments: written }) => (
                { id, type: "function", function: { name, arguments: written } }
            ));
        }
        return message;
    }

    /** Without those that a stop has cut. */
    #wholeCalls() {
        return this.calls.filter((call) => isJson(call.arguments));
    }

    /** The message as it is kept. */
    kept() {
        const calls = this.calls.map(({ box, ...call }) => call);
        const { role, text, thought, call, took } = this;
        return { role, text, thought, calls, call: call && { id: call.id, name: call.name }, took };
    }

    /** Which buttons do something: the last message is answered again, or its calls are. */
    showState(isLast) {
        this.retryButton.hidden = !isLast;
        for (const button of this.find(".buttons").children) {
            button.setAttribute("aria-disabled", String(run !== null || isTooEarly()));
        }
        const calls = isLast && run === null ? this.#wholeCalls() : [];
        if (calls.length === 0) this.results?.remove();
        else if (!this.results?.isConnected) this.#askForResults(calls);
    }

    /** Fields for what the tools return. */
    #askForResults(calls) {
        this.results = make("form", "results");
        const fields = calls.map((call) => {
            const label = this.results.appendChild(make("label"));
            label.append(`What ${call.name} returns`);
            return label.appendChild(Object.assign(make("textarea", "code"), { rows: 2, required: true }));
        });
        this.results.appendChild(make("button")).textContent = calls.length === 1 ? "Send the result" : "Send the results";
        this.find(".took").after(this.results);
        this.results.addEventListener("submit", (event) => {
            event.preventDefault();
            if (!canAsk()) return;
            const results = fields.map(({ value }, i) => new Message({ role: "tool", text: value, call: calls[i] }));
            setMessages([...conversation.messages, ...results]);
            answer();
        });
    }
}

// ---- what is said

const conversation = {
    /** All messages but that of the system, the oldest first. */
    messages: [],
    /** How often the last one was answered again: each time with another seed. */
    repeats: 0,
};

const lastAnswer = () => conversation.messages.findLast(({ run }) => run.tokens.length > 0);

function setMessages(messages) {
    const log = element("messages");
    for (const { view } of conversation.messages) view.remove();
    log.append(...messages.map(({ view }) => view));
    log.scrollTop = log.scrollHeight;
    conversation.messages = messages;
    candidates.select();
    keepConversation();
}

/** The conversation outlives a reload, and nothing else. */
function keepConversation() {
    const [system, tools] = [element("system").value, element("tools").value];
    const messages = conversation.messages.map((message) => message.kept());
    sessionStorage.setItem("slowburn-conversation", JSON.stringify({ system, tools, messages }));
}

function readConversation() {
    const { system = "", tools = "", messages = [] } = JSON.parse(sessionStorage.getItem("slowburn-conversation")) ?? {};
    element("system").value = system;
    element("tools").value = tools;
    element("tools-box").open = tools !== "";
    setMessages(messages.map((message) => new Message(message)));
}

/** The tools that the model may call; null where what was written is no list of tools. */
function readTools() {
    const problem = element("tools-problem");
    problem.textContent = "";
    const written = element("tools").value;
    if (written.trim() === "") return [];
    try {
        const tools = JSON.parse(written);
        if (Array.isArray(tools)) return tools;
        problem.textContent = "The tools are not a list: put them between [ and ].";
    } catch (error) {
        problem.textContent = `The tools are not JSON: ${sentence(error.message)}`;
    }
    element("tools-box").open = true;
    element("tools").focus();
    return null;
}

/** Whether the model can be asked now. */
const canAsk = () => run === null && !isTooEarly() && readTools() !== null;

/** A token of the stream, as the page has it. */
function tokenOf({ token, bytes, logprob, top_logprobs }) {
    // Tokens that are parts of characters look alike.
    const isSame = (other) => other.token === token && String(other.bytes) === String(bytes);
    const top = top_logprobs.map(({ token, logprob }) => ({ token, probability: Math.exp(logprob) }));
    return { name: token, logprob, top, chosen: top_logprobs.findIndex(isSame) };
}

function chatRequest() {
    const system = element("system").value.trim();
    const messages = conversation.messages.map((message) => message.wired());
    if (system !== "") messages.unshift({ role: "system", content: system });
    const request = { messages, ...samplingOptions(conversation.repeats), logprobs: true, top_logprobs: SHOWN };
    const tools = readTools() ?? [];
    if (tools.length > 0) request.tools = tools;
    // Without a template, an answer is the rest of a paragraph.
    if (model?.chat_template === "") request.stop = ["\n\n"];
    return { ...request, stream: true, stream_options: { include_usage: true } };
}

/** Answers the last message. Without an answer, what was said stays, or `putBack` restores what it was meant to
    replace, and returns the element where that can be seen. */
async function answer(putBack = null) {
    hideProblem();
    conversation.messages.at(-1).note("");
    const request = chatRequest();
    const reply = new Message({ role: "assistant" });
    setMessages([...conversation.messages, reply]);
    // The button that was pressed may be gone with its message.
    if (document.activeElement === document.body) element("stop-answer").focus({ preventScroll: true });
    let [usage, reason] = [null, null];
    const went = await generateTokens("v1/chat/completions", request, (chunk) => {
        usage = chunk.usage ?? usage;
        const [choice] = chunk.choices;
        if (!choice) return null;
        const isToken = reply.take(choice);
        reason = choice.finish_reason ?? reason;
        if (choice.finish_reason) return "end";
        return isToken ? "token" : null;
    });
    reply.end();
    const { refusal } = went;
    let after = reply.view;
    if (reply.isEmpty() || (refusal && putBack)) {
        setMessages(conversation.messages.slice(0, -1));
        after = putBack?.() ?? conversation.messages.at(-1).view;
        if (!refusal && !putBack) conversation.messages.at(-1).note("No answer: Retry asks again, with the next seed");
    } else {
        keepEnd(element("messages"), () => {
            reply.note(inWords(went, usage, reason));
            showState();
        });
        if (!refusal) candidates.select(reply.run.tokens[0], { isQuiet: true });
    }
    say(refusal ? "" : `${count(went.tokens, "token")}${went.wasStopped ? ", stopped" : ""}`);
    keepConversation();
    showState();
    if (refusal) showProblem(refusal, { after, again: putBack ? null : answer });
}

/** What an answer took, and why it ended where that is not by itself. */
function inWords({ tokens, first, seconds, wasStopped, refusal }, usage, reason) {
    const words = [];
    if (usage) {
        const { prompt_tokens, prompt_tokens_details } = usage;
        words.push(`${prompt_tokens_details.cached_tokens} of ${prompt_tokens} prompt tokens from the cache`);
    }
    words.push(count(tokens, "token"));
    if (tokens > 1) words.push(`${((tokens - 1) / Math.max(seconds - first, 1e-3)).toFixed(0)} tokens/s`);
    const context = model?.default_generation_settings.n_ctx;
    if (wasStopped) words.push("stopped");
    else if (refusal) words.push("broken off");
    else if (reason === "length" && usage?.total_tokens >= context) words.push("the context is full");
    else if (reason === "length") words.push("as long as it may be");
    return words.join(", ");
}

function send() {
    const field = element("message");
    const text = field.value.trim();
    if (text === "" || !canAsk()) return;
    field.value = "";
    conversation.repeats = 0;
    setMessages([...conversation.messages, new Message({ role: "user", text })]);
    answer();
    field.focus();
}

function retry() {
    if (!canAsk()) return;
    conversation.repeats += 1;
    const before = conversation.messages;
    if (before.at(-1).role !== "assistant") {
        answer();
        return;
    }
    setMessages(before.slice(0, -1));
    answer(() => {
        setMessages(before);
        return before.at(-1).view;
    });
}

/** Lets a message be written anew. What came after it goes once it is sent, and comes back where that fails. */
function edit(message, text = message.text) {
    const form = copyOf("edit-view");
    const [field, said] = [form.querySelector("textarea"), message.find(".said")];
    const show = (isEdited) => {
        said.hidden = isEdited;
        message.editButton.hidden = isEdited;
        if (isEdited) said.after(form);
        else form.remove();
    };
    field.value = text;
    form.addEventListener("reset", () => {
        show(false);
        message.editButton.focus();
    });
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        const changed = field.value.trim();
        if (changed === "" || !canAsk()) return;
        show(false);
        const before = conversation.messages;
        conversation.repeats = 0;
        setMessages([...before.slice(0, before.indexOf(message)), new Message({ role: "user", text: changed })]);
        answer(() => {
            setMessages(before);
            edit(message, changed);
            return message.view;
        });
    });
    show(true);
    field.focus();
}

function showConversationState() {
    const { messages } = conversation;
    setDisabled("send", run !== null || isTooEarly());
    setDisabled("stop-answer", run === null);
    setDisabled("clear-messages", run !== null || messages.length === 0);
    element("greeting").hidden = messages.length > 0;
    // What is read aloud is the answer, and not each of its tokens.
    element("messages").ariaBusy = String(run !== null);
    messages.forEach((message, i) => message.showState(i === messages.length - 1));
}

const EXAMPLE = [{
    type: "function",
    function: {
        name: "sound_of",
        description: "The sound that an animal makes",
        parameters: {
            type: "object",
            properties: { animal: { type: "string" } },
            required: ["animal"],
        },
    },
}];

function watchConversation() {
    element("compose").addEventListener("submit", (event) => {
        event.preventDefault();
        send();
    });
    element("conversation").addEventListener("keydown", (event) => {
        const { target: { localName, form }, key, shiftKey, isComposing } = event;
        if (localName !== "textarea" || !form || isComposing) return;
        if (key === "Escape" && run === null) form.querySelector("[type=reset]")?.click();
        if (key !== "Enter" || shiftKey) return;
        event.preventDefault();
        form.requestSubmit();
    });
    press("stop-answer", stop);
    press("clear-messages", () => {
        hideProblem();
        setMessages([]);
        conversation.repeats = 0;
        showState();
        say("");
        element("message").focus();
    });
    element("system").addEventListener("input", keepConversation);
    element("tools").addEventListener("input", () => {
        element("tools-problem").textContent = "";
        keepConversation();
    });
    element("tools-example").addEventListener("click", () => {
        element("tools").value = JSON.stringify(EXAMPLE, null, 2);
        element("tools").setSelectionRange(0, 0);
        element("tools").focus();
        element("tools-problem").textContent = "";
        keepConversation();
    });
    readConversation();
}
