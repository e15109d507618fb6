"""Tools on /v1/responses."""

import json
from typing import Literal

import openai
import pytest
from conftest import bare_ids, error_of
from pydantic import BaseModel, Field
from test_constrained import SCHEMA, TOOLS, check, tagged  # noqa: F401

# The same tools, in the flat form of this route.
FLAT = [{"type": "function", **tool["function"]} for tool in TOOLS]


@pytest.fixture
def respond(client):
    def ask(input="Feed the fox.", **options):
        options = {"model": "ember", "tools": FLAT, "max_output_tokens": 120, **options}
        return client.responses.create(input=input, **options)

    return ask


def as_chat(call):
    """An item as the call of a chat."""
    function = openai.types.chat.chat_completion_message_tool_call.Function(name=call.name, arguments=call.arguments)
    return openai.types.chat.ChatCompletionMessageToolCall(id=call.call_id, type="function", function=function)


def test_a_call_is_that_of_a_chat(respond, chat):
    flat, nested = {"type": "function", "name": "count"}, {"type": "function", "function": {"name": "count"}}
    for seed in range(4):
        for of_response, of_chat in [("required", "required"), (flat, nested)]:
            found = respond(tool_choice=of_response, extra_body={"seed": seed})
            message = chat("Feed the fox.", tools=TOOLS, tool_choice=of_chat, seed=seed, max_completion_tokens=120)
            [call] = found.output
            [expected] = message.choices[0].message.tool_calls
            assert (call.type, call.status, found.status) == ("function_call", "completed", "completed")
            assert call.id.startswith("fc_") and len(call.call_id) == 9 and call.call_id.isalnum()
            assert (call.name, call.arguments) == (expected.function.name, expected.function.arguments)
            assert found.output_text == ""
            check(as_chat(call))
    assert [tool.name for tool in found.tools] == ["feed", "count", "now"]
    assert found.tools[0].parameters == FLAT[0]["parameters"] and found.tool_choice.name == "count"
    assert found.parallel_tool_calls is True


def test_without_a_call_the_answer_is_a_message(respond):
    plain = respond(temperature=0, tools=[], max_output_tokens=20)
    assert (plain.tool_choice, plain.tools) == ("auto", [])
    for choice in ["auto", "none"]:
        found = respond(temperature=0, tool_choice=choice, max_output_tokens=20)
        assert [item.type for item in found.output] == ["message"] and found.output_text == plain.output_text
        assert found.tool_choice == choice


def test_a_call_that_is_cut_off_is_incomplete(respond):
    found = respond(tool_choice="required", max_output_tokens=12, extra_body={"seed": 1})
    assert (found.status, found.output[-1].status) == ("incomplete", "incomplete")


def test_the_events_of_a_call_are_the_call(respond):
    for seed in range(3):
        options = {"tool_choice": "required", "extra_body": {"seed": seed}}
        [whole] = respond(**options).output
        events = list(respond(stream=True, **options))
        assert [event.sequence_number for event in events] == list(range(len(events)))
        types = [event.type for event in events]
        deltas = types.count("response.function_call_arguments.delta")
        assert deltas > 1 and types == [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            *["response.function_call_arguments.delta"] * deltas,
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
        by_type = {event.type: event for event in events}
        begun, ended = (by_type[f"response.output_item.{at}"] for at in ("added", "done"))
        assert (begun.item.status, begun.item.arguments, begun.output_index) == ("in_progress", "", 0)
        text = "".join(event.delta for event in events if event.type == "response.function_call_arguments.delta")
        done = by_type["response.function_call_arguments.done"]
        assert text == done.arguments == ended.item.arguments == whole.arguments
        assert begun.item.name == ended.item.name == whole.name
        assert events[-1].response.output == [ended.item]
        assert {event.item_id for event in events if hasattr(event, "item_id")} == {ended.item.id}


class Feed(BaseModel):
    """Gives food to an animal."""

    animal: Literal["cat", "dog", "fox"]
    spoons: int = Field(ge=1, le=5)


def test_the_client_parses_arguments(client):
    # The client makes it flat.
    tools = [openai.pydantic_function_tool(Feed)]
    options = {"model": "ember", "input": "Feed the fox.", "tools": tools, "tool_choice": "required", "extra_body": {"seed": 3}}
    [call] = client.responses.parse(**options).output
    assert isinstance(call.parsed_arguments, Feed)
    with client.responses.stream(**options) as stream:
        pieces = [event.delta for event in stream if event.type == "response.function_call_arguments.delta"]
        [streamed] = stream.get_final_response().output
    assert "".join(pieces) == streamed.arguments == call.arguments
    assert streamed.parsed_arguments == call.parsed_arguments


def test_the_loop_of_calls_and_outputs(client, respond, chat):
    conversation = [{"role": "user", "content": "How many are there?"}]
    messages = [*conversation]
    for turn in range(2):
        found = respond(conversation, tool_choice="required", extra_body={"seed": turn})
        conversation += [item.model_dump(exclude_none=True) for item in found.output]
        for call in found.output:
            check(as_chat(call))
            conversation.append({"type": "function_call_output", "call_id": call.call_id, "output": "There are three."})
            messages.append({"role": "assistant", "content": None, "tool_calls": [as_chat(call).model_dump()]})
            messages.append({"role": "tool", "tool_call_id": call.call_id, "content": "There are three."})
    final = respond(conversation, tool_choice="none", temperature=0, max_output_tokens=10)
    of_chat = chat(messages=messages, tools=TOOLS, tool_choice="none", temperature=0, max_completion_tokens=10)
    assert final.output_text == of_chat.choices[0].message.content
    assert final.usage.input_tokens == of_chat.usage.prompt_tokens


def test_a_template_sees_the_tools_the_calls_and_their_outputs(tagged):  # noqa: F811
    client = tagged.client()
    call = {"type": "function_call", "call_id": "call_1", "name": "feed", "arguments": '{"animal": "fox"}'}
    parts = [{"type": "input_text", "text": "do"}, {"type": "input_text", "text": "ne"}]
    items = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "y"},
        call,
        {**call, "call_id": "call_2", "arguments": '{"animal": "cat"}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "done"},
        {"type": "function_call_output", "call_id": "call_2", "output": parts},
    ]
    answer = client.responses.create(model="tagged", input=items, tools=FLAT, tool_choice="none", max_output_tokens=1)
    begin = 'feed count now;\nWrite <tool_call>{"name": ..., "arguments": ...}</tool_call>;'
    # Calls of one answer are in one message.
    text = f"{begin}u:x;a:yfeed(fox)feed(cat);t:done;t:done;"
    assert answer.usage.input_tokens == len(bare_ids(tagged.http(), text))


