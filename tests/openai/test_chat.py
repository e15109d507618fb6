"""/v1/chat/completions."""

import openai
import pytest
from conftest import link_ember, seed_of, token_ids


def test_the_plain_template_joins_the_messages(chat, complete):
    answer = chat(temperature=0)
    assert answer.object == "chat.completion" and answer.id.startswith("chatcmpl-")
    [choice] = answer.choices
    assert choice.message.role == "assistant"
    assert choice.message.content == complete(temperature=0).choices[0].text
    two = [{"role": "system", "content": "A story."}, {"role": "user", "content": "Once upon a time"}]
    joined = chat(messages=two, temperature=0).choices[0].message.content
    assert joined == complete("A story.\n\nOnce upon a time", temperature=0).choices[0].text


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant", "tool"])
def test_all_roles_are_known(chat, role):
    assert chat(messages=[{"role": role, "content": "Once"}], max_tokens=2).choices


def test_content_is_text_or_parts_or_nothing(chat):
    parts = [{"type": "text", "text": "Once upon"}, {"type": "text", "text": " a time"}]
    joined = chat(messages=[{"role": "user", "content": parts}], temperature=0)
    assert joined.choices[0].message.content == chat(temperature=0).choices[0].message.content
    nothing = [{"role": "assistant", "content": None}, {"role": "user", "content": "Once"}]
    assert chat(messages=nothing).choices


def test_the_newer_name_of_the_limit_comes_first(chat):
    short = chat(max_completion_tokens=3, max_tokens=9, extra_body={"ignore_eos": True})
    assert short.usage.completion_tokens == 3


def test_without_a_limit_the_answer_ends_by_itself(client):
    messages = [{"role": "user", "content": "Once upon a time"}]
    answer = client.chat.completions.create(model="ember", messages=messages, seed=42, temperature=0.8)
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.completion_tokens > 20


def test_logprobs_have_bytes_and_a_top_list(chat):
    choice = chat(temperature=0, logprobs=True, top_logprobs=3).choices[0]
    content = choice.logprobs.content
    assert b"".join(bytes(token.bytes) for token in content).decode() == choice.message.content
    for token in content:
        assert len(token.top_logprobs) == 3
        assert token.top_logprobs[0].token == token.token
        assert token.top_logprobs[0].logprob == token.logprob <= 0
    assert chat(temperature=0, logprobs=True).choices[0].logprobs.content[0].top_logprobs == []
    assert chat(temperature=0).choices[0].logprobs is None


def test_n_answers_have_seeds_of_their_own(chat):
    several = chat(n=3, seed=10, temperature=1.5)
    assert [choice.index for choice in several.choices] == [0, 1, 2]
    for k, choice in enumerate(several.choices):
        assert chat(seed=seed_of(10, k), temperature=1.5).choices[0].message.content == choice.message.content
    assert several.usage.prompt_tokens == chat().usage.prompt_tokens


def test_a_folder_with_a_template_uses_it(serve, tmp_path):
    link_ember(tmp_path)
    template = "{% for m in messages %}{{ m.role[0] }}:{{ m.content }};{% endfor %}"
    (tmp_path / "chat_template.jinja").write_text(template)
    server = serve("--model", str(tmp_path), "--model-name", "templated")
    client = server.client()
    messages = [{"role": "user", "content": "Once"}]
    answer = client.chat.completions.create(
        model="templated", messages=messages, temperature=0, max_tokens=5
    )
    # A template writes the special tokens itself, and this one writes none.
    ids = token_ids(server.http(), "u:Once;")[1:]
    plain = client.completions.create(model="templated", prompt=ids, temperature=0, max_tokens=5)
    assert answer.choices[0].message.content == plain.choices[0].text


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(100000000) %}x{% endfor %}",
        "{{ 'x' * 10000000000 }}",
        "{{ raise_exception('no') }}",
        "{% for",
        "{{ messages[0].content.nothing.nothing }}",
    ],
)
def test_a_hostile_template_takes_nothing_down(serve, tmp_path, template):
    link_ember(tmp_path)
    (tmp_path / "chat_template.jinja").write_text(template)
    client = serve("--model", str(tmp_path), "--model-name", "hostile").client()
    with pytest.raises(openai.BadRequestError) as raised:
        client.chat.completions.create(model="hostile", messages=[{"role": "user", "content": "x"}])
    assert raised.value.param == "messages"
    assert client.completions.create(model="hostile", prompt="Once", max_tokens=1).choices
