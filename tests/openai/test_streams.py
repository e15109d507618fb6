"""Server-sent events."""

import json
import threading

import openai
import pytest
from conftest import events, token_ids, wait_until

CHAT = {"model": "ember", "messages": [{"role": "user", "content": "Once upon a time"}]}


@pytest.mark.parametrize("n", [1, 3])
def test_a_chat_stream_has_the_shape_that_clients_know(http, n):
    chunks = events(http, "/v1/chat/completions", {**CHAT, "max_tokens": 12, "n": n, "seed": 1})
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert all("usage" not in chunk for chunk in chunks)
    for index in range(n):
        mine = [c["choices"][0] for c in chunks if c["choices"][0]["index"] == index]
        assert mine[0]["delta"] == {"role": "assistant", "content": ""}
        assert all("role" not in choice["delta"] for choice in mine[1:])
        assert mine[-1]["delta"] == {} and mine[-1]["finish_reason"] in ("length", "stop")
        assert all(choice["finish_reason"] is None for choice in mine[:-1])
    if n > 1:
        order = [chunk["choices"][0]["index"] for chunk in chunks]
        assert order != sorted(order), "the choices come together"


def test_usage_comes_when_asked_for_in_a_last_chunk_without_choices(client, http):
    options = {**CHAT, "max_tokens": 9, "seed": 1}
    whole = client.chat.completions.create(**options).usage
    chunks = events(http, "/v1/chat/completions", {**options, "stream_options": {"include_usage": True}})
    assert chunks[-1]["choices"] == []
    assert all(chunk["usage"] is None for chunk in chunks[:-1])
    found = chunks[-1]["usage"]
    assert (found["prompt_tokens"], found["completion_tokens"], found["total_tokens"]) == (
        whole.prompt_tokens,
        whole.completion_tokens,
        whole.total_tokens,
    )
    for options in [{}, {"stream_options": {}}, {"stream_options": {"include_usage": False}}]:
        chunks = events(http, "/v1/completions", {"prompt": "x", **options})
        assert all("usage" not in chunk for chunk in chunks)


@pytest.mark.parametrize("options", [{}, {"stop": "pond"}, {"n": 3}, {"echo": True}, {"max_tokens": 500}])
def test_joined_pieces_equal_the_whole(client, options):
    options = {"max_tokens": 60, "seed": 42, "temperature": 0.8, **options}
    whole = client.completions.create(model="ember", prompt="Once upon a time", **options)
    joined, reasons = {}, {}
    for chunk in client.completions.create(
        model="ember", prompt="Once upon a time", stream=True, **options
    ):
        [choice] = chunk.choices
        joined[choice.index] = joined.get(choice.index, "") + choice.text
        if choice.finish_reason:
            reasons[choice.index] = choice.finish_reason
    for choice in whole.choices:
        assert joined[choice.index] == choice.text
        assert reasons[choice.index] == choice.finish_reason


def test_streamed_logprobs_equal_those_of_the_whole(client):
    options = dict(model="ember", prompt="Once upon a time", temperature=0, logprobs=2, max_tokens=15)
    whole = client.completions.create(**options).choices[0].logprobs
    pieces = [chunk.choices[0].logprobs for chunk in client.completions.create(stream=True, **options)]
    pieces = [piece for piece in pieces if piece]
    for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset"):
        assert sum((getattr(piece, name) for piece in pieces), []) == getattr(whole, name)


def test_no_piece_splits_a_character(http):
    # Tokens that are single bytes are likely where the text has such characters.
    bias = {str(token): 30 for token in token_ids(http, "🦊é漢")[1:]}
    body = {"prompt": "🦊é漢🦊é漢", "max_tokens": 60, "logit_bias": bias, "seed": 3}
    body |= {"model": "ember", "ignore_eos": True}
    chunks = events(http, "/v1/completions", body)
    joined = "".join(chunk["choices"][0]["text"] for chunk in chunks)
    whole = http.post("/v1/completions", json=body).json()["choices"][0]["text"]
    assert joined == whole
    assert any(ord(c) > 127 for c in whole)


