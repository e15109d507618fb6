"""What is accepted, what is refused, and how."""

import json
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest
from conftest import error_of, token_ids


def post(http, path, body):
    content = body if isinstance(body, (str, bytes)) else json.dumps(body)
    return http.post(path, content=content, headers={"content-type": "application/json"})


def test_the_models_are_listed(client):
    [model] = client.models.list().data
    assert (model.id, model.object) == ("ember", "model")
    assert client.models.retrieve("ember").id == "ember"


def test_an_unknown_model_is_404(client, http):
    with pytest.raises(openai.NotFoundError) as raised:
        client.models.retrieve("gpt-9")
    assert raised.value.code == "model_not_found"
    with pytest.raises(openai.NotFoundError) as raised:
        client.completions.create(model="gpt-9", prompt="x")
    assert raised.value.param == "model"
    assert "gpt-9" in raised.value.message and "ember" in raised.value.message


def test_a_model_may_have_slashes_in_its_name(serve):
    server = serve("--model-name", "org/name/of-it")
    with server.http() as http:
        for path in ["/v1/models/org/name/of-it", "/v1/models/org%2Fname%2Fof-it"]:
            response = http.get(path)
            assert response.status_code == 200, response.text
            assert response.json()["id"] == "org/name/of-it"
        for path in ["/v1/models/org", "/v1/models/org/name", "/v1/models/org/name/of-it/too"]:
            assert error_of(http.get(path), 404)["code"] == "model_not_found"
        error_of(http.post("/v1/models/org/name"), 405)
    # Whatever the name, there is one metric for all.
    labels = 'method="GET",route="/v1/models/{model}/{*rest}",status="404"'
    assert server.metric(f"http_requests_total{{{labels}}}") == 2


def test_an_unknown_route_is_404_and_a_wrong_method_405(http):
    assert "/nothing" in error_of(http.get("/nothing"), 404)["message"]
    assert "GET" in error_of(http.get("/v1/completions"), 405)["message"]
    assert http.get("/v1/completions").headers["allow"] == "POST"
    error_of(http.post("/v1/models"), 405)


def test_a_key_is_asked_for_where_there_is_one(serve):
    server = serve("--api-key", "first-key-1,second-key-2")
    assert server.client("first-key-1").models.list().data
    assert server.client("second-key-2").models.list().data
    for wrong in ["first-key", "first-key-12", "first-key-1,second-key-2"]:
        with pytest.raises(openai.AuthenticationError):
            server.client(wrong).models.list()
    with server.http() as http:
        for path in ["/v1/models", "/metrics"]:
            assert error_of(http.get(path), 401)["code"] == "invalid_api_key"
            assert http.get(path).headers["www-authenticate"] == "Bearer"
        lower = {"authorization": "bearer first-key-1"}
        assert http.get("/v1/models", headers=lower).status_code == 200
        for header in ["first-key-1", "Basic first-key-1", "Bearer", "Bearer\tfirst-key-1"]:
            error_of(http.get("/v1/models", headers={"authorization": header}), 401)
        for path in ["/health", "/ready", "/", "/openapi.json"]:
            assert http.get(path).status_code == 200


def test_any_key_will_do_where_none_is_needed(server):
    assert server.client("whatever").models.list().data


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/chat/completions", "/generate"])
@pytest.mark.parametrize(
    "body", ["", "{", "[]", "null", "3", '"text"', "{}", '{"prompt": }', "{} {}", b"\xff\xfe", '["a"]']
)
def test_what_is_no_request_is_400(http, path, body):
    detail = error_of(post(http, path, body), 400)
    assert detail["type"] == "invalid_request_error"
    assert detail["code"] in ("invalid_json", "invalid_value")


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [
        ("/v1/chat/completions", {"messages": []}, "messages"),
        ("/v1/chat/completions", {"messages": [{"role": "king", "content": "x"}]}, "messages[0].role"),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": 3}]}, "messages[0].content"),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "messages[0].content"),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}], "top_logprobs": 2}, "top_logprobs"),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}], "max_tokens": 0}, "max_tokens"),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}], "top_logprobs": 21, "logprobs": True}, "top_logprobs"),
        ("/v1/completions", {"prompt": "x", "temperature": "hot"}, "temperature"),
        ("/v1/completions", {"prompt": "x", "temperature": -1}, "temperature"),
        ("/v1/completions", {"prompt": "x", "top_p": 0}, "top_p"),
        ("/v1/completions", {"prompt": "x", "top_p": 1.5}, "top_p"),
        ("/v1/completions", {"prompt": "x", "top_k": -2}, "top_k"),
        ("/v1/completions", {"prompt": "x", "n": 0}, "n"),
        ("/v1/completions", {"prompt": "x", "n": 129}, "n"),
        ("/v1/completions", {"prompt": ["x"] * 33, "n": 2}, "n"),
        ("/v1/completions", {"prompt": "x", "n": 3, "best_of": 2}, "best_of"),
        ("/v1/completions", {"prompt": "x", "best_of": 2, "stream": True}, "best_of"),
        ("/v1/completions", {"prompt": "x", "max_tokens": -2}, "max_tokens"),
        ("/v1/completions", {"prompt": "x", "logprobs": 21}, "logprobs"),
        ("/v1/completions", {"prompt": "x", "stop": ["a", "b", "c", "d", "e"]}, "stop"),
        ("/v1/completions", {"prompt": "x", "stop": ""}, "stop"),
        ("/v1/completions", {"prompt": "x", "logit_bias": {"5": 101}}, "logit_bias"),
        ("/v1/completions", {"prompt": "x", "logit_bias": {"99999": 1}}, "logit_bias"),
        ("/v1/completions", {"prompt": "x", "frequency_penalty": 3}, "frequency_penalty"),
        ("/v1/completions", {"prompt": []}, "prompt"),
        ("/v1/completions", {"prompt": [99999]}, "prompt"),
        ("/v1/completions", {"prompt": {"text": "x"}}, "prompt"),
        ("/detokenize", {"ids": [99999]}, "ids"),
    ],
)
def test_a_wrong_field_is_400_and_named(http, path, body, param):
    detail = error_of(post(http, path, body), 400)
    assert detail["param"] == param
    assert detail["type"] == "invalid_request_error"
    assert detail["code"] == "invalid_value"


