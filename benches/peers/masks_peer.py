"""The masks of outlines-core and llguidance, for `cargo xtask masks times`.

    python masks_peer.py --version
    python masks_peer.py TOKENIZER END_ID

The first prints what to call the two. The second answers lines with lines, both JSON: a line asks for
the masks behind each token of some texts, `{"regex": "...", "texts": [[ids], ...]}`, and the answer says
for each engine how long they took, in seconds, `{"engine": "...", "compile": s, "first": [s, ...],
"again": [s, ...]}`, at the first pass through the texts and at the second.
"""

import importlib.metadata
import json
import sys
import time

import llguidance
import llguidance.numpy
import numpy
import outlines_core

import token_bytes

NAMES = [f"{name} {importlib.metadata.version(name)}" for name in ("outlines-core", "llguidance")]


class Outlines:
    """All masks are computed when the index is."""

    def __init__(self, path, end_id):
        tokens, texts = {}, token_bytes.of(path)
        for id, of in enumerate(texts):
            if of and id != end_id:
                tokens.setdefault(of, []).append(id)
        self.vocabulary = outlines_core.Vocabulary(end_id, tokens)
        self.mask = numpy.zeros((len(texts) + 31) // 32, dtype=numpy.int32)

    def compile(self, regex):
        # Without the end of the text, it would take the first alternative that matches.
        index = outlines_core.Index(rf"(?:{regex})\z", self.vocabulary)
        self.guide = outlines_core.Guide(index)

    def begin(self):
        self.guide.reset()

    def fill(self):
        self.guide.write_mask_into(self.mask.ctypes.data, self.mask.size, self.mask.itemsize)

    def read(self, token):
        self.guide.advance(token, return_tokens=False)


class Llguidance:
    def __init__(self, path, end_id):
        self.tokenizer = llguidance.LLTokenizer(path, eos_token=end_id)
        self.mask = llguidance.numpy.allocate_token_bitmask(1, self.tokenizer.vocab_size)

    def compile(self, regex):
        grammar = llguidance.LLMatcher.grammar_from_regex(regex)
        self.matcher = llguidance.LLMatcher(self.tokenizer, grammar)
        if self.matcher.is_error():
            raise ValueError(self.matcher.get_error())

    def begin(self):
        self.matcher.reset()

    def fill(self):
        llguidance.numpy.fill_next_token_bitmask(self.matcher, self.mask)

    def read(self, token):
        self.matcher.consume_token(token)


def walk(engine, texts):
    """The seconds of each mask."""
    seconds = []
    for text in texts:
        engine.begin()
        for token in [*text, None]:
            start = time.perf_counter()
            engine.fill()
            seconds.append(time.perf_counter() - start)
            if token is not None:
                engine.read(token)
    return seconds


def measure(name, engine, regex, texts):
    start = time.perf_counter()
    engine.compile(regex)
    compiled = time.perf_counter() - start
    first, again = walk(engine, texts), walk(engine, texts)
    return {"engine": name, "compile": compiled, "first": first, "again": again}


def main():
    if sys.argv[1:] == ["--version"]:
        print(" and ".join(NAMES))
        return
    path, end_id = sys.argv[1], int(sys.argv[2])
    engines = list(zip(NAMES, [Outlines(path, end_id), Llguidance(path, end_id)]))
    for line in sys.stdin:
        asked = json.loads(line)
        answers = [measure(name, engine, asked["regex"], asked["texts"]) for name, engine in engines]
        print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    main()
