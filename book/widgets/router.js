// A router in front of four replicas, step by step, by five policies at once: the same requests, so that
// what differs is the policy. It counts tokens and computes none, so it asks no engine.
"use strict";

widgets.router = async (place) => {
    const { element, fill, slider, button, buttons, output, key, count, percent } = elements;
    const { POLICIES, REPLICAS, KILLED, CACHE } = router;
    /** How many open requests of a replica are drawn, so that nothing moves: the last box counts the rest. */
    const QUEUE = 9;
    /** How long a step is shown while it runs, in milliseconds. */
    const PAUSE = 250;
    const letter = (prefix) => String.fromCharCode(65 + prefix);

    const share = slider({
        label: "with prefix A",
        min: 10,
        max: 60,
        step: 5,
        value: 35,
        show: (value) => `${value}%`,
        change: () => repeat(),
    });
    const group = elements.id("policy");
    const radios = POLICIES.map((value) => element("input", { type: "radio", name: group, value }));
    radios.forEach((radio) => radio.addEventListener("change", () => draw()));
    radios[3].checked = true;

    const lines = Array.from({ length: REPLICAS }, () => {
        const line = element("div");
        line.style.gridTemplateColumns = `repeat(${CACHE + 1 + QUEUE}, minmax(0, 42px))`;
        return { label: element("p"), line };
    });
    const body = element("tbody");
    const said = output();
    const turns = live.turns({ opened: Promise.resolve(null), said });
    /** A cluster for each policy, and in which steps the replica was killed or started. */
    let clusters = [];
    let switches = [];

    const kill = button("", () => turns.run(async () => {
        switches.push(clusters[0].now);
        clusters.forEach((cluster) => cluster.toggle());
        draw();
    }));
    const begin = () => turns.instead(async () => {
        switches = [];
        start(0);
    });
    /** As many steps of other requests, with the same fate of the replica. */
    const repeat = () => turns.instead(async () => start(clusters[0].now));

    function start(steps) {
        clusters = POLICIES.map((policy) => router.cluster(policy, share.value() / 100));
        clusters.forEach((cluster) => {
            for (let now = 0; now <= steps; now += 1) {
                switches.filter((at) => at === now).forEach(cluster.toggle);
                if (now < steps) cluster.step();
            }
        });
        draw();
    }

    const step = (steps) => turns.run(async (_, goesOn) => {
        for (let i = 0; i < steps && goesOn(); i += 1) clusters.forEach((cluster) => cluster.step());
        draw();
    });
    const run = () => turns.instead(async (_, goesOn) => {
        while (goesOn()) {
            clusters.forEach((cluster) => cluster.step());
            draw();
            await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
        }
    });

    fill(
        place, "Four replicas, twelve prefixes, five policies",
        share.row,
        buttons("The router", button("A step", () => step(1)), button("Fifty steps", () => step(50)),
            button("Run", run), turns.stop, kill, button("Begin again", begin)),
        element("fieldset", { class: "widget-choice" },
            element("legend", {}, "policy"),
            element("table", { class: "widget-table widget-policies" },
                element("caption", {}, "The same requests by each policy: prompt tokens from a cache, the longest wait for a first "
                    + "token in steps, and prefixes that moved"),
                element("thead", {}, element("tr", {}, ...["policy", "from a cache", "longest wait", "moved"].map((text) => element("th", { scope: "col" }, text)))), body)),
        element("p", { class: "widget-label" }, "Cache and queue of each replica, by the chosen policy"),
        element("div", { class: "widget-cells widget-tile", "aria-hidden": "true" },
            ...lines.flatMap(({ label, line }) => [label, line])),
        key(["new", "computed now"], ["kept", "prefix in the replica's cache"], ["chosen", "sent there in this step"], ["padding", "waits"]),
        said,
    );
    POLICIES.forEach((policy, i) => {
        const label = element("label", {}, radios[i], ` ${policy}`);
        body.append(element("tr", {}, element("th", { scope: "row" }, label), element("td"), element("td"), element("td")));
    });

    function draw() {
        const at = radios.findIndex((radio) => radio.checked);
        const { replicas, owners, now, arrived, left } = clusters[at];
        const cell = (text, kind) => element("span", { class: kind }, text);
        replicas.forEach(({ isAlive, open, cache }, r) => {
            const owned = owners?.flatMap((owner, prefix) => (owner === r ? [letter(prefix)] : [])).join(" ");
            lines[r].label.textContent = !isAlive ? `replica ${r}: dead`
                : `replica ${r}: ${open.length} open${owners === null ? "" : `, gets ${owned || "nothing"}`}`;
            const cached = Array.from({ length: CACHE }, (_, i) => (i < cache.length ? cell(letter(cache[i]), "kept") : cell("·", "padding")));
            const queue = open.slice(0, QUEUE).map((request, i) => {
                if (i === QUEUE - 1 && open.length > QUEUE) return cell(`+${open.length - i}`, "padding");
                const kind = request.at === now ? "chosen" : i === 0 ? "new" : "padding";
                return cell(letter(request.prefix), kind);
            });
            if (queue.length > 0) queue[0].style.gridColumnStart = CACHE + 2;
            lines[r].line.replaceChildren(...cached, ...queue);
        });
        clusters.forEach((cluster, i) => {
            const { cached, prompt, moved } = cluster;
            const texts = [prompt === 0 ? "–" : percent(cached / prompt), cluster.wait(), moved === null ? "–" : `${moved} of 12`];
            texts.forEach((text, column) => { body.rows[i].cells[column + 1].textContent = text; });
        });
        const isAlive = clusters[0].replicas[KILLED].isAlive;
        kill.textContent = `${isAlive ? "Kill" : "Start"} replica ${KILLED}`;
        said.textContent = `Step ${now}: ${count(arrived, "request")} so far.`
            + (isAlive ? "" : ` When replica ${KILLED} died, ${left.broken === 0 ? "it computed nothing" : "the request in it broke off"}, `
                + `and ${count(left.waiting, "request")} that waited for it went elsewhere.`);
        const rows = clusters.map(({ cached, prompt, left, moved, replicas, wait }) =>
            ({ cached, prompt, left, moved, wait: wait(), open: replicas.map(({ open }) => open.length) }));
        place.dataset.shown = JSON.stringify({ share: share.value(), now, arrived, rows });
    }

    // At once, not in turn: what is drawn after the page is shown moves it.
    clusters = POLICIES.map((policy) => router.cluster(policy, share.value() / 100));
    draw();
};

