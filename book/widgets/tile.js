// A tile of the microkernel, cycle by cycle, on an idealised core: which register holds what, and what
// each unit does. It counts instructions and computes no numbers, so it needs no engine.
"use strict";

widgets.tile = async (place) => {
    const { element, fill, slider, button, buttons, output, key, count, percent } = elements;
    const { LOADS, PRODUCTS, REGISTERS, LINE } = tile;
    const MOST = 14;
    /** How long a cycle is shown while it runs, in milliseconds. */
    const PAUSE = 250;

    const rows = slider({
        label: "rows of x",
        min: 1,
        max: MOST,
        step: 1,
        value: 1,
        show: (value) => count(value, "row"),
        change: () => begin(),
    });
    const line = () => {
        const made = element("div");
        made.style.gridTemplateColumns = `repeat(${MOST}, minmax(0, 42px))`;
        return made;
    };
    const lines = { weights: line(), x: line(), first: line(), second: line() };
    const labels = {
        weights: "weights of one k: outputs 0 to 15, 16 to 31",
        x: "one number of each row",
        first: "sums of outputs 0 to 15, one register for each row",
        second: "sums of outputs 16 to 31",
    };
    const why = element("ul", { class: "widget-why", tabindex: 0, "aria-label": "What the cycle did" });
    const said = output();
    const turns = live.turns({ opened: Promise.resolve(null), said });
    let core = null;

    function begin() {
        turns.instead(async () => {
            core = tile.core(rows.value());
            draw([]);
        });
    }

    const step = (cycles) => turns.run(async (_, goesOn) => {
        for (let i = 0; i < cycles && goesOn(); i += 1) draw(core.cycle());
    });
    const run = () => turns.instead(async (_, goesOn) => {
        while (goesOn()) {
            draw(core.cycle());
            await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
        }
    });

    fill(
        place, "Twelve rows, or one: a tile, cycle by cycle",
        rows.row,
        buttons("The core", button("A cycle", () => step(1)), button("Fifty cycles", () => step(50)),
            button("Run", run), turns.stop, button("Begin again", begin)),
        element("div", { class: "widget-cells widget-tile", "aria-hidden": "true" },
            ...Object.entries(lines).flatMap(([name, made]) => [element("p", {}, labels[name]), made])),
        key(["new", "loaded or added to in this cycle"], ["kept", "kept in a register"], ["padding", "its last product is not ready"]),
        element("p", { class: "widget-label" }, "What the cycle did"), why, said,
    );

    function draw(did) {
        const { now, k, weights, x, sums } = core;
        const cell = (text, kind) => element("span", { class: kind }, text);
        const loaded = ({ at, k: of }) => (at === null ? cell("·", "padding") : cell(`k${of}`, at === now ? "new" : "kept"));
        lines.weights.replaceChildren(...weights.map(loaded));
        lines.x.replaceChildren(...x.map(loaded));
        [lines.first, lines.second].forEach((made, half) => {
            made.replaceChildren(...sums.map((row) => {
                const { products, ready } = row[half];
                const kind = ready === now + tile.LATENCY ? "new" : ready > now + 1 ? "padding" : "kept";
                return cell(`${products}`, products === 0 ? "kept" : kind);
            }));
        });
        why.replaceChildren(...did.map((text) => element("li", {}, text)));
        const products = sums.flat().reduce((sum, one) => sum + one.products, 0);
        const bytes = 2 * LINE * k;
        said.textContent = now === 0
            ? `${2 * core.rows + 3} of ${REGISTERS} registers: ${2 * core.rows} sums, two of weights, one of x.`
            : `Cycle ${now}: ${products} of ${PRODUCTS * now} possible products (${percent(products / (PRODUCTS * now))}), `
                + `${(bytes / now).toFixed(1)} bytes of weights a cycle. ${2 * core.rows + 3} of ${REGISTERS} registers.`;
        place.dataset.shown = JSON.stringify({ rows: core.rows, now, products, bytes, loads: LOADS });
    }

    // At once, not in turn: what is drawn after the page is shown moves it.
    core = tile.core(rows.value());
    draw([]);
};

/** The core: what it can do in a cycle, and the registers of a tile in it. */
const tile = (() => {
    const LOADS = 2;
    const PRODUCTS = 2;
    /** How many cycles after a product its sum can be added to again. */
    const LATENCY = 4;
    const REGISTERS = 32;
    /** The bytes of a register. */
    const LINE = 64;

    /** A tile of so many rows, before its first cycle. */
    function core(rows) {
        const empty = () => ({ at: null, k: null });
        const self = {
            rows,
            now: 0,
            /** For how many k the weights have been loaded. */
            k: 0,
            weights: [empty(), empty()],
            x: Array.from({ length: rows }, empty),
            sums: Array.from({ length: rows }, () => [{ products: 0, ready: 0 }, { products: 0, ready: 0 }]),
            cycle,
        };
        /** The loads of each k in order: both registers of weights, then a number of each row. */
        let [k, next] = [0, 0];
        /** In which cycle each was loaded, by what it is. */
        const loaded = new Map();

        function cycle() {
            self.now += 1;
            const did = [];
            const least = Math.min(...self.sums.flat().map(({ products }) => products));
            // Loads run ahead by one k.
            for (let i = 0; i < LOADS && k <= least + 1; i += 1) {
                const isWeights = next < 2;
                const register = isWeights ? self.weights[next] : self.x[next - 2];
                [register.at, register.k] = [self.now, k];
                loaded.set(`${k} ${next}`, self.now);
                did.push(isWeights ? `loads the weights of outputs ${16 * next} to ${16 * next + 15} for k = ${k}`
                    : `loads the number of row ${next - 2} for k = ${k}`);
                if (next === 1) self.k = k + 1;
                next += 1;
                if (next === rows + 2) [k, next] = [k + 1, 0];
            }
            const can = self.sums.flatMap((row, m) => row.map((sum, half) => ({ sum, m, half }))).filter(({ sum, m, half }) => {
                const has = (part) => loaded.get(`${sum.products} ${part}`) < self.now;
                return sum.ready <= self.now && has(half) && has(m + 2);
            });
            can.sort((a, b) => a.sum.products - b.sum.products || a.m - b.m || a.half - b.half);
            const products = can.slice(0, PRODUCTS);
            for (const { sum, m, half } of products) {
                did.push(`multiplies row ${m} with the weights of outputs ${16 * half} to ${16 * half + 15} for k = ${sum.products}`);
                sum.products += 1;
                sum.ready = self.now + LATENCY;
            }
            if (products.length < PRODUCTS) did.push(`${PRODUCTS - products.length} of ${PRODUCTS} multiply units wait`);
            return did;
        }
        return self;
    }

    return { LOADS, PRODUCTS, LATENCY, REGISTERS, LINE, core };
})();
