// Runs inside each page, before anything of it. Tells the page around it what is wrong here.
"use strict";

(() => {
    const query = new URLSearchParams(location.search);
    const problems = new Map();
    const add = (problem) => problems.set(problem, (problems.get(problem) || 0) + 1);

    addEventListener("error", (event) => {
        const from = event.target.src || event.target.href;
        add(from ? `does not load: ${from.split("/").pop()}` : `error: ${event.message}`);
    }, true);
    addEventListener("unhandledrejection", (event) => add(`error: ${event.reason}`));
    console.error = (...what) => add(`console: ${what.join(" ")}`);
    window.print = () => {};
    try {
        localStorage.setItem("mdbook-theme", query.get("theme"));
    } catch (error) {
        add(`no storage: ${error}`);
    }

    addEventListener("load", () => setTimeout(() => {
        try {
            check();
        } catch (error) {
            add(`the check itself failed: ${error.stack}`);
        }
        const list = [...problems].map(([problem, n]) => (n > 1 ? `${problem} (${n} times)` : problem));
        parent.postMessage(list, "*");
    }, 200));

    function check() {
        const theme = query.get("theme");
        if (!query.has("figure") && !document.documentElement.classList.contains(theme)) {
            add(`the theme is not ${theme}`);
        }
        document.querySelectorAll("details").forEach((details) => { details.open = true; });
        for (const image of document.images) {
            if (!image.complete || image.naturalWidth === 0) add(`no image: ${image.src}`);
        }
        // A colour on its way from one to another is neither.
        document.getAnimations().forEach((animation) => animation.finish());
        seen.checkWidth(add);
        seen.checkText(add);
        checkWidgets();
    }

    // ---- widgets

    function checkWidgets() {
        for (const widget of document.querySelectorAll(".widget[data-widget]")) {
            const title = `the widget ${widget.dataset.widget}`;
            if (!("mounted" in widget.dataset)) {
                add(`${title} did not start`);
                continue;
            }
            const said = widget.querySelector("output");
            for (const control of widget.querySelectorAll("input, button")) {
                const height = (control.closest("label") || control).getBoundingClientRect().height;
                if (height < 24) add(`${title}: a control of ${height} px is too small to touch`);
                if (control.localName === "input" && control.labels.length === 0) {
                    add(`${title}: a control has no label`);
                }
                const values = control.type === "range" ? [control.min, control.max] : [null];
                const seen = new Set([said.textContent]);
                for (const value of values) {
                    if (value === null) {
                        control.click();
                    } else {
                        control.value = value;
                        control.dispatchEvent(new Event("input", { bubbles: true }));
                    }
                    seen.add(said.textContent);
                }
                if (control.type === "range" && seen.size < 2) add(`${title}: a slider changes nothing`);
            }
        }
        seen.checkWidth(add);
    }
})();
