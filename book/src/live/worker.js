// The engine in a thread of its own, so that the page stays responsive. It loads the crate and its
// weights once, and then answers one request after the other.
"use strict";

const { search } = new URL(self.location.href);
importScripts(`slowburn_live.js${search}`);

/** The bytes of all files that have come so far. */
let loaded = 0;

/** Reads a file, and tells the page how much has come. */
async function load(file) {
    const response = await fetch(`${file}${search}`);
    if (!response.ok) throw new Error(`${file}: ${response.status}`);
    const parts = [];
    const reader = response.body.getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
        parts.push(read.value);
        loaded += read.value.length;
        postMessage({ loaded });
    }
    return new Blob(parts).arrayBuffer();
}

/** The bytes of a file that is compressed, unless the server has said so and the browser has undone it. */
async function unpack(bytes) {
    const [first, second] = new Uint8Array(bytes, 0, 2);
    if (first !== 0x1f || second !== 0x8b) return bytes;
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
}

const engine = (async () => {
    const [module, weights] = await Promise.all([
        load("slowburn_live_bg.wasm.gz").then(unpack),
        load("ember.gguf"),
    ]);
    await wasm_bindgen({ module_or_path: module });
    return new wasm_bindgen.Engine(new Uint8Array(weights));
})();

engine.then(() => postMessage({ ready: true }), (error) => postMessage({ failed: String(error) }));

self.onmessage = async ({ data: { number, open, widget, request } }) => {
    const begin = performance.now();
    try {
        const running = await engine;
        const answer = open === undefined ? running.ask(widget, request) : running.open(open);
        postMessage({ number, answer, ms: performance.now() - begin });
    } catch (error) {
        postMessage({ number, error: error instanceof Error ? error.message : String(error) });
    }
};
