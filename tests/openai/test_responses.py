"""/v1/responses."""

from typing import Annotated, Literal

import openai
import pytest
from conftest import error_of
from pydantic import BaseModel, Field

PROMPT = "Once upon a time"


@pytest.fixture
def respond(client):
    """Asks the model; all options can be replaced."""

    def ask(input=PROMPT, **options):
        options.setdefault("model", "ember")
        options.setdefault("max_output_tokens", 20)
        return client.responses.create(input=input, **options)

    return ask


def test_a_response_is_the_answer_of_a_chat(respond, chat):
    found = respond(temperature=0, metadata={"a": "b"})
    assert found.object == "response" and found.id.startswith("resp_")
    assert (found.status, found.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert found.error is None and found.metadata == {"a": "b"} and found.store is False
    assert (found.tools, found.temperature, found.top_p, found.max_output_tokens) == ([], 0, 1, 20)
    [message] = found.output
    assert (message.type, message.role, message.status) == ("message", "assistant", "incomplete")
    [part] = message.content
    assert part.type == "output_text" and part.annotations == []
    of_chat = chat(temperature=0)
    assert found.output_text == part.text == of_chat.choices[0].message.content
    assert (found.usage.input_tokens, found.usage.output_tokens, found.usage.total_tokens) == (
        of_chat.usage.prompt_tokens,
        20,
        of_chat.usage.total_tokens,
    )
    assert found.usage.input_tokens_details.cached_tokens <= found.usage.input_tokens
    assert found.usage.output_tokens_details.reasoning_tokens == 0


def test_a_text_that_ends_by_itself_is_completed(respond):
    found = respond(max_output_tokens=None, temperature=0.8, extra_body={"seed": 42})
    assert found.status == "completed" and found.incomplete_details is None
    assert found.output[0].status == "completed"


def test_input_is_a_text_or_messages(respond, chat):
    reference = chat("Once upon", temperature=0).choices[0].message.content
    parts = [{"type": "input_text", "text": "Once"}, {"type": "input_text", "text": " upon"}]
    for messages in [
        [{"role": "user", "content": "Once upon"}],
        [{"role": "user", "content": parts}],
        [{"type": "message", "role": "user", "content": parts}],
    ]:
        assert respond(messages, temperature=0).output_text == reference
    with_system = chat(
        messages=[{"role": "system", "content": "A story."}, {"role": "user", "content": PROMPT}], temperature=0
    )
    found = respond(instructions="A story.", temperature=0)
    assert found.output_text == with_system.choices[0].message.content
    assert found.instructions == "A story."


def test_an_answer_can_be_sent_back_in_a_conversation(respond, chat):
    first = respond(temperature=0)
    messages = [{"role": "user", "content": PROMPT}, *first.output, {"role": "user", "content": "Then"}]
    found = respond([m if isinstance(m, dict) else m.model_dump() for m in messages], temperature=0)
    texts = [PROMPT, first.output_text, "Then"]
    roles = ["user", "assistant", "user"]
    of_chat = chat(messages=[{"role": r, "content": t} for r, t in zip(roles, texts)], temperature=0)
    assert found.output_text == of_chat.choices[0].message.content


@pytest.mark.parametrize("options", [{"max_output_tokens": 12}, {"max_output_tokens": None, "extra_body": {"seed": 42}}])
def test_a_stream_has_the_events_that_clients_know(respond, options):
    options = {"temperature": 0.8, "extra_body": {"seed": 7}, **options}
    whole = respond(**options)
    events = list(respond(stream=True, **options))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    types = [event.type for event in events]
    deltas = types.count("response.output_text.delta")
    assert types == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        *["response.output_text.delta"] * deltas,
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        f"response.{whole.status}",
    ]
    assert deltas > 5
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    done = {event.type: event for event in events}
    assert text == whole.output_text
    assert done["response.output_text.done"].text == text
    assert done["response.content_part.done"].part.text == text
    assert done["response.output_item.done"].item.content[0].text == text
    begun, ended = events[0].response, events[-1].response
    assert (begun.status, begun.output, begun.usage) == ("in_progress", [], None)
    assert ended.output_text == text and ended.usage == whole.usage and ended.id == begun.id
    assert {event.item_id for event in events if hasattr(event, "item_id")} == {ended.output[0].id}


