// What the server is asked, and what it answers.
"use strict";

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
            if (data === "[DONE]") return;
            const object = JSON.parse(data);
            if (object.error) throw new Refusal(object.error.message, { status: response.status });
            yield object;
        }
    }
}
