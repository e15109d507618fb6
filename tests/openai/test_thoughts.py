"""A model that thinks before it answers: two of ember's words are the marks around a thought."""

import json

import openai
import pytest

from conftest import ROOT, link_ember, start, stop

MARKS = {"Ġthere": "<think>", "Ġyoung": "</think>"}


@pytest.fixture(scope="module")
def thinker(tmp_path_factory):
    """Ember goes on with " there was a young sleepy bear"."""
    folder = tmp_path_factory.mktemp("thinker")
    link_ember(folder)
    tokenizer = json.loads((ROOT / "models/ember/tokenizer.json").read_text())
    vocab, merges = tokenizer["model"]["vocab"], tokenizer["model"]["merges"]
    for word, mark in MARKS.items():
        vocab[mark] = vocab.pop(word)
    parts = [merge if isinstance(merge, list) else merge.split(" ") for merge in merges]
    tokenizer["model"]["merges"] = [part for part in parts if "".join(part) not in MARKS]
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "chat_template.jinja").write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
    server = start("--log", "error", "--model", str(folder), "--model-name", "thinker")
    yield server
    stop(server)


def ask(server, budget=None, **options):
    body = {} if budget is None else {"extra_body": {"max_reasoning_tokens": budget}}
    messages = [{"role": "user", "content": "Once upon a time,"}]
    options = {"temperature": 0, "max_completion_tokens": 12, **body, **options}
    return server.client().chat.completions.create(model="thinker", messages=messages, **options)


@pytest.mark.parametrize(("budget", "thought", "tokens"), [(None, "was a", 4), (1, "was", 3), (0, None, 2)])
def test_a_thought_is_beside_the_answer_and_ends_with_its_budget(thinker, budget, thought, tokens):
    answer = ask(thinker, budget)
    message = answer.choices[0].message
    assert getattr(message, "reasoning_content", None) == thought and message.content
    assert answer.usage.completion_tokens == 12
    assert answer.usage.completion_tokens_details.reasoning_tokens == tokens
    deltas = [chunk.choices[0].delta for chunk in ask(thinker, budget, stream=True)]
    thoughts = [getattr(delta, "reasoning_content", None) for delta in deltas]
    assert "".join(text or "" for text in thoughts) == (thought or "")
    assert "".join(delta.content or "" for delta in deltas) == message.content
    # No piece of the thought comes behind the answer.
    last = max((index for index, text in enumerate(thoughts) if text), default=0)
    assert not any(delta.content for delta in deltas[:last])


def test_the_form_of_an_answer_begins_behind_the_thought(thinker):
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"enum": ["yes", "no"]}}}
    message = ask(thinker, response_format=form).choices[0].message
    assert message.reasoning_content == "was a" and json.loads(message.content) in ["yes", "no"]


def test_a_response_has_an_item_for_the_thought(thinker):
    options = {"temperature": 0, "max_output_tokens": 12, "extra_body": {"max_reasoning_tokens": 1}}
    answer = thinker.client().responses.create(model="thinker", input="Once upon a time,", **options)
    thought, message = answer.output
    assert thought.type == "reasoning" and thought.content[0].text == "was" and message.content[0].text
    assert answer.usage.output_tokens_details.reasoning_tokens == 3


def test_a_budget_is_refused_where_no_thought_has_marks(serve):
    client = serve().client()
    with pytest.raises(openai.BadRequestError, match="max_reasoning_tokens"):
        messages = [{"role": "user", "content": "x"}]
        client.chat.completions.create(model="ember", messages=messages, extra_body={"max_reasoning_tokens": 1})
