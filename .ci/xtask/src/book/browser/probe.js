// Runs inside each page, before anything of it, and finds what is wrong here.
"use strict";

const found = new Promise((resolve) => {
    /** The theme; none for an image. */
    const wanted = new URLSearchParams(location.search).get("theme");
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
        localStorage.setItem("mdbook-theme", wanted);
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
        resolve(list);
    }, 50));

    function check() {
        if (wanted && !document.documentElement.classList.contains(wanted)) {
            add(`the theme is not ${wanted}`);
        }
        document.querySelectorAll("details").forEach((details) => { details.open = true; });
        for (const image of document.images) {
            if (!image.complete || image.naturalWidth === 0) add(`no image: ${image.src}`);
        }
        // A colour on its way from one to another is neither.
        document.getAnimations().forEach((animation) => animation.finish());
        seen.checkWidth(add);
        seen.checkListings(add);
        seen.checkMeasure(add);
        seen.checkText(add);
        checkWidgets();
    }

    // ---- widgets

    /** A page that is a file may load no engine: its widgets keep their figures. */
    function checkWidgets() {
        for (const widget of document.querySelectorAll(".widget[data-widget]")) {
            const title = `the widget ${widget.dataset.widget}`;
            if ("mounted" in widget.dataset) add(`${title} has begun, without an engine`);
            if (!widget.querySelector("svg, img") || !widget.querySelector("p")) {
                add(`${title} has lost its figure`);
            }
        }
    }
});
