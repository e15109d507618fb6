"""lm-evaluation-harness as a client: its log-likelihoods, held against those of `--score`.

Runs where the packages of requirements-lm-eval.txt are installed.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

# All is here: nothing is looked for on the network.
os.environ["HF_HUB_OFFLINE"] = "1"
pytest.importorskip("lm_eval")

EXAMPLE = Path(os.environ.get("SLOWBURN_SCORE", ROOT / "target/debug/examples/05_kv_cache")).resolve()

PAIRS = [
    ("Once upon a time", ", there was a little fox"),
    ("Once upon a time", ", there was a zebra crossing"),
    ("One day, the frog", " sat by the pond."),
    ("In the village, everyone knew", " the old bear"),
]


@pytest.fixture
def model(server, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    from lm_eval.models.openai_completions import LocalCompletionsAPI

    folder = tmp_path / "tokenizer"
    folder.mkdir()
    (folder / "tokenizer.json").symlink_to(ROOT / "models/ember/tokenizer.json")
    kind = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<|begin|>", "eos_token": "<|end|>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(kind))
    return LocalCompletionsAPI(
        base_url=f"{server.url}/v1/completions",
        model="ember",
        tokenizer=str(folder),
        tokenizer_backend="huggingface",
        max_length=512,
        batch_size=2,
        num_concurrent=1,
    )


def score(ids):
    """The log-probabilities of all tokens but the first, and whether each is the most likely one."""
    flags = ["--prompt-ids", ",".join(map(str, ids)), "--score", "--logprobs", "1", "--json"]
    done = subprocess.run([EXAMPLE, *flags], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)["logprobs"]
    return [token["logprob"] for token in found], [token["top"][0][0] == token["id"] for token in found]


def test_loglikelihoods_are_those_of_score(model):
    from lm_eval.api.instance import Instance

    requests = [
        Instance(request_type="loglikelihood", doc={}, arguments=pair, idx=i)
        for i, pair in enumerate(PAIRS)
    ]
    found = model.loglikelihood(requests)
    for (context, continuation), (logprob, is_greedy) in zip(PAIRS, found):
        context_ids, continuation_ids = model._encode_pair(context, continuation)
        logprobs, greedy = score(context_ids + continuation_ids)
        n = len(continuation_ids)
        assert logprob == pytest.approx(sum(logprobs[-n:]), abs=1e-4)
        assert is_greedy == all(greedy[-n:])
    assert found[0][0] > found[1][0]


def test_generation_is_greedy(model, server):
    from lm_eval.api.instance import Instance

    request = Instance(
        request_type="generate_until",
        doc={},
        arguments=("Once upon a time", {"until": ["."], "max_gen_toks": 30}),
        idx=0,
    )
    [found] = model.generate_until([request])
    greedy = server.client().completions.create(
        model="ember", prompt=model.tok_encode("Once upon a time"), temperature=0, max_tokens=30, stop="."
    )
    assert found == greedy.choices[0].text
