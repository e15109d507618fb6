"""Answers of a given form: schemas, regular expressions, grammars, and tools."""

import json
import re
from typing import Annotated, Literal

import openai
import pytest
from conftest import bare_ids, link_ember, start, stop
from pydantic import BaseModel, Field

Name = Annotated[str, Field(pattern="^[A-Z][a-z]{2,7}$")]


class Toy(BaseModel):
    colour: Literal["red", "green", "blue"]
    count: Annotated[int, Field(ge=1, le=3)]


class Animal(BaseModel):
    """What a story is about."""

    name: Name
    kind: Literal["cat", "dog", "fox"]
    toys: Annotated[list[Toy], Field(min_length=1, max_length=2)]
    friend: Name | None


SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^[A-Z][a-z]{2,7}$"}, "age": {"type": "integer", "minimum": 0, "maximum": 20}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def tool(name, **properties):
    parameters = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": "Does it.", "parameters": parameters}}


TOOLS = [
    tool("feed", animal={"enum": ["cat", "dog", "fox"]}, food={"type": "string", "maxLength": 12}),
    tool("count", things={"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 9}, "maxItems": 4}),
    tool("now"),
]


def check(call):
    """The arguments of a call, which are valid."""
    assert call.type == "function" and re.fullmatch("[0-9A-Za-z]{9}", call.id)
    arguments = json.loads(call.function.arguments)
    match call.function.name:
        case "feed":
            assert list(arguments) == ["animal", "food"]
            assert arguments["animal"] in ("cat", "dog", "fox") and len(arguments["food"]) <= 12
        case "count":
            assert all(0 <= thing <= 9 for thing in arguments["things"]) and len(arguments["things"]) <= 4
        case name:
            assert (name, arguments) == ("now", {})
    return arguments


def refused(raised):
    body = raised.value.body
    assert set(body) == {"message", "type", "param", "code"} and body["type"] == "invalid_request_error"
    return body


def test_a_pydantic_model_is_parsed(client):
    for ask in [client.chat.completions.parse, client.beta.chat.completions.parse]:
        for seed in range(3):
            answer = ask(
                model="ember",
                messages=[{"role": "user", "content": "Once there was a fox called Mira."}],
                response_format=Animal,
                max_completion_tokens=300,
                seed=seed,
            )
            animal = answer.choices[0].message.parsed
            assert isinstance(animal, Animal)
            assert answer.choices[0].finish_reason == "stop"


def test_a_stream_of_an_object_is_parsed(client):
    options = {
        "model": "ember",
        "messages": [{"role": "user", "content": "Once there was a cat."}],
        "response_format": Animal,
        "max_completion_tokens": 300,
        "seed": 5,
    }
    with client.chat.completions.stream(**options) as stream:
        deltas = "".join(event.delta for event in stream if event.type == "content.delta")
        final = stream.get_final_completion()
    whole = client.chat.completions.parse(**options)
    assert deltas == whole.choices[0].message.content
    assert final.choices[0].message.parsed == whole.choices[0].message.parsed


def test_a_json_object_is_one(chat, http):
    # Ember has never seen an object, and would go on for long.
    bias = {str(bare_ids(http, c)[-1]): 6 for c in '"}'}
    done = 0
    for seed in range(6):
        options = {"seed": seed, "max_completion_tokens": 200, "logit_bias": bias}
        answer = chat(response_format={"type": "json_object"}, **options)
        text = answer.choices[0].message.content
        assert text.startswith("{")
        if answer.choices[0].finish_reason == "stop":
            assert isinstance(json.loads(text), dict)
            done += 1
    assert done > 0
    assert chat(response_format={"type": "text"}, temperature=0).choices[0].message.content == chat(temperature=0).choices[0].message.content


LARK = 'start: "(" start ")" | WORD\nWORD: /[a-z]{1,4}/'
REGEX = r" There was a (cat|dog|fox)\."

FORMS = [
    ({"guided_regex": REGEX}, lambda text: re.fullmatch(REGEX, text)),
    ({"guided_choice": [" yes", " no"]}, lambda text: text in (" yes", " no")),
    ({"guided_json": SCHEMA}, lambda text: list(json.loads(text)) == ["name", "age"]),
    ({"guided_json": json.dumps(SCHEMA)}, lambda text: list(json.loads(text)) == ["name", "age"]),
    ({"guided_grammar": LARK}, lambda text: re.fullmatch(r"(\(*)[a-z]{1,4}(\)*)", text) and text.count("(") == text.count(")")),
    ({"guided_grammar": 'start: NAME " ::= " NAME\nNAME: /[a-z]{1,3}/'}, lambda text: re.fullmatch("[a-z]{1,3} ::= [a-z]{1,3}", text)),
    ({"structured_outputs": {"regex": REGEX}}, lambda text: re.fullmatch(REGEX, text)),
    ({"structured_outputs": {"choice": [" yes", " no"]}}, lambda text: text in (" yes", " no")),
    ({"structured_outputs": {"json": SCHEMA}}, lambda text: list(json.loads(text)) == ["name", "age"]),
    ({"structured_outputs": {"grammar": LARK}}, lambda text: text.count("(") == text.count(")")),
    ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": SCHEMA}}}, lambda text: list(json.loads(text)) == ["name", "age"]),
]


@pytest.mark.parametrize(("form", "fits"), FORMS)
def test_the_fields_of_vllm_say_what_fits(chat, complete, form, fits):
    for seed in range(3):
        options = {"seed": seed, "extra_body": form}
        answer = complete("Was the fox sly?", max_tokens=150, **options).choices[0]
        assert answer.finish_reason == "stop" and fits(answer.text), answer.text
        answer = chat("Was the fox sly?", max_completion_tokens=150, **options).choices[0]
        assert answer.finish_reason == "stop" and fits(answer.message.content), answer.message.content


def nested(part):
    return {"type": "object", "properties": {"a": {"type": "array", "items": part}}}


def doubled(times):
    """Each definition has the next one twice, beside a constraint, which takes a copy."""
    definitions = {f"a{times}": {"type": "object"}}
    for i in range(times):
        following = {"type": "object", "$ref": f"#/$defs/a{i + 1}"}
        definitions[f"a{i}"] = {"type": "object", "properties": {"x": following, "y": following}}
    return {"$ref": "#/$defs/a0", "$defs": definitions}


@pytest.mark.parametrize(
    ("form", "param", "says"),
    [
        ({"guided_regex": "("}, "guided_regex", "a `(` has no `)`"),
        ({"guided_choice": []}, "guided_choice", "allows no text"),
        ({"guided_json": nested({"if": {}})}, "guided_json", "#/properties/a/items: `if` cannot be kept to"),
        ({"guided_json": "{"}, "guided_json", "no JSON"),
        ({"guided_json": {"type": "object", "properties": {f"a{i}": {"type": "null"} for i in range(20000)}}}, "guided_json", "262144 bytes"),
        ({"guided_json": doubled(30)}, "guided_json", "250000 parts"),
        ({"guided_grammar": "root ::= x"}, "guided_grammar", "syntax of Lark"),
        ({"guided_grammar": "# A name.\nroot ::= name\n  first-name ::= [a-z]+"}, "guided_grammar", "syntax of Lark"),
        ({"guided_grammar": "start: " + "a{" * 3000}, "guided_grammar", "2000 brackets"),
        ({"guided_grammar": "start: a"}, "guided_grammar", "which is nowhere defined"),
        ({"guided_regex": "a", "guided_choice": ["a"]}, "guided_choice", "guided_regex and guided_choice both"),
        ({"guided_regex": "a", "structured_outputs": {"json_object": True}}, "structured_outputs.json_object", "both"),
        ({"structured_outputs": {"structural_tag": "x"}}, "structured_outputs.structural_tag", "not supported"),
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": nested({"type": "odd"})}}}, "response_format.json_schema.schema", "#/properties/a/items: `type` is \"odd\""),
        ({"response_format": {"type": "xml"}}, "response_format.type", "json_object"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema", "missing"),
    ],
)
def test_a_form_that_cannot_be_used_is_400_and_says_where(chat, complete, form, param, says):
    for ask in (chat, complete):
        with pytest.raises(openai.BadRequestError) as raised:
            ask(extra_body=form)
        body = refused(raised)
        assert body["param"] == param and says in body["message"], body


def test_a_tool_is_called_where_one_is_required(chat):
    names = set()
    for seed in range(8):
        answer = chat(tools=TOOLS, tool_choice="required", seed=seed, max_completion_tokens=120)
        [choice] = answer.choices
        assert choice.finish_reason == "tool_calls" and choice.message.content is None
        [call] = choice.message.tool_calls
        check(call)
        names.add(call.function.name)
    assert len(names) > 1
    named = {"type": "function", "function": {"name": "count"}}
    [call] = chat(tools=TOOLS, tool_choice=named, max_completion_tokens=120).choices[0].message.tool_calls
    assert call.function.name == "count" and check(call)


def test_a_call_that_is_cut_off_says_so(chat):
    feed = {"type": "function", "function": {"name": "feed"}}
    [choice] = chat(tools=TOOLS, tool_choice=feed, max_completion_tokens=40).choices
    assert choice.finish_reason == "length"
    [call] = choice.message.tool_calls
    assert call.function.name == "feed"
    with pytest.raises(json.JSONDecodeError):
        json.loads(call.function.arguments)


def test_without_a_call_the_answer_is_text(chat):
    plain = chat(temperature=0).choices[0].message.content
    for options in [{"tool_choice": "auto"}, {}, {"tool_choice": "none"}]:
        [choice] = chat(temperature=0, tools=TOOLS, **options).choices
        assert choice.message.content == plain and choice.message.tool_calls is None
        assert choice.finish_reason == "length"
    for options in [{"tools": []}, {"tools": [], "tool_choice": "auto"}]:
        assert chat(temperature=0, **options).choices[0].message.content == plain


def test_a_model_that_begins_a_call_goes_on_with_it(chat, http):
    bias = {str(id): 100 for id in bare_ids(http, "{")}
    for seed in range(4):
        [choice] = chat(tools=TOOLS, seed=seed, logit_bias=bias, max_completion_tokens=120).choices
        if choice.finish_reason == "tool_calls":
            [call] = choice.message.tool_calls
            check(call)
            break
    else:
        pytest.fail("none of the calls came to its end")


def test_the_deltas_of_a_call_are_the_call(client):
    for seed in range(4):
        options = {
            "model": "ember",
            "messages": [{"role": "user", "content": "Feed the fox."}],
            "tools": TOOLS,
            "tool_choice": "required",
            "seed": seed,
            "n": 2,
            "max_completion_tokens": 120,
        }
        whole = client.chat.completions.create(**options)
        chunks = list(client.chat.completions.create(**options, stream=True))
        for index, choice in enumerate(whole.choices):
            mine = [c.choices[0] for c in chunks if c.choices[0].index == index]
            assert mine[-1].finish_reason == choice.finish_reason == "tool_calls"
            assert all(not delta.delta.content for delta in mine)
            deltas = [call for delta in mine for call in delta.delta.tool_calls or []]
            first, *rest = deltas
            assert (first.index, first.type) == (0, "function") and re.fullmatch("[0-9A-Za-z]{9}", first.id)
            assert all(delta.index == 0 and delta.id is None and delta.function.name is None for delta in rest)
            [call] = choice.message.tool_calls
            assert first.function.name == call.function.name
            assert "".join(delta.function.arguments for delta in deltas) == call.function.arguments
            check(call)


def test_the_client_puts_streamed_calls_together(client):
    with client.chat.completions.stream(
        model="ember",
        messages=[{"role": "user", "content": "Feed the fox."}],
        tools=[openai.pydantic_function_tool(Animal, name="meet")],
        tool_choice="required",
        seed=3,
        max_completion_tokens=300,
    ) as stream:
        for event in stream:
            if event.type == "tool_calls.function.arguments.done":
                assert isinstance(event.parsed_arguments, Animal)
        [call] = stream.get_final_completion().choices[0].message.tool_calls
    assert call.function.name == "meet" and isinstance(call.function.parsed_arguments, Animal)


def test_logprobs_are_those_of_all_tokens(chat):
    options = {"tools": TOOLS, "tool_choice": "required", "seed": 1, "max_completion_tokens": 120, "logprobs": True}
    whole = chat(**options)
    tokens = whole.choices[0].logprobs.content
    assert len(tokens) in (whole.usage.completion_tokens, whole.usage.completion_tokens - 1)
    text = b"".join(bytes(token.bytes) for token in tokens).decode()
    call = whole.choices[0].message.tool_calls[0].function
    assert text == f'{{"name": "{call.name}", "arguments": {call.arguments}}}'
    chunks = [c.choices[0] for c in chat(**options, stream=True)]
    streamed = [token for c in chunks if c.logprobs for token in c.logprobs.content]
    assert [token.bytes for token in streamed] == [token.bytes for token in tokens]


def test_the_loop_of_calls_and_answers(client):
    messages = [{"role": "user", "content": "How many are there?"}]
    for turn in range(2):
        answer = client.chat.completions.create(
            model="ember", messages=messages, tools=TOOLS, tool_choice="required", seed=turn, max_completion_tokens=120
        )
        message = answer.choices[0].message
        messages.append(message)
        for call in message.tool_calls:
            check(call)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "There are three."})
    final = client.chat.completions.create(
        model="ember", messages=messages, tools=TOOLS, tool_choice="none", temperature=0, max_completion_tokens=10
    )
    # A model without a template reads the calls as it writes them: behind the message that they answer.
    text = "How many are there?"
    for message in messages[1:]:
        if isinstance(message, dict):
            text += "\n\n" + message["content"]
        else:
            arguments = json.loads(message.tool_calls[0].function.arguments)
            compact = json.dumps(arguments, separators=(",", ":"), ensure_ascii=False)
            text += f'{{"name": "{message.tool_calls[0].function.name}", "arguments": {compact}}}'
    plain = client.completions.create(model="ember", prompt=text, temperature=0, max_tokens=10)
    assert final.choices[0].message.content == plain.choices[0].text


TEMPLATE = """{% if tools %}{{ tools | map(attribute='function') | map(attribute='name') | join(' ') }};
Write <tool_call>{"name": ..., "arguments": ...}</tool_call>;{% endif %}
{%- for m in messages %}{{ m.role[0] }}:{{ m.content }}
{%- for call in m.tool_calls %}{{ call.function.name }}({{ call.function.arguments.animal }}){% endfor %};
{%- endfor %}"""


@pytest.fixture(scope="module")
def tagged(tmp_path_factory):
    """A model whose template knows tools, and describes calls in tags."""
    folder = tmp_path_factory.mktemp("tagged")
    link_ember(folder)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    server = start("--log", "error", "--model", str(folder), "--model-name", "tagged")
    yield server
    stop(server)


def test_a_template_sees_the_tools_and_the_calls(tagged):
    client = tagged.client()
    call = {"id": "call_1", "type": "function", "function": {"name": "feed", "arguments": '{"animal": "fox"}'}}
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "done"},
    ]
    for tools, begin in [(TOOLS, 'feed count now;\nWrite <tool_call>{"name": ..., "arguments": ...}</tool_call>;'), (None, "")]:
        options = {"tools": tools, "tool_choice": "none"} if tools else {}
        answer = client.chat.completions.create(model="tagged", messages=messages, max_tokens=1, **options)
        text = f"{begin}u:x;a:feed(fox);t:done;"
        assert answer.usage.prompt_tokens == len(bare_ids(tagged.http(), text))