def test_a_prompt_that_is_too_long_names_both_lengths(http):
    for path, body, param in [
        ("/v1/completions", {"prompt": "fox " * 600}, "prompt"),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "fox " * 600}]}, "messages"),
        ("/generate", {"prompt": "fox " * 600}, "prompt"),
    ]:
        detail = error_of(post(http, path, body), 400)
        assert (detail["code"], detail["param"]) == ("context_length_exceeded", param)
        length = len(token_ids(http, "fox " * 600))
        assert str(length) in detail["message"] and "512" in detail["message"]


def test_a_body_that_is_too_large_is_413(serve):
    server = serve("--body-limit", "1KiB")
    with server.http() as http:
        assert post(http, "/v1/completions", {"prompt": "x" * 500}).status_code == 200
        assert "1024" in error_of(post(http, "/v1/completions", {"prompt": "x" * 2000}), 413)["message"]

        def chunks():
            yield b'{"prompt": "'
            for _ in range(100):
                yield b"x" * 100

        response = http.post(
            "/v1/completions", content=chunks(), headers={"content-type": "application/json"}
        )
        error_of(response, 413)


def test_only_json_is_read(http):
    for headers in [{}, {"content-type": "text/plain"}, {"content-type": "application/x-www-form-urlencoded"}]:
        error_of(http.post("/v1/completions", content='{"prompt": "x"}', headers=headers), 415)
    kind = {"content-type": "Application/JSON; charset=utf-8"}
    assert http.post("/v1/completions", content='{"prompt": "x"}', headers=kind).status_code == 200


def test_a_full_queue_is_429_and_the_retry_succeeds(serve):
    server = serve("--max-running", "1", "--max-waiting", "1", "--max-sequences", "1")
    long = dict(model="ember", prompt="One day", max_tokens=500, extra_body={"ignore_eos": True})

    def ask(client):
        try:
            return client.completions.create(**long)
        except openai.RateLimitError as error:
            return error

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, [server.client() for _ in range(8)]))
    refused = [error for error in found if isinstance(error, openai.RateLimitError)]
    assert 0 < len(refused) < 8
    for error in refused:
        assert error.code == "queue_full"
        assert int(error.response.headers["retry-after"]) >= 1
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, [server.client(max_retries=30) for _ in range(4)]))
    assert all(answer.usage.completion_tokens == 500 for answer in found)


