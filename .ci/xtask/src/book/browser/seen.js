// What is wrong with a page for the eye: parts that are cut off, and text that is hard to read.
"use strict";

const seen = (() => {
    /** The width of a screen, in pixels, on which everything has its room. */
    const WIDE = 1000;

    // ---- layout

    function checkWidth(add) {
        const width = innerWidth;
        if (document.documentElement.scrollWidth > width) {
            add(`scrolls sideways: ${document.documentElement.scrollWidth} of ${width} px`);
        }
        // mdBook hides what is too wide, so that it is cut off rather than scrolled to.
        for (const element of document.querySelectorAll("main *")) {
            const box = element.getBoundingClientRect();
            const isSeen = box.width > 0 && box.height > 0 && element.checkVisibility();
            if (isSeen && (box.right > width + 1 || box.left < -1) && !scrolls(element)) {
                add(`is cut off: ${name(element)}, from ${Math.round(box.left)} to ${Math.round(box.right)} px`);
            }
        }
    }

    /** A listing or a table that one has to scroll: on a wide screen none should, and on a phone one sees it. */
    function checkListings(add) {
        for (const box of document.querySelectorAll("main :is(pre > code, .table-wrapper, figure)")) {
            if (box.scrollWidth <= box.clientWidth + 1 || !box.checkVisibility()) continue;
            if (innerWidth >= WIDE) {
                add(`is wider than its box: ${name(box)}, ${box.scrollWidth} of ${box.clientWidth} px`);
            } else if (!getComputedStyle(box).backgroundImage.includes("gradient")) {
                add(`scrolls without a sign of it: ${name(box)}`);
            }
        }
    }

    /** Lines of text that the eye loses, and figures whose letters are smaller than those around them. */
    function checkMeasure(add) {
        const main = document.querySelector("main");
        if (!main || innerWidth < WIDE) return;
        const lines = [...main.querySelectorAll(":scope > p")].map((p) => {
            const count = Math.round(p.offsetHeight / parseFloat(getComputedStyle(p).lineHeight));
            // Half of the last line is empty, on average.
            return { count, letters: p.textContent.length / (count - 0.5) };
        }).filter(({ count }) => count >= 4).map(({ letters }) => letters).sort((a, b) => a - b);
        const middle = lines[lines.length >> 1];
        if (lines.length >= 5 && (middle < 62 || middle > 80)) {
            add(`${middle.toFixed(0)} letters in a line of text, and 66 to 75 are easy to read`);
        }
        const body = parseFloat(getComputedStyle(main).fontSize);
        for (const picture of main.querySelectorAll("figure > svg")) {
            const sizes = [...picture.querySelectorAll("text")].filter((text) => text.textContent.trim()).map((text) => {
                const matrix = text.getScreenCTM();
                return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(matrix.c, matrix.d);
            });
            const least = Math.min(...sizes);
            if (least < 0.94 * body) add(`letters of ${least.toFixed(1)} px beside text of ${body} px: ${name(picture)}`);
        }
    }

    /** Whether one can scroll to it, or it is a part of a picture. */
    function scrolls(element) {
        if (element.closest("svg") && element.localName !== "svg") return true;
        for (let around = element.parentElement; around; around = around.parentElement) {
            if (around === document.body) return false;
            if (["auto", "scroll"].includes(getComputedStyle(around).overflowX)) return true;
        }
        return false;
    }

    function name(element) {
        const classes = [...element.classList].map((name) => `.${name}`).join("");
        const text = element.textContent.trim().replace(/\s+/g, " ").slice(0, 40);
        return `<${element.localName}${classes}> "${text}"`;
    }

    // ---- text

    function checkText(add) {
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const element = walker.currentNode.parentElement;
            if (!walker.currentNode.data.trim() || !isText(element)) continue;
            const style = getComputedStyle(element);
            const inPicture = element.closest("svg") !== null;
            const color = parse(inPicture ? style.fill : style.color);
            if (inPicture) color[3] *= Number(style.fillOpacity);
            const [back, ratio] = contrast(element, color, inPicture);
            const matrix = inPicture ? element.getScreenCTM() : { c: 0, d: 1 };
            const size = parseFloat(style.fontSize) * Math.hypot(matrix.c, matrix.d);
            const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
            const needed = isLarge ? 3 : 4.5;
            if (ratio < needed) {
                add(`contrast ${ratio.toFixed(2)}, needs ${needed}: ${name(element)}, `
                    + `${color.map(short)} on ${back.map(short)}`);
            }
            if (inPicture && size < 8) {
                add(`letters of ${size.toFixed(1)} px: ${name(element.closest("svg"))}`);
            }
        }
    }

    const short = (value) => Math.round(value * 100) / 100;

    function isText(element) {
        if (element.closest("script, style, noscript, template, title, desc, option")) return false;
        return element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
            && element.getClientRects().length > 0;
    }

    /** The background as one sees it, and the contrast of a colour with it (WCAG 2). */
    function contrast(element, color, inPicture) {
        let back = [255, 255, 255, 1];
        for (const [layer, alpha] of layers(element, inPicture)) back = over(layer, alpha, back);
        const [a, b] = [over(color, opacity(element), back), back].map(luminance);
        return [back, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
    }

    /** What is painted behind an element, the lowest first. */
    function layers(element, inPicture) {
        const found = [];
        for (let around = element; around; around = around.parentElement) {
            const color = parse(getComputedStyle(around).backgroundColor);
            if (color[3] > 0) found.unshift([color, opacity(around)]);
        }
        if (!inPicture) return found;
        const box = element.getBoundingClientRect();
        const middle = new DOMPoint(box.x + box.width / 2, box.y + box.height / 2);
        for (const shape of element.closest("svg").querySelectorAll("rect, path, circle, ellipse, polygon")) {
            if (shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING) break;
            if (shape.closest("defs, marker, clipPath")) continue;
            const style = getComputedStyle(shape);
            const matrix = shape.getScreenCTM();
            if (style.fill === "none" || !matrix) continue;
            if (!shape.isPointInFill(middle.matrixTransform(matrix.inverse()))) continue;
            const color = parse(style.fill);
            color[3] *= Number(style.fillOpacity);
            found.push([color, opacity(shape)]);
        }
        return found;
    }

    function opacity(element) {
        let product = 1;
        for (let around = element; around; around = around.parentElement) {
            product *= Number(getComputedStyle(around).opacity);
        }
        return product;
    }

    function over(color, alpha, back) {
        const share = color[3] * alpha;
        return [0, 1, 2].map((i) => share * color[i] + (1 - share) * back[i]).concat(1);
    }

    /** `rgb(1, 2, 3)`, `rgba(1, 2, 3, 0.5)` or `color(srgb 0.1 0.2 0.3 / 0.5)` */
    function parse(color) {
        const numbers = (color.match(/-?[\d.]+(e-?\d+)?/g) || []).map(Number);
        const scale = color.startsWith("color(srgb") ? 255 : 1;
        const [r, g, b, alpha = 1] = numbers;
        return [r * scale, g * scale, b * scale, alpha];
    }

    function luminance(color) {
        const [r, g, b] = color.map((value) => {
            const part = value / 255;
            return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    }

    return { checkWidth, checkListings, checkMeasure, checkText, contrast, parse };
})();
