// Opens each page in a frame as wide as a screen, one after the other, and writes down what the
// probe in it found.
"use strict";

(async () => {
    const visits = JSON.parse(document.getElementById("visits").textContent);
    const found = [];
    for (const { file, query, width } of visits) {
        const frame = document.createElement("iframe");
        frame.style = `width: ${width}px; height: 900px; border: none`;
        frame.src = `${file}?${query}`;
        const said = new Promise((resolve) => {
            onmessage = (event) => resolve(event.data);
            setTimeout(() => resolve(["the page does not end loading"]), 60000);
        });
        document.body.append(frame);
        found.push(await said);
        frame.remove();
    }
    const result = document.createElement("pre");
    result.id = "result";
    result.textContent = JSON.stringify(found);
    document.body.append(result);
})();