def test_a_client_that_asks_too_often_is_429(serve):
    server = serve("--rate-per-minute", "60", "--burst", "3")
    with server.http() as http:
        answers = [http.get("/v1/models") for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert error_of(answers[3], 429)["code"] == "rate_limit_exceeded"
        assert answers[3].headers["retry-after"] == "1"
        assert [http.get(path).status_code for path in ("/health", "/ready", "/metrics")] == [200] * 3
    assert server.client(max_retries=5).models.list().data


def test_unknown_and_null_fields_are_accepted(http, client):
    nulls = {
        name: None
        for name in (
            "max_tokens n best_of stream stream_options logprobs echo suffix temperature top_p top_k min_p typical_p "
            "repetition_penalty frequency_penalty presence_penalty logit_bias seed stop stop_token_ids ignore_eos"
        ).split()
    }
    unknown = {"user": "me", "store": True, "metadata": {"a": "b"}, "service_tier": "auto"}
    body = {"prompt": "Once", **nulls, **unknown}
    assert post(http, "/v1/completions", body).status_code == 200
    chat = {"messages": [{"role": "user", "content": "Once", "name": "me"}], "max_tokens": 5}
    for name in "tools response_format top_logprobs max_completion_tokens parse_special".split():
        chat[name] = None
    assert post(http, "/v1/chat/completions", {**chat, **unknown}).status_code == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/completions", {"prompt": "x", "max_tokens": 1}),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}], "max_tokens": 1}),
        ("/generate", {"prompt": "x", "max_tokens": 1}),
        ("/candidates", {"prompt": "x"}),
    ],
)
def test_what_is_not_supported_is_refused_by_name_unless_it_asks_for_nothing(http, path, body):
    forms = [
        ("response_format", {"type": "json_object"}, {"type": "text"}),
        ("guided_json", {"type": "object"}, None),
        ("guided_regex", "a+", None),
        ("guided_choice", ["a", "b"], None),
        ("guided_grammar", "root ::= x", None),
        ("structured_outputs", {"regex": "a+"}, None),
    ]
    tools = [
        ("tools", [{"type": "function"}], []),
        ("tool_choice", "required", "none"),
    ]
    others = [
        ("functions", [{"name": "f"}], []),
        ("function_call", {"name": "f"}, "none"),
        ("modalities", ["text", "audio"], ["text"]),
        ("audio", {"voice": "x"}, None),
        ("json_schema", {"type": "object"}, None),
        ("grammar", "root ::= x", ""),
        ("suffix", "y", ""),
        ("min_tokens", 3, 0),
        ("repeat_penalty", 1.3, 1.0),
        ("chat_template", "{{ messages[0].content }}", None),
        ("truncate_prompt_tokens", 5, None),
        ("include_stop_str_in_output", True, False),
        ("n_predict", 5, None),
        ("max_new_tokens", 5, None),
        ("stop_sequences", ["."], []),
        ("length_penalty", 2.0, 1.0),
        ("skip_special_tokens", False, True),
        ("do_sample", False, True),
    ]
    templates = [
        ("chat_template_kwargs", {"enable_thinking": False}, {}),
        ("add_generation_prompt", False, True),
        ("continue_final_message", True, False),
        ("documents", [{"text": "x"}], []),
        ("enable_thinking", False, None),
        ("reasoning_effort", "low", None),
    ]
    unsupported = {
        "/v1/chat/completions": [("echo", True, False), *others],
        "/v1/completions": tools + templates + others,
        "/generate": [("echo", True, False), ("n", 2, 1), *tools, *templates, *others],
    }.get(path, forms + tools + templates + [other for other in others if other[0] != "max_new_tokens"])
    for name, asks, asks_nothing in unsupported:
        detail = error_of(post(http, path, {**body, name: asks}), 400)
        assert detail["message"].startswith(f"`{name}` is not supported")
        assert (detail["param"], detail["code"]) == (name, "unsupported_parameter")
        for nothing in (asks_nothing, None):
            assert post(http, path, {**body, name: nothing}).status_code == 200


def test_minus_one_is_no_limit_of_tokens(http):
    for path, body, field in [
        ("/v1/completions", {"prompt": "x"}, "max_tokens"),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}]}, "max_tokens"),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}]}, "max_completion_tokens"),
        ("/generate", {"prompt": "x"}, "max_tokens"),
    ]:
        answer = post(http, path, {**body, field: -1, "ignore_eos": True}).json()
        assert answer["usage"]["total_tokens"] in (512, 513)


def test_control_texts_are_text_in_a_message_and_control_tokens_in_a_prompt(http):
    def prompt_tokens(path, body):
        return post(http, path, {**body, "max_tokens": 1}).json()["usage"]["prompt_tokens"]

    text, control = "a<|end|>b", []
    for parse in [None, False, True]:
        chat = {"messages": [{"role": "user", "content": text}], "parse_special": parse}
        plain = {"prompt": text, "parse_special": parse}
        control.append([prompt_tokens("/v1/chat/completions", chat), prompt_tokens("/v1/completions", plain)])
    # One token, in place of those of its characters.
    parsed = len(token_ids(http, text))
    as_text = control[0][0]
    assert as_text > parsed
    assert control == [[as_text, parsed], [as_text, as_text], [parsed, parsed]]


def test_other_hosts_are_refused_where_there_is_no_key(serve, server, http):
    assert error_of(http.get("/health", headers={"host": "evil.example"}), 403)["code"] == "forbidden_host"
    for host in ["localhost", "LOCALHOST:1234", "127.0.0.1:99", "[::1]"]:
        assert http.get("/health", headers={"host": host}).status_code == 200
    with serve("--api-key", "long-enough").http() as with_key:
        assert with_key.get("/health", headers={"host": "my.example"}).status_code == 200


def test_browsers_of_other_sites_are_let_in_only_where_they_are_named(serve, http):
    site = {"origin": "https://example.com"}
    asks = {**site, "access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    assert "access-control-allow-origin" not in http.get("/v1/models", headers=site).headers
    with serve("--cors-origins", "https://example.com,http://localhost:3000").http() as named:
        found = named.options("/v1/completions", headers=asks)
        assert found.headers["access-control-allow-origin"] == "https://example.com"
        assert "authorization" in found.headers["access-control-allow-headers"]
        other = named.get("/v1/models", headers={"origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers


def test_each_answer_has_an_id(http):
    first, second = (http.get("/health").headers["x-request-id"] for _ in range(2))
    assert first and second and first != second
    mine = http.get("/health", headers={"x-request-id": "mine"})
    assert mine.headers["x-request-id"] == "mine"