def test_the_helper_of_the_client_collects_a_stream(client):
    options = dict(temperature=0.8, extra_body={"seed": 42})
    with client.responses.stream(model="ember", input=PROMPT, **options) as stream:
        pieces = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()
    assert final.output_text == "".join(pieces)


def test_an_event_has_the_name_of_its_type(http):
    body = {"input": PROMPT, "max_output_tokens": 3, "stream": True}
    with http.stream("POST", "/v1/responses", json=body) as response:
        lines = [line for line in response.iter_lines() if line]
    assert lines[0] == "event: response.created"
    for name, data in zip(lines[::2], lines[1::2]):
        assert f'"type":"{name.removeprefix("event: ")}"' in data


def test_logprobs_are_those_of_a_chat(respond, chat):
    found = respond(temperature=0, include=["message.output_text.logprobs"], top_logprobs=2)
    of_chat = chat(temperature=0, logprobs=True, top_logprobs=2).choices[0].logprobs.content
    logprobs = found.output[0].content[0].logprobs
    assert [(t.token, t.logprob) for t in logprobs] == [(t.token, t.logprob) for t in of_chat]
    assert all(len(token.top_logprobs) == 2 for token in logprobs)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"background": True}, "background"),
        ({"prompt": {"id": "p"}}, "prompt"),
        ({"truncation": "auto"}, "truncation"),
        ({"text": {"format": {"type": "xml"}}}, "text.format.type"),
        ({"text": {"format": {"type": "json_schema", "schema": {"not": {}}}}}, "text.format.schema"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"input": []}, "input"),
        ({"input": 3}, "input"),
        ({"input": [{"role": "king", "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": "user", "content": "x"}, {"type": "item", "role": "user", "content": "y"}]}, "input[1].type"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]}, "input[0].content"),
        ({"input": "fox " * 600}, "input"),
    ],
)
def test_what_is_wrong_or_not_supported_is_named(http, body, param):
    assert error_of(http.post("/v1/responses", json={"input": PROMPT, **body}))["param"] == param


class Weather(BaseModel):
    sky: Literal["clear", "grey"]
    degrees: Annotated[int, Field(ge=-9, le=40)]


def test_a_pydantic_model_is_parsed(client):
    for seed in range(3):
        options = dict(model="ember", input="It was cold.", text_format=Weather, extra_body={"seed": seed})
        found = client.responses.parse(**options)
        assert found.status == "completed" and isinstance(found.output_parsed, Weather)


def test_what_asks_for_nothing_is_accepted(respond):
    harmless = {
        "tools": [], "tool_choice": "auto", "background": False, "store": True, "truncation": "disabled",
        "previous_response_id": None, "parallel_tool_calls": True, "user": "me", "text": {"format": {"type": "text"}},
        "include": ["reasoning.encrypted_content"], "service_tier": "auto", "prompt_cache_key": "k",
    }
    assert respond(extra_body=harmless).output_text


def test_an_error_in_mid_stream_raises_in_the_client(serve):
    # 60 other texts keep the model busy for longer than the drain may take.
    server = serve("--drain-timeout", "0.2", "--write-timeout", "5")
    options = dict(model="ember", stream=True, extra_body={"ignore_eos": True})
    stream = server.client().responses.create(input="One day", **options)
    assert next(iter(stream)).type == "response.created"
    others = server.client().completions.create(prompt="One day", n=60, max_tokens=500, **options)
    next(iter(others))
    server.process.terminate()
    with pytest.raises(openai.APIError) as raised:
        for _ in stream:
            pass
    assert "shutting down" in raised.value.message
    assert server.process.wait(timeout=20) == 0
