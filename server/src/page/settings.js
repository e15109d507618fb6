// The numbers that a person can set.
"use strict";

/** The values of k that the slider goes through; the last one is 0, which keeps all tokens. */
let topKs = [1, 0];
let vocabSize = 0;

function setVocabSize(size) {
    if (vocabSize === size) return;
    vocabSize = size;
    const round = [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9];
    topKs = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    for (let scale = 10; scale < size; scale *= 10) {
        topKs.push(...round.map((k) => k * scale).filter((k) => k < size));
    }
    topKs.push(0);
    element("top_k").max = size;
    element("top_k-slider").max = topKs.length - 1;
    showSettings();
}

const percentOf = (value) => Number(value.toFixed(4)).toString();

/** Each number: what it is at first, which is what it is on the command line, how its slider shows it, and
    what it is in words. */
const FIELDS = {
    temperature: { first: 0.8, sampler: true },
    top_k: {
        first: 0,
        sampler: true,
        whole: true,
        toSlider: (k) => (k === 0 ? topKs.length - 1 : Math.max(0, topKs.findLastIndex((at) => at !== 0 && at <= k))),
        fromSlider: (position) => topKs[position],
        words: (k) => (k === 0 ? "all tokens" : `${k}`),
    },
    top_p: { first: 0.95, sampler: true },
    // The mode says what it is at first.
    max_tokens: { first: null, whole: true, empty: NO_LIMIT },
    seed: { first: 42, whole: true },
};

const settings = {};

function resetSettings() {
    for (const [name, field] of Object.entries(FIELDS)) settings[name] = field.first;
}

function setFirstMaxTokens(most) {
    const field = FIELDS.max_tokens;
    if (settings.max_tokens === field.first) settings.max_tokens = most;
    field.first = most;
    settingsChanged();
}

/** The number in a text; null where it is none that the field allows. */
function allowed(name, text) {
    const input = element(name);
    const field = FIELDS[name];
    if (text.trim() === "") return field.empty ?? null;
    const value = Number(text);
    if (value === field.empty) return value;
    const isInRange = value >= Number(input.min) && (input.max === "" || value <= Number(input.max));
    return isInRange && (!field.whole || Number.isInteger(value)) ? value : null;
}

function showSettings(except) {
    for (const [name, field] of Object.entries(FIELDS)) {
        const input = element(name);
        if (input !== except) {
            input.value = settings[name] === field.empty ? "" : settings[name];
            input.removeAttribute("aria-invalid");
        }
        const slider = element(`${name}-slider`);
        if (!slider) continue;
        if (slider !== except) slider.value = (field.toSlider ?? Number)(settings[name]);
        slider.setAttribute("aria-valuetext", (field.words ?? percentOf)(settings[name]));
    }
}

/** The settings live in the address, so that it can be kept and passed on. */
function keepSettings() {
    const kept = new URLSearchParams();
    if (mode !== null && mode !== modeOfModel()) kept.set("mode", mode);
    for (const [name, field] of Object.entries(FIELDS)) {
        if (settings[name] !== field.first) kept.set(name, settings[name]);
    }
    const hash = kept.size > 0 ? `#${kept}` : "";
    if (hash !== location.hash) history.replaceState(null, "", hash || location.pathname);
}

function readSettings() {
    resetSettings();
    for (const [name, text] of new URLSearchParams(location.hash.slice(1))) {
        const value = name in FIELDS ? allowed(name, text) : null;
        if (value !== null) settings[name] = value;
    }
    showSettings();
}

let keepLater;
function settingsChanged(except) {
    showSettings(except);
    // Browsers refuse to change the address many times a second.
    clearTimeout(keepLater);
    keepLater = setTimeout(keepSettings, 200);
}

function watchSettings() {
    for (const [name, field] of Object.entries(FIELDS)) {
        const input = element(name);
        input.addEventListener("input", () => {
            // What is no number at all is as empty as nothing.
            const value = input.validity.badInput ? null : allowed(name, input.value);
            if (value === null) {
                input.setAttribute("aria-invalid", "true");
                return;
            }
            input.removeAttribute("aria-invalid");
            settings[name] = value;
            settingsChanged(input);
            if (field.sampler) candidates.refresh();
        });
        // What is no value of the setting gives way to the setting.
        input.addEventListener("change", () => showSettings());
        const slider = element(`${name}-slider`);
        slider?.addEventListener("input", () => {
            settings[name] = (field.fromSlider ?? Number)(slider.valueAsNumber);
            settingsChanged(slider);
            candidates.refresh();
        });
    }
    element("reset").addEventListener("click", () => {
        resetSettings();
        settingsChanged();
        candidates.refresh();
    });
}

function samplerSettings() {
    const { temperature, top_k, top_p } = settings;
    return { temperature, top_k, top_p };
}

/** What a request says of how tokens are chosen. The same text is asked for again with the next seed. */
function samplingOptions(repeats) {
    const { max_tokens, seed } = settings;
    return { ...samplerSettings(), max_tokens, seed: (seed + repeats) % 2 ** 53 };
}
