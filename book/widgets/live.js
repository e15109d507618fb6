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

    /** Where the files of the engine are, their version, and how many bytes a page loads. */
    function list() {
        files ??= (async () => {
            const folder = new URL(`${path_to_root}live/`, location.href);
            const found = await fetch(new URL("version.json", folder), { cache: "no-cache" });
            if (!found.ok) throw new Error(`the engine's files are missing (${found.status})`);
            return { folder, ...await found.json() };
        })();
        return files;
    }

    /** The address of a file of the engine. */
    async function address(file) {
        const { folder, version } = await list();
        const url = new URL(file, folder);
        // The files of a version never change, so the browser keeps them for all pages.
        url.search = `?${version}`;
        return url;
    }

    /** The contents of a JSON file next to the engine. */
    async function json(file) {
        const response = await fetch(await address(file));
        if (!response.ok) throw new Error(`${file}: ${response.status}`);
        return response.json();
    }

    /** Widgets that wait for the engine: where each shows the progress. */
    const loading = new Set();

    /** Shows how much is loaded, in tenths, because a screen reader reads every change. */
    function progress(loaded, bytes) {
        const tenths = Math.min(10, Math.floor((10 * loaded) / bytes));
        const text = `Loading ${(bytes / 1e6).toFixed(1)} MB: ${10 * tenths}%.`;
        for (const said of loading) {
            if (said.textContent !== text) said.textContent = text;
        }
    }

    /** The worker, started by the first widget that comes into sight. */
    function start() {
        worker ??= (async () => {
            const { bytes } = await list();
            progress(0, bytes);
            const started = new Worker(await address("worker.js"));
            await new Promise((resolve, reject) => {
                started.onerror = (event) => reject(new Error(event.message || "no worker"));
                started.onmessage = ({ data: { ready, failed, loaded } }) => {
                    if (loaded !== undefined) progress(loaded, bytes);
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
     * compute. Nothing is loaded before the place is nearly in sight; then `said` shows the progress.
     */
    async function open(place, kind, said) {
        await near(place);
        const before = said.textContent;
        loading.add(said);
        let widget;
        try {
            ({ answer: widget } = await post({ open: kind }));
        } finally {
            loading.delete(said);
            said.textContent = before;
        }
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
     * A function that runs `work`, and once more if it was called meanwhile: a slider asks faster
     * than answers come, and only its last position matters.
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
     * A function that calls `draw` at the next frame, once, however often you call it before. Its `now`
     * draws at once instead.
     */
    function eachFrame(draw) {
        let frame = null;
        const next = () => {
            frame ??= requestAnimationFrame(() => {
                frame = null;
                draw();
            });
        };
        next.now = () => {
            cancelAnimationFrame(frame);
            frame = null;
            draw();
        };
        return next;
    }

    /**
     * A widget's work, one piece after the other. `run` adds a piece. `instead` ends the running piece,
     * drops the waiting ones, and adds one. `stop` is a button that ends and drops. A piece gets the
     * engine, and a function that tells it whether to go on. `changed` is called with whether there is
     * work.
     */
    function turns({ opened, said, changed = () => {} }) {
        let current = {};
        let pieces = 0;
        let last = Promise.resolve();
        const end = () => { current = {}; };
        const stop = elements.button("Stop", end);
        const tell = () => {
            elements.enable([stop], pieces > 0);
            changed(pieces > 0);
        };
        function run(work) {
            const mine = current;
            const goesOn = () => mine === current;
            pieces += 1;
            tell();
            last = last.then(async () => {
                try {
                    if (goesOn()) await work(await opened, goesOn);
                } catch (error) {
                    if (goesOn()) said.textContent = `${error.message}.`;
                } finally {
                    pieces -= 1;
                    tell();
                }
            });
            return last;
        }
        function instead(work) {
            end();
            return run(work);
        }
        elements.enable([stop], false);
        return { run, instead, stop };
    }

    return { isPossible, open, json, latest, eachFrame, turns };
})();
