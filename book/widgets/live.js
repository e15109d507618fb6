// The engine of the pages: the crate itself, in a worker. A widget opens it by its kind, and asks it
// in JSON.
"use strict";

const live = (() => {
    // Without these, the pages keep their figures.
    const isPossible = typeof WebAssembly === "object" && typeof Worker === "function"
        && typeof DecompressionStream === "function" && location.protocol.startsWith("http");

    let files = null;
    let worker = null;
    let count = 0;
    const waiting = new Map();

    /** The address of a file of the engine. */
    async function address(file) {
        files ??= (async () => {
            const folder = new URL(`${path_to_root}live/`, location.href);
            const version = await fetch(new URL("version.json", folder), { cache: "no-cache" });
            if (!version.ok) throw new Error(`the engine is not there: ${version.status}`);
            return { folder, version: (await version.json()).version };
        })();
        const { folder, version } = await files;
        const url = new URL(file, folder);
        // The files of a version never change, so the browser keeps them for all pages.
        url.search = `?${version}`;
        return url;
    }

    /** What a JSON file beside the engine holds. */
    async function json(file) {
        const response = await fetch(await address(file));
        if (!response.ok) throw new Error(`${file}: ${response.status}`);
        return response.json();
    }

    /** The worker, which the first widget that is seen starts. */
    function start() {
        worker ??= (async () => {
            const started = new Worker(await address("worker.js"));
            await new Promise((resolve, reject) => {
                started.onerror = (event) => reject(new Error(event.message || "no worker"));
                started.onmessage = ({ data: { ready, failed } }) => {
                    if (ready) resolve();
                    if (failed) reject(new Error(failed));
                };
            });
            started.onmessage = ({ data: { number, answer, error, ms } }) => {
                const { resolve, reject } = waiting.get(number);
                waiting.delete(number);
                if (error === undefined) resolve({ answer, ms });
                else reject(new Error(error));
            };
            return started;
        })();
        return worker;
    }

    async function post(message) {
        const started = await start();
        const number = count++;
        return new Promise((resolve, reject) => {
            waiting.set(number, { resolve, reject });
            started.postMessage({ number, ...message });
        });
    }

    /**
     * A widget of the engine. `ask` sends a request, and `ms` is how long its last answer took to
     * compute. Nothing is loaded before the place is nearly in sight.
     */
    async function open(place, kind) {
        await near(place);
        const { answer: widget } = await post({ open: kind });
        const opened = {
            ms: 0,
            async ask(request) {
                const { answer, ms } = await post({ widget, request: JSON.stringify(request) });
                opened.ms = ms;
                return JSON.parse(answer);
            },
        };
        return opened;
    }

    /** Waits until a place is nearly in sight. */
    function near(place) {
        return new Promise((resolve) => {
            const observer = new IntersectionObserver((entries) => {
                if (!entries.some((entry) => entry.isIntersecting)) return;
                observer.disconnect();
                resolve();
            }, { rootMargin: "400px" });
            observer.observe(place);
        });
    }

    /**
     * A function that runs `work`, and once more where it was called meanwhile: a slider asks
     * faster than answers come, and only its last place matters.
     */
    function latest(work) {
        let isRunning = false;
        let isAsked = false;
        return async () => {
            isAsked = true;
            if (isRunning) return;
            isRunning = true;
            try {
                while (isAsked) {
                    isAsked = false;
                    await work();
                }
            } finally {
                isRunning = false;
            }
        };
    }

    /**
     * A function that runs `work` until `stop` is pressed, or the function is called again. `work`
     * gets a function that says whether it should go on. An error of it is written to `said`.
     */
    function stoppable({ stop, said, work, ended = () => {} }) {
        let running = null;
        stop.disabled = true;
        stop.addEventListener("click", () => { running = null; });
        return async () => {
            const mine = {};
            running = mine;
            stop.disabled = false;
            try {
                await work(() => running === mine);
            } catch (error) {
                said.textContent = `${error.message}.`;
            }
            // Unless another has begun meanwhile.
            if (running !== mine && running !== null) return;
            running = null;
            stop.disabled = true;
            ended();
        };
    }

    return { isPossible, open, json, latest, stoppable };
})();
