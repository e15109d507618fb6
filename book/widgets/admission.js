// A queue in front of a model that writes one text after the other: who is accepted, who is refused, and for
// whom the model still writes. It counts seconds and computes no text, so it asks no engine.
"use strict";

widgets.admission = async (place) => {
    const { element, fill, slider, button, buttons, output, key, count, bar, percent } = elements;
    const { SECOND, UNBOUNDED } = admission;
    /** How many waiting requests are drawn: the last box counts the rest. */
    const DRAWN = 24;
    const seconds = (steps) => `${(steps / SECOND).toFixed(1)} s`;
    /** For a box, which has room for three letters. */
    const short = (steps) => (steps / SECOND).toFixed(steps < 10 * SECOND ? 1 : 0);

    const rate = slider({ label: "requests", min: 0.5, max: 4, step: 0.5, value: 2.5,
        show: (value) => `${value} a second`, change: () => repeat() });
    const bound = slider({ label: "queue", min: 0, max: UNBOUNDED, step: 1, value: UNBOUNDED,
        show: (value) => (value === UNBOUNDED ? "no bound" : count(value, "place")), change: () => repeat() });
    const notices = element("input", { type: "checkbox" });
    notices.addEventListener("change", () => repeat());

    const [running, waiting] = [element("div"), element("div")];
    const label = element("p");
    const caption = element("caption");
    const body = element("tbody");
    const said = output();
    const turns = live.turns({ opened: Promise.resolve(null), said });
    const start = (steps) => {
        server = admission.server(rate.value(), bound.value(), notices.checked);
        for (let i = 0; i < steps; i += 1) server.step();
        draw();
    };
    const begin = () => turns.instead(async () => start(0));
    /** As many seconds again, with the same requests. */
    const repeat = () => turns.instead(async () => start(server.now));
    const step = (steps) => turns.run(async (_, goesOn) => {
        for (let i = 0; i < steps && goesOn(); i += 1) server.step();
        draw();
    });
    const run = () => turns.instead(async (_, goesOn) => {
        while (goesOn()) {
            server.step();
            draw();
            await new Promise((resolve) => { setTimeout(resolve, 1000 / SECOND); });
        }
    });
    let server = null;

    fill(
        place, "Two texts a second, and a queue",
        rate.row, bound.row,
        element("label", { class: "widget-check" }, notices, " the server notices that a client has gone"),
        buttons("The server", button("A second", () => step(SECOND)), button("A minute", () => step(60 * SECOND)),
            button("Run", run), turns.stop, button("Begin again", begin)),
        element("div", { class: "widget-cells widget-tile widget-queue", "aria-hidden": "true" },
            element("p", {}, "in the model"), running, label, waiting),
        key(["new", "the model writes it"], ["kept", "waits, for so many seconds"], ["padding", "its client has gone"]),
        element("table", { class: "widget-table widget-fates" }, caption, body), said,
    );

    function draw() {
        const { now, arrived, answered, refused, gone, unread, queue, current, waits } = server;
        const cell = ({ at, isGone }, kind) => element("span", { class: isGone ? "padding" : kind }, short(now - at));
        running.replaceChildren(...(current === null ? [] : [cell(current, "new")]));
        waiting.replaceChildren(...queue.slice(0, DRAWN).map((request, i) => (i === DRAWN - 1 && queue.length > DRAWN
            ? element("span", { class: "padding" }, `+${queue.length - i}`) : cell(request, "kept"))));
        label.textContent = `in the queue: ${queue.length}`;
        caption.textContent = `What became of ${count(arrived, "request")} in ${count(now / SECOND, "second")}`;
        const rows = [["answered", answered], ["refused (429)", refused], ["gave up", gone],
            ["open", arrived - answered - refused - gone]];
        body.replaceChildren(...rows.map(([name, requests]) => element("tr", {}, element("th", { scope: "row" }, name),
            element("td", {}, `${requests}`), element("td", {}, bar(arrived === 0 ? 0 : requests / arrived, "kept")))));
        const sorted = [...waits].sort((a, b) => a - b);
        const [half, most] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
        said.textContent = answered + unread === 0 ? "The model has written nothing yet."
            : `${count(answered + unread, "text")}, ${unread} of them for nobody; the model idle for ${percent(server.idle / now)} of the time.`
                + (most === undefined ? "" : ` Readers waited ${seconds(half)} in the median, ${seconds(most)} at most.`);
        place.dataset.shown = JSON.stringify({ rate: rate.value(), bound: bound.value(), notices: notices.checked, now, arrived, answered,
            refused, gone, unread, idle: server.idle, queue: queue.length, half: half ?? null, most: most ?? null });
    }

    // At once, not in turn: what is drawn after the page is shown moves it.
    start(0);
};

/** The server: requests that arrive, the queue, and a model that writes a text in half a second. */
const admission = (() => {
    /** Steps in a second; in a text; and for how many a client waits until its text is begun. */
    const SECOND = 10;
    const TEXT = 5;
    const PATIENCE = 50;
    /** A bound that is none. */
    const UNBOUNDED = 21;

    function server(rate, bound, notices) {
        let state = 5;
        /** Numbers from 0 to 1, in an order that is always the same. */
        const random = () => {
            state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
            return state / 2 ** 32;
        };
        const most = bound === UNBOUNDED ? Infinity : bound;
        const self = {
            now: 0,
            arrived: 0,
            answered: 0,
            refused: 0,
            /** Clients that gave up, and texts that were written for them all the same. */
            gone: 0,
            unread: 0,
            /** Steps in which the model had nothing to do. */
            idle: 0,
            queue: [],
            current: null,
            /** How long the clients waited whose text was begun while they were there, in steps. */
            waits: [],
            step,
        };

        /** What ends, who gives up, what begins, and who arrives. */
        function step() {
            self.now += 1;
            if (self.current === null) self.idle += 1;
            else if (self.now === self.current.ends) end();
            for (const request of self.queue) {
                if (request.isGone || self.now - request.at <= PATIENCE) continue;
                request.isGone = true;
                self.gone += 1;
            }
            if (notices) self.queue = self.queue.filter(({ isGone }) => !isGone);
            begin();
            // With a higher rate, the same requests arrive, and others between them.
            if (random() >= rate / SECOND) return;
            self.arrived += 1;
            if (self.current !== null && self.queue.length >= most) {
                self.refused += 1;
                return;
            }
            self.queue.push({ at: self.now, ends: null, isGone: false });
            begin();
        }

        function end() {
            if (self.current.isGone) self.unread += 1;
            else self.answered += 1;
            self.current = null;
        }

        function begin() {
            if (self.current !== null || self.queue.length === 0) return;
            self.current = self.queue.shift();
            self.current.ends = self.now + TEXT;
            if (!self.current.isGone) self.waits.push(self.now - self.current.at);
        }

        return self;
    }

    return { SECOND, UNBOUNDED, server };
})();
