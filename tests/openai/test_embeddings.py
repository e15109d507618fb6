"""/v1/embeddings."""

import base64
import math
import struct
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest
from conftest import error_of, token_ids

TEXT = "Once upon a time there was a little fox"


def vectors(client, input, **options):
    found = client.embeddings.create(model="ember", input=input, **options)
    assert found.object == "list" and found.model == "ember"
    assert [item.index for item in found.data] == list(range(len(found.data)))
    return [item.embedding for item in found.data], found.usage


def test_a_vector_has_length_1_however_it_is_written(client, http):
    # The client asks for base64 by itself.
    [[vector], usage] = vectors(client, TEXT)
    assert len(vector) == 192
    assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)
    count = len(token_ids(http, TEXT))
    assert (usage.prompt_tokens, usage.total_tokens) == (count, count)
    numbers = http.post("/v1/embeddings", json={"input": TEXT}).json()["data"][0]["embedding"]
    assert numbers == pytest.approx(vector, abs=1e-7)
    body = {"input": TEXT, "encoding_format": "base64"}
    text = http.post("/v1/embeddings", json=body).json()["data"][0]["embedding"]
    assert list(struct.unpack("<192f", base64.b64decode(text))) == pytest.approx(vector, abs=1e-7)


def test_input_is_a_text_or_ids_or_a_list_of_either(client, http):
    texts = [TEXT, "The dog ran home", "One day"]
    each = [vectors(client, text)[0][0] for text in texts]
    ids = [token_ids(http, text) for text in texts]
    assert vectors(client, texts)[0] == each
    assert vectors(client, ids)[0] == each
    assert vectors(client, ids[1])[0] == [each[1]]
    assert vectors(client, texts)[1].prompt_tokens == sum(map(len, ids))


def test_the_pooling_is_the_mean_unless_the_last_token_is_asked_for(client):
    mean, explicit, last = (
        vectors(client, TEXT, extra_body=body)[0][0] for body in [{}, {"pooling": "mean"}, {"pooling": "last"}]
    )
    assert mean == explicit != last


def test_similar_texts_are_nearer_than_others(client):
    (a, b, c), _ = vectors(client, ["The cat sat on the mat.", "The cat sat on a mat.", "1 + 1 = 2 %&!"])
    dot = lambda x, y: sum(p * q for p, q in zip(x, y))
    assert dot(a, b) > dot(a, c)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"input": []}, "input"),
        ({"input": [[]]}, "input"),
        ({"input": ["x"] * 2049}, "input"),
        ({"input": [99999]}, "input"),
        ({"input": {"text": "x"}}, "input"),
        ({"input": "fox " * 600}, "input"),
        ({"input": "x", "dimensions": 64}, "dimensions"),
        ({"input": "x", "encoding_format": "int8"}, "encoding_format"),
        ({"input": "x", "pooling": "cls"}, "pooling"),
    ],
)
def test_what_is_wrong_is_named(http, body, param):
    assert error_of(http.post("/v1/embeddings", json=body))["param"] == param


def test_the_models_own_dimensions_are_accepted(client):
    assert len(vectors(client, TEXT, dimensions=192)[0][0]) == 192


def test_texts_that_are_written_meanwhile_are_the_same(client, server):
    story = dict(model="ember", prompt="One day", max_tokens=80, seed=5, extra_body={"ignore_eos": True})
    alone = client.completions.create(**story).choices[0].text
    [[vector], _] = vectors(client, TEXT)
    with ThreadPoolExecutor(8) as pool:
        stories = [pool.submit(client.completions.create, **story) for _ in range(4)]
        embedded = [pool.submit(vectors, client, [TEXT] * 3) for _ in range(4)]
        assert all(answer.result().choices[0].text == alone for answer in stories)
        assert all(answer.result()[0] == [vector] * 3 for answer in embedded)
    assert server.metric("kv_blocks_used") == 0


def test_a_budget_that_is_too_small_and_a_deadline_are_errors(serve):
    small = serve("--kv-cache-bytes", "200KiB")
    with pytest.raises(openai.BadRequestError) as raised:
        vectors(small.client(), "fox " * 400)
    assert raised.value.param == "input"
    slow = serve("--request-timeout", "0.001")
    with pytest.raises(openai.APIStatusError) as raised:
        vectors(slow.client(), ["fox " * 200] * 50)
    assert raised.value.status_code == 503 and raised.value.code == "deadline_exceeded"