def test_a_model_may_have_another_template_for_tools(serve, tmp_path):
    link_ember(tmp_path)
    default = "{% for m in messages %}{{ m.content }};{% endfor %}"
    templates = [{"name": "default", "template": default}, {"name": "tool_use", "template": TEMPLATE}]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": templates}))
    server = serve("--model", str(tmp_path), "--model-name", "two")
    begin = 'feed count now;\nWrite <tool_call>{"name": ..., "arguments": ...}</tool_call>;'
    for options, text in [({"tools": TOOLS, "tool_choice": "none"}, f"{begin}u:x;"), ({}, "x;")]:
        answer = server.client().chat.completions.create(
            model="two", messages=[{"role": "user", "content": "x"}], max_tokens=1, **options
        )
        assert answer.usage.prompt_tokens == len(bare_ids(server.http(), text))


def test_calls_in_tags_may_be_several_and_come_after_text(tagged):
    client, http = tagged.client(), tagged.http()
    ask = {"model": "tagged", "messages": [{"role": "user", "content": "Feed them."}], "tools": TOOLS}
    several = 0
    for seed in range(12):
        options = {**ask, "tool_choice": "required", "seed": seed, "max_completion_tokens": 200}
        [choice] = client.chat.completions.create(**options).choices
        calls = choice.message.tool_calls
        if choice.finish_reason == "tool_calls":
            assert choice.message.content is None
            [check(call) for call in calls]
        else:
            assert choice.finish_reason == "length"
        several += len(calls) > 1
        if seed < 3:
            chunks = [c.choices[0].delta for c in client.chat.completions.create(**options, stream=True)]
            deltas = [call for delta in chunks for call in delta.tool_calls or []]
            for index, call in enumerate(calls):
                mine = [delta for delta in deltas if delta.index == index]
                assert mine[0].function.name == call.function.name
                assert "".join(delta.function.arguments for delta in mine) == call.function.arguments
        [one] = client.chat.completions.create(**options, parallel_tool_calls=False).choices
        assert len(one.message.tool_calls) == 1
    assert several > 0
    # A newline behind the text makes the tag likely here.
    bias = {str(bare_ids(http, "<")[-1]): 8}
    for seed in range(20):
        options = {**ask, "seed": seed, "logit_bias": bias, "max_completion_tokens": 200}
        [choice] = client.chat.completions.create(**options).choices
        if choice.finish_reason == "tool_calls":
            [check(call) for call in choice.message.tool_calls]
            assert "<tool_call>" not in (choice.message.content or "")
            break