def test_seeds_repeat_under_load(client):
    def story(seed):
        return client.completions.create(
            model="ember", prompt="One day", seed=seed, temperature=1.2, max_tokens=40
        ).choices[0].text

    alone = [story(seed) for seed in range(8)]
    found = [None] * 8

    def run(seed):
        found[seed] = story(seed)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert found == alone


def test_a_client_that_goes_away_frees_its_blocks(serve):
    server = serve()
    for path, body in [
        ("/v1/completions", {"prompt": "One day", "max_tokens": 490, "ignore_eos": True, "n": 4}),
        ("/generate", {"prompt": "One day", "max_tokens": 490, "ignore_eos": True}),
    ]:
        before = server.metric('sequences_finished_total{finish_reason="cancelled"}')
        with server.http() as http:
            with http.stream("POST", path, json={**body, "stream": True}) as response:
                next(response.iter_lines())
        wait_until(lambda: server.metric("sequences_running") + server.metric("kv_blocks_used") == 0)
        after = server.metric('sequences_finished_total{finish_reason="cancelled"}')
        assert after - before == body.get("n", 1)


def test_an_error_in_mid_stream_raises_in_the_client(serve):
    server = serve("--drain-timeout", "0.2", "--write-timeout", "5")
    stream = server.client().completions.create(
        model="ember",
        prompt="One day",
        max_tokens=500,
        n=60,
        stream=True,
        extra_body={"ignore_eos": True},
    )
    next(iter(stream))
    server.process.terminate()
    with pytest.raises(openai.APIError) as raised:
        for _ in stream:
            pass
    assert "shutting down" in raised.value.message
    assert server.process.wait(timeout=20) == 0


def test_what_runs_is_finished_before_the_end(serve):
    server = serve()
    options = dict(model="ember", prompt="One day", max_tokens=300, seed=5)
    options["extra_body"] = {"ignore_eos": True}
    whole = server.client().completions.create(**options).choices[0].text
    stream = server.client().completions.create(stream=True, **options)
    pieces = [next(iter(stream)).choices[0].text]
    server.process.terminate()
    pieces += [chunk.choices[0].text for chunk in stream]
    assert "".join(pieces) == whole
    assert server.process.wait(timeout=20) == 0


def test_a_deadline_ends_a_text_and_refuses_what_has_not_begun(serve):
    server = serve("--request-timeout", "0.3", "--max-running", "1", "--drain-timeout", "5")
    long = dict(model="ember", prompt="One day", max_tokens=500, extra_body={"ignore_eos": True})
    # One at a time: some had their turn, and the others waited too long.
    try:
        answer = server.client().completions.create(n=60, **long)
    except openai.APIStatusError as error:
        assert error.status_code == 503 and error.code == "deadline_exceeded"
        assert int(error.response.headers["retry-after"]) >= 1
    else:
        assert {choice.finish_reason for choice in answer.choices} == {"length"}


def test_generate_streams_tokens_and_an_end(http):
    body = {"prompt": "Once upon a time", "seed": 42, "temperature": 0.8, "max_tokens": 30, "logprobs": 3}
    whole = http.post("/generate", json=body).json()
    with http.stream("POST", "/generate", json={**body, "stream": True}) as response:
        data = [json.loads(line[6:]) for line in response.iter_lines() if line]
    *tokens, end = data
    assert "".join(token["token"] for token in tokens) == whole["text"]
    assert tokens == whole["tokens"] and len(tokens) == 30
    assert [token["index"] for token in tokens] == list(range(30))
    assert all(len(token["top"]) == 3 for token in tokens)
    assert end["finish_reason"] == whole["finish_reason"] == "length"
    assert end["usage"]["completion_tokens"] == 30
    assert end["ttft_seconds"] <= end["total_seconds"]