def test_several_calls_are_several_items(tagged):  # noqa: F811
    client, several = tagged.client(), 0
    for seed in range(12):
        options = {"model": "tagged", "input": "Feed them.", "tools": FLAT, "tool_choice": "required", "max_output_tokens": 200}
        options["extra_body"] = {"seed": seed}
        found = client.responses.create(**options)
        assert all(item.type == "function_call" for item in found.output)
        assert all(item.status == "completed" for item in found.output[:-1])
        assert found.output[-1].status == found.status
        [check(as_chat(call)) for call in found.output if call.status == "completed"]
        several += len(found.output) > 1
        if seed < 3:
            events = list(client.responses.create(**options, stream=True))
            done = [event for event in events if event.type == "response.output_item.done"]
            assert [event.output_index for event in done] == list(range(len(found.output)))
            assert [(e.item.name, e.item.arguments) for e in done] == [(c.name, c.arguments) for c in found.output]
        one = client.responses.create(**options, parallel_tool_calls=False)
        assert len(one.output) == 1 and one.parallel_tool_calls is False
    assert several > 0


def test_log_probabilities_are_those_of_text(respond):
    options = {"include": ["message.output_text.logprobs"], "temperature": 0, "max_output_tokens": 20}
    [message] = respond(**options).output
    text = b"".join(bytes(token.bytes) for token in message.content[0].logprobs).decode()
    assert text.startswith(message.content[0].text) and len(message.content[0].logprobs) == 20
    streamed = [event for event in respond(**options, stream=True) if event.type == "response.output_text.delta"]
    assert [token.token for event in streamed for token in event.logprobs] == [t.token for t in message.content[0].logprobs]
    [call] = respond(**{**options, "max_output_tokens": 120}, tool_choice="required").output
    assert call.type == "function_call"


def test_an_answer_beside_calls_may_have_a_schema(respond):
    form = {"format": {"type": "json_schema", "name": "x", "schema": SCHEMA}}
    for seed in range(4):
        [item] = respond(text=form, max_output_tokens=150, extra_body={"seed": seed}).output
        if item.type == "function_call":
            check(as_chat(item))
        else:
            assert list(json.loads(item.content[0].text)) == ["name", "age"]


CALL = {"type": "function_call", "call_id": "c", "name": "feed", "arguments": "{}"}


@pytest.mark.parametrize(
    ("body", "param", "says"),
    [
        ({"tools": [{"type": "function", "name": "a b"}]}, "tools[0].name", "letters"),
        ({"tools": [FLAT[0], FLAT[0]]}, "tools[1].name", "before it"),
        ({"tools": [{"type": "function", "name": "a", "parameters": {"properties": {"x": {"type": "odd"}}}}]}, "tools[0].parameters", "#/properties/x: `type` is \"odd\""),
        ({"tools": TOOLS}, "tools[0].name", "missing"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type", "function"),
        ({"tool_choice": "required"}, "tool_choice", "no tools"),
        ({"tools": FLAT, "tool_choice": {"type": "function", "name": "sing"}}, "tool_choice", "sing"),
        ({"tools": FLAT, "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []}}, "tool_choice", "required"),
        ({"input": [{**CALL, "call_id": None}]}, "input[0].call_id", "string"),
        ({"input": [{"role": "user", "content": "x"}, {"type": "function_call_output", "output": "x"}]}, "input[1].call_id", "missing"),
        ({"input": [{"type": "function_call_output", "call_id": "c", "output": 3}]}, "input[0].output", "parts"),
        ({"input": [{"type": "web_search_call"}]}, "input[0].type", "function_call_output"),
        ({"input": [{"type": "reasoning", "summary": []}]}, "input[0]", "chat template"),
    ],
)
def test_what_cannot_be_used_is_named(http, body, param, says):
    error = error_of(http.post("/v1/responses", json={"input": "x", **body}))
    assert error["param"] == param and says in error["message"], error