/** The cluster: requests that arrive, the policy, and replicas that serve one request after the other. */
const router = (() => {
    const POLICIES = ["round robin", "least loaded", "prefix hash", "consistent hashing", "bounded loads"];
    const REPLICAS = 4;
    /** The replica that can be killed. */
    const KILLED = 2;
    /** How many prefixes the cache of a replica holds: the one used least recently leaves. */
    const CACHE = 4;
    /** Of a prompt, in tokens: the prefix, and what follows; and how many of them a step reads. */
    const PREFIX = 2000;
    const REST = 400;
    const READ = 400;
    /** How many steps an answer takes after its first token. */
    const ANSWER = 4;
    /** The most open requests of a replica, in percent of the mean. */
    const BOUND = 125;

    // The chapter's hash of each prefix and of eight points for each replica, modulo 1,200: that keeps
    // the remainders by 3 and by 4.
    const KEYS = [252, 1, 325, 605, 98, 43, 182, 1035, 718, 383, 295, 24];
    const POINTS = [
        [44, 146, 338, 344, 390, 468, 496, 902], [118, 122, 152, 206, 419, 439, 833, 1057],
        [66, 108, 110, 302, 366, 566, 945, 1087], [34, 347, 352, 436, 610, 884, 1100, 1135],
    ];

    /** The first point at or after the key whose replica has fewer requests open than the bound. */
    function onRing(prefix, alive, replicas, bound) {
        const ring = alive.flatMap((r) => POINTS[r].map((point) => [point, r])).sort(([a], [b]) => a - b);
        const after = ring.filter(([point]) => point >= KEYS[prefix]);
        return [...after, ...ring].find(([, r]) => replicas[r].open.length < bound)[1];
    }

    /** Replicas behind a router with this policy. A `share` of the requests has the first prefix. */
    function cluster(policy, share) {
        let state = 1;
        /** Numbers from 0 to 1, in an order that is always the same. */
        const random = () => {
            state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
            return state / 2 ** 32;
        };
        const self = {
            now: 0,
            arrived: 0,
            /** Tokens of all prompts that were begun, and those found in a cache. */
            prompt: 0,
            cached: 0,
            /** What the replica left when it died: a request that broke off, and those that waited. */
            left: { broken: 0, waiting: 0 },
            replicas: Array.from({ length: REPLICAS }, () => ({ isAlive: true, open: [], cache: [], chosen: 0 })),
            /** The replica of each prefix, where a prefix has one, and how many have moved at the last change. */
            owners: null,
            moved: null,
            step,
            toggle,
            wait,
        };
        let [longest, routed] = [0, 0];
        const alive = () => self.replicas.flatMap(({ isAlive }, r) => (isAlive ? [r] : []));

        function owner(prefix) {
            const up = alive();
            return policy === POLICIES[2] ? up[KEYS[prefix] % up.length] : onRing(prefix, up, self.replicas, Infinity);
        }

        function choose({ prefix }) {
            const up = alive();
            const { replicas } = self;
            if (policy === POLICIES[0]) return up[routed % up.length];
            if (policy === POLICIES[1]) {
                const before = (a, b) => replicas[a].open.length - replicas[b].open.length || replicas[a].chosen - replicas[b].chosen || a - b;
                return up.sort(before)[0];
            }
            if (policy !== POLICIES[4]) return owner(prefix);
            const open = up.reduce((sum, r) => sum + replicas[r].open.length, 1);
            return onRing(prefix, up, replicas, Math.ceil((BOUND * open) / (100 * up.length)));
        }

        function send(request) {
            const chosen = self.replicas[choose(request)];
            routed += 1;
            chosen.chosen += 1;
            chosen.open.push(request);
        }

        /** What comes, and then what each replica computes. */
        function step() {
            self.now += 1;
            if (random() < 0.55) {
                const prefix = random() < share ? 0 : 1 + Math.floor(random() * (KEYS.length - 1));
                self.arrived += 1;
                send({ prefix, at: self.now, left: null, answer: ANSWER });
            }
            self.replicas.filter(({ isAlive }) => isAlive).forEach(serve);
        }

        function serve({ open, cache }) {
            const request = open[0];
            if (request === undefined) return;
            if (request.left === null) {
                const found = cache.indexOf(request.prefix);
                if (found >= 0) cache.splice(found, 1);
                request.left = REST + (found >= 0 ? 0 : PREFIX);
                self.prompt += PREFIX + REST;
                self.cached += PREFIX + REST - request.left;
                cache.unshift(request.prefix);
                cache.splice(CACHE);
            }
            if (request.left > 0) {
                request.left -= READ;
                if (request.left <= 0) longest = Math.max(longest, self.now - request.at);
            } else {
                request.answer -= 1;
                if (request.answer === 0) open.shift();
            }
        }

        /** The longest wait for a first token, of those that still wait too. */
        function wait() {
            const waits = self.replicas.flatMap(({ open }) => open.filter(({ left }) => left === null || left > 0))
                .map(({ at }) => self.now - at);
            return Math.max(longest, ...waits);
        }

        /** Kills the replica, or starts it: what it was computing breaks off, what waited goes elsewhere. */
        function toggle() {
            const one = self.replicas[KILLED];
            const [request, ...waiting] = one.open;
            Object.assign(one, { isAlive: !one.isAlive, open: [], cache: [] });
            if (!one.isAlive) self.left = { broken: request === undefined ? 0 : 1, waiting: waiting.length };
            waiting.forEach(send);
            assign();
        }

        function assign() {
            if (policy === POLICIES[0] || policy === POLICIES[1]) return;
            const owners = KEYS.map((_, prefix) => owner(prefix));
            self.moved = self.owners === null ? null : owners.filter((r, prefix) => r !== self.owners[prefix]).length;
            self.owners = owners;
        }

        assign();
        return self;
    }

    return { POLICIES, REPLICAS, KILLED, CACHE, cluster };
})();
