// Listings and outputs as you want to read them. Without this file they are the same, but further to the
// right, and you have to scroll to the end of a long line.
"use strict";

/** A story or a message may wrap. A table, with columns set apart by spaces, may not. */
function wrap(code) {
    const lines = code.textContent.split("\n").filter((line) => line.length > 45);
    if (lines.length > 0 && !lines.some((line) => /\S {2,}\S/.test(line))) code.classList.add("wrap");
}

/** A method that is shown without its `impl` doesn't need the indentation that it has in its file. */
function dedent(code) {
    const lines = code.textContent.split("\n").filter((line) => line.trim() !== "");
    const common = Math.min(...lines.map((line) => line.length - line.trimStart().length));
    if (!(common > 0)) return;
    // Highlighting has split it into elements, so cut the text inside each, at the beginnings of lines.
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    let left = common;
    while (walker.nextNode()) {
        let kept = "";
        for (const letter of walker.currentNode.data) {
            if (letter === "\n") left = common;
            else if (left > 0) {
                left -= 1;
                continue;
            }
            kept += letter;
        }
        walker.currentNode.data = kept;
    }
}

for (const code of document.querySelectorAll("main pre > code")) {
    if (code.matches(".language-text")) wrap(code);
    else if (!code.matches(".language-console")) dedent(code);
}