@pytest.mark.parametrize(
    ("options", "param", "says"),
    [
        ({"tools": [tool("a b")]}, "tools[0].function.name", "letters"),
        ({"tools": [tool("a"), tool("a")]}, "tools[1].function.name", "before it"),
        ({"tools": [tool("a"), tool("b", x={"type": "odd"})]}, "tools[1].function.parameters", "#/properties/x: `type` is \"odd\""),
        ({"tools": [{"type": "function", "function": {"name": "a", "parameters": {"type": "string"}}}]}, "tools[0].function.parameters", "object"),
        ({"tools": [{"type": "magic"}]}, "tools[0].type", "function"),
        ({"tools": [tool(f"a{i}") for i in range(129)]}, "tools", "128"),
        ({"tool_choice": "required"}, "tool_choice", "no tools"),
        ({"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "sing"}}}, "tool_choice", "sing"),
        ({"tools": TOOLS, "tool_choice": "sometimes"}, "tool_choice", "required"),
        ({"tools": TOOLS, "extra_body": {"guided_regex": "a"}}, "guided_regex", "combined"),
    ],
)
def test_tools_that_cannot_be_used_are_400_and_say_where(chat, options, param, says):
    with pytest.raises(openai.BadRequestError) as raised:
        chat(**options)
    body = refused(raised)
    assert body["param"] == param and says in body["message"], body


def test_an_answer_beside_calls_may_have_a_schema(chat):
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}
    for seed in range(4):
        [choice] = chat(tools=TOOLS, response_format=form, seed=seed, max_completion_tokens=150).choices
        if choice.finish_reason == "tool_calls":
            check(choice.message.tool_calls[0])
        else:
            assert list(json.loads(choice.message.content)) == ["name", "age"]
