// Listings and outputs as a reader wants them. Without this they are the same, further to the right, and
// a long line is scrolled to.
"use strict";

/** A story or a message may be wrapped; a table, whose columns are set apart by spaces, may not. */
function wrap(code) {
    const lines = code.textContent.split("\n").filter((line) => line.length > 45);
    if (lines.length > 0 && !lines.some((line) => /\S {2,}\S/.test(line))) code.classList.add("wrap");
}

/** A method that is shown without its `impl` loses the indentation that it has in its file. */
function dedent(code) {
    const lines = code.textContent.split("\n").filter((line) => line.trim() !== "");
    const common = Math.min(...lines.map((line) => line.length - line.trimStart().length));
    if (!(common > 0)) return;
    // Highlighting has made elements of it: the texts inside are cut, each at the beginnings of lines.
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
