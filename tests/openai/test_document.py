"""The document at /openapi.json: it is valid, and a client that is generated from it works."""

import importlib
import inspect
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from openapi_spec_validator import validate

# A call of each operation, by its id: the fields of the body, or the parameters of the path.
CALLS = {
    "health": {},
    "ready": {},
    "metrics": {},
    "version": {},
    "server_info": {},
    "get_server_info": {},
    "model_info": {},
    "get_model_info": {},
    "get_load": {},
    "props": {},
    "health_generate": {},
    "list_models": {},
    "get_model": {"path": {"model": "ember"}},
    # Not allowed on this server.
    "load_lora_adapter": {"body": {"lora_name": "tale", "lora_path": "tale"}, "status": 403},
    "unload_lora_adapter": {"body": {"lora_name": "tale"}, "status": 403},
    "complete": {"body": {"prompt": "Once", "max_tokens": 2, "n": 2, "logit_bias": {"5": -1}}},
    "chat": {"body": {"messages": [{"role": "user", "content": "Once"}], "max_tokens": 2}},
    "respond": {"body": {"input": "Once", "max_output_tokens": 2}},
    "embed": {"body": {"input": "Once"}},
    "generate": {"body": {"prompt": "Once", "max_tokens": 2}},
    "candidates": {"body": {"prompt": "Once", "count": 2}},
    "tokenize": {"body": {"text": "Once"}},
    "detokenize": {"body": {"ids": [5, 6]}},
}


def operations(document):
    return [operation for path in document["paths"].values() for operation in path.values()]


@pytest.fixture(scope="module")
def document(http):
    return http.get("/openapi.json").json()


def test_it_is_valid(serve, document):
    validate(document)
    with serve("--api-key", "long-enough").http() as http:
        validate(http.get("/openapi.json").json())


def test_a_key_is_asked_for_where_the_server_asks_for_one(serve, document):
    scheme = document["components"]["securitySchemes"]["api_key"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    with serve("--api-key", "long-enough", "--max-waiting", "8", "--max-sequences", "8").http() as http:
        with_key = http.get("/openapi.json").json()
        for path, item in with_key["paths"].items():
            for method, operation in item.items():
                is_asked = http.request(method, path, json={}).status_code == 401
                assert ("401" in operation["responses"]) == is_asked, path
                assert operation.get("security") == ([{"api_key": []}] if is_asked else None), path
                assert "403" in operation["responses"]
    # Without a key, any is taken.
    assert all("401" not in operation["responses"] for operation in operations(document))


def test_the_limits_are_those_of_the_server(http, document, serve):
    def largest(document, schema, field):
        schemas = document["components"]["schemas"]
        part = schemas[schema]["allOf"][0]
        part = schemas[part["$ref"].split("/")[-1]] if "$ref" in part else part
        return part["properties"][field]["maximum"]

    with serve("--max-waiting", "8", "--max-sequences", "7").http() as small:
        for http, document, most in [(http, document, 64), (small, small.get("/openapi.json").json(), 7)]:
            for path, schema, body in [
                ("/v1/completions", "WithFormat_CompletionRequest", {"prompt": "x"}),
                (
                    "/v1/chat/completions",
                    "DescribedChat",
                    {"messages": [{"role": "user", "content": "x"}]},
                ),
            ]:
                assert largest(document, schema, "n") == most
                for n, status in [(most, 200), (most + 1, 400)]:
                    assert http.post(path, json={**body, "max_tokens": 1, "n": n}).status_code == status


def test_a_generated_client_can_call_every_route(server, http, document, tmp_path, monkeypatch):
    (tmp_path / "openapi.json").write_text(http.get("/openapi.json").text)
    program = Path(sys.executable).with_name("openapi-python-client")
    done = subprocess.run(
        [program, "generate", "--path", "openapi.json", "--meta", "none", "--output-path", "generated"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    monkeypatch.syspath_prepend(tmp_path)
    client = importlib.import_module("generated.client").Client(base_url=server.url, timeout=60)

    ids = [operation["operationId"] for operation in operations(document)]
    assert len(set(ids)) == len(ids)
    assert set(ids) == set(CALLS), "each operation needs a call in this test"
    for name in ids:
        call = CALLS[name]
        ask = importlib.import_module(f"generated.api.default.{name}").sync_detailed
        arguments = dict(call.get("path", {}))
        if "body" in call:
            body = inspect.signature(ask).parameters["body"].annotation
            # Of several types of bodies, the first is the server's own.
            body = typing.get_args(body) or (body,)
            arguments["body"] = body[0].from_dict(call["body"])
        answer = ask(client=client, **arguments)
        assert answer.status_code == call.get("status", 200), (name, answer.content)
        # It makes no type of what is not JSON.
        assert answer.parsed is not None or name == "metrics"
