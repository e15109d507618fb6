"""What sglang-router and clients of vLLM, SGLang and llama.cpp ask, in their words."""

import shutil

import conftest
import jsonschema
import pytest
from conftest import ROOT, error_of, token_ids

PROMPT = "Once upon a time"

# What sglang-router 0.3.2 adds to every request.
OF_ROUTER = {
    "/generate": {
        "model": None, "return_text_in_logprobs": False, "log_metrics": True, "return_hidden_states": False,
        "background": False, "no_logs": False, "return_bytes": False, "return_entropy": False,
    },
    "/v1/chat/completions": {
        "logprobs": False, "no_stop_trim": False, "ignore_eos": False, "continue_final_message": False,
        "skip_special_tokens": True, "separate_reasoning": True, "stream_reasoning": True,
        "return_hidden_states": False,
    },
    "/v1/completions": {
        "echo": False, "no_stop_trim": False, "ignore_eos": False, "skip_special_tokens": True,
        "return_hidden_states": False,
    },
    "/v1/responses": {
        "store": True, "stream": None, "temperature": 1.0, "top_p": 1.0, "priority": 0, "top_k": -1, "min_p": 0.0,
        "repetition_penalty": 1.0,
    },
}  # fmt: skip


def post(http, path, body):
    response = http.post(path, json={**OF_ROUTER.get(path, {}), **body})
    assert response.status_code == 200, response.text
    return response.json()


def events(http, path, body):
    return conftest.events(http, path, {**OF_ROUTER[path], **body})


def test_a_router_finds_out_what_it_needs(http):
    """In the order in which it asks."""
    assert http.get("/health").status_code == 200
    server = http.get("/server_info").json()
    assert (server["served_model_name"], server["dp_size"]) == ("ember", 1)
    assert server["context_length"] == 512 and server["max_running_requests"] == 64
    assert server["max_total_num_tokens"] >= 512
    assert http.get("/get_server_info").json() == server
    model = http.get("/model_info").json()
    assert (model["is_generation"], model["model_type"]) == (True, "llama")
    assert http.get("/get_model_info").json() == model
    [load] = http.get("/get_load").json()
    assert load["dp_rank"] == load["num_waiting_reqs"] == 0 and load["num_tokens"] >= 0
    assert http.get("/health_generate").status_code == 200


def test_no_answer_tells_where_files_are(serve, tmp_path):
    folder = tmp_path / "secret-place"
    shutil.copytree(ROOT / "models/ember", folder)
    server = serve("--model", str(folder), "--model-name", "mine")
    with server.http() as http:
        for path in ["/server_info", "/model_info", "/props", "/version"]:
            assert "secret-place" not in http.get(path).text


def test_vllm_and_llama_cpp_are_asked_for_these(http):
    assert http.get("/version").json()["version"].count(".") == 2
    props = http.get("/props").json()
    assert (props["total_slots"], props["model_alias"]) == (64, "ember")
    assert props["default_generation_settings"]["n_ctx"] == 512
    assert props["default_generation_settings"]["params"]["temperature"] == 1
    assert props["chat_template"] == "" and props["eos_token"]


def test_a_key_is_asked_for(serve):
    with serve("--api-key", "long-enough").http() as http:
        for path in ["/server_info", "/model_info", "/version", "/props", "/get_load", "/health_generate"]:
            assert http.get(path).status_code == 401


def test_chats_completions_and_responses_of_a_router_are_answered(http):
    chat = {"model": "ember", "messages": [{"role": "user", "content": PROMPT}], "max_tokens": 5}
    assert post(http, "/v1/chat/completions", chat)["choices"][0]["message"]["content"]
    assert post(http, "/v1/completions", {"model": "ember", "prompt": PROMPT})["choices"][0]["text"]
    assert post(http, "/v1/responses", {"model": "ember", "input": PROMPT, "max_output_tokens": 5})["output"]


PARAMS = {"max_new_tokens": 30, "temperature": 0.8, "sampling_seed": 42}


def test_generate_in_the_words_of_sglang(http):
    found = post(http, "/generate", {"text": PROMPT, "sampling_params": PARAMS})
    own = http.post("/generate", json={"prompt": PROMPT, "max_tokens": 30, "temperature": 0.8, "seed": 42}).json()
    assert found["text"] == own["text"]
    assert found["output_ids"] == [token["token_id"] for token in own["tokens"]]
    meta = found["meta_info"]
    assert meta["finish_reason"] == {"type": "length", "length": 30}
    assert (meta["completion_tokens"], meta["prompt_tokens"]) == (30, own["usage"]["prompt_tokens"])
    assert meta["id"] and meta["e2e_latency"] > 0 and meta["cached_tokens"] >= 0
    ids = token_ids(http, PROMPT)
    by_ids = post(http, "/generate", {"input_ids": ids, "sampling_params": PARAMS, "rid": "mine"})
    assert by_ids["text"] == found["text"] and by_ids["meta_info"]["id"] == "mine"
    assert post(http, "/generate", {"text": PROMPT})["meta_info"]["completion_tokens"] <= 128


def test_a_text_ends_at_what_the_request_names(http):
    params = {**PARAMS, "max_new_tokens": 100, "stop": [" the"]}
    found = post(http, "/generate", {"text": PROMPT, "sampling_params": params})
    assert found["meta_info"]["finish_reason"] == {"type": "stop", "matched": " the"}
    assert " the" not in found["text"]
    whole = post(http, "/generate", {"text": PROMPT, "sampling_params": {**PARAMS, "max_new_tokens": 400}})
    assert whole["meta_info"]["finish_reason"]["type"] == "stop"
    assert isinstance(whole["meta_info"]["finish_reason"]["matched"], int)


def test_each_event_has_the_text_so_far(http):
    body = {"text": PROMPT, "sampling_params": PARAMS}
    whole = post(http, "/generate", body)
    found = events(http, "/generate", body)
    for before, after in zip(found, found[1:]):
        assert after["text"].startswith(before["text"])
        assert before["meta_info"]["finish_reason"] is None
        assert before["meta_info"]["prompt_tokens"] == whole["meta_info"]["prompt_tokens"]
    assert found[-1]["text"] == whole["text"] and found[-1]["output_ids"] == whole["output_ids"]
    assert found[-1]["meta_info"]["finish_reason"] == whole["meta_info"]["finish_reason"]


def test_several_texts_are_a_list(http):
    body = {"text": [PROMPT, "One day"], "sampling_params": {**PARAMS, "n": 2}}
    found = post(http, "/generate", body)
    assert [item["index"] for item in found] == [0, 1, 2, 3]
    first = post(http, "/generate", {"text": PROMPT, "sampling_params": PARAMS})["text"]
    assert found[0]["text"] == first != found[1]["text"]
    ends = {e["index"]: e["text"] for e in events(http, "/generate", body) if e["meta_info"]["finish_reason"]}
    assert ends == {item["index"]: item["text"] for item in found}
    [only] = post(http, "/generate", {"text": [PROMPT], "sampling_params": PARAMS})
    assert only["text"] == first


def test_logprobs_in_the_words_of_sglang(http):
    body = {"text": PROMPT, "sampling_params": {**PARAMS, "temperature": 0}, "return_logprob": True}
    meta = post(http, "/generate", body)["meta_info"]
    assert len(meta["output_token_logprobs"]) == 30 and "output_top_logprobs" not in meta
    body |= {"top_logprobs_num": 2, "return_text_in_logprobs": True}
    found = post(http, "/generate", body)
    meta = found["meta_info"]
    assert "".join(text for _, _, text in meta["output_token_logprobs"]) == found["text"]
    for chosen, top in zip(meta["output_token_logprobs"], meta["output_top_logprobs"]):
        assert top[0] == chosen and chosen[0] <= 0 and len(top) == 2


def test_log_probabilities_fit_their_schema(http):
    components = http.get("/openapi.json").json()["components"]
    schema = {"$ref": "#/components/schemas/SglangGenerated", "components": components}
    body = {"text": PROMPT, "sampling_params": {"max_new_tokens": 3}, "return_logprob": True, "top_logprobs_num": 2}
    for with_text in [False, True]:
        found = post(http, "/generate", {**body, "return_text_in_logprobs": with_text})
        jsonschema.validate(found, schema)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"sampling_params": {"ebnf": "root ::= x"}}, "sampling_params.ebnf"),
        ({"sampling_params": {"min_new_tokens": 5}}, "sampling_params.min_new_tokens"),
        ({"sampling_params": {"skip_special_tokens": False}}, "sampling_params.skip_special_tokens"),
        ({"sampling_params": {"temperature": -1}}, "temperature"),
        ({"image_data": "x.png"}, "image_data"),
        ({"return_hidden_states": True}, "return_hidden_states"),
        ({"logprob_start_len": 0, "return_logprob": True}, "logprob_start_len"),
        ({"text": []}, "text"),
        ({"text": "fox " * 600}, "text"),
        ({"text": None, "input_ids": [99999]}, "input_ids"),
        ({"input_ids": [5]}, None),
    ],
)
def test_what_is_wrong_or_not_supported_is_named(http, body, param):
    assert error_of(http.post("/generate", json={"text": PROMPT, **body}))["param"] == param


def test_tokens_in_the_words_of_each_server(http):
    own = http.post("/tokenize", json={"text": PROMPT}).json()
    ids, texts = own["ids"], own["tokens"]
    assert isinstance(texts[0], str) and "".join(texts).endswith(PROMPT)
    of_vllm = http.post("/tokenize", json={"model": "ember", "prompt": PROMPT}).json()
    assert of_vllm["tokens"] == of_vllm["ids"] == ids and of_vllm["count"] == len(ids)
    assert of_vllm["max_model_len"] == 512 and "token_strs" not in of_vllm
    strings = http.post("/tokenize", json={"prompt": PROMPT, "return_token_strs": True}).json()["token_strs"]
    assert len(strings) == len(ids)
    chat = {"messages": [{"role": "user", "content": PROMPT}], "add_generation_prompt": True}
    assert http.post("/tokenize", json=chat).json()["tokens"] == ids
    bare = http.post("/tokenize", json={"prompt": PROMPT, "add_special_tokens": False}).json()["tokens"]
    assert ids[-len(bare) :] == bare
    of_llama_cpp = http.post("/tokenize", json={"content": PROMPT}).json()["tokens"]
    assert of_llama_cpp == bare
    special = http.post("/tokenize", json={"content": PROMPT, "add_special": True}).json()["tokens"]
    assert special == ids
    control = {"content": "<|end|>"}
    parsed = http.post("/tokenize", json=control).json()["tokens"]
    assert parsed == http.post("/tokenize", json={**control, "parse_special": True}).json()["tokens"]
    as_text = http.post("/tokenize", json={**control, "parse_special": False}).json()["tokens"]
    assert len(parsed) == 1 and len(as_text) > 1 and parsed[0] not in as_text
    pieces = http.post("/tokenize", json={"content": "🦊", "with_pieces": True}).json()["tokens"]
    as_bytes = lambda piece: piece.encode() if isinstance(piece, str) else bytes(piece)
    assert b"".join(as_bytes(token["piece"]) for token in pieces).decode().endswith("🦊")


def test_texts_in_the_words_of_each_server(http):
    ids = token_ids(http, PROMPT)
    for body in [{"ids": ids}, {"tokens": ids}, {"model": "ember", "tokens": ids, "skip_special_tokens": True}]:
        found = http.post("/detokenize", json=body).json()
        assert found["text"] == found["prompt"] == found["content"] == PROMPT


@pytest.mark.parametrize(
    ("path", "body", "status", "param"),
    [
        ("/tokenize", {}, 400, None),
        ("/tokenize", {"text": "x", "prompt": "y"}, 400, None),
        ("/tokenize", {"messages": []}, 400, "messages"),
        ("/tokenize", {"prompt": "x", "model": "gpt-9"}, 404, "model"),
        ("/tokenize", {"content": "x", "parse_special": "no"}, 400, "parse_special"),
        ("/tokenize", {"prompt": "x", "tools": [{"type": "function"}]}, 400, "tools"),
        ("/tokenize", {"prompt": "x", "add_generation_prompt": False}, 400, "add_generation_prompt"),
        ("/tokenize", {"prompt": "x", "mm_processor_kwargs": {"a": 1}}, 400, "mm_processor_kwargs"),
        ("/detokenize", {}, 400, None),
        ("/detokenize", {"ids": [1], "tokens": [1]}, 400, None),
        ("/detokenize", {"tokens": [99999]}, 400, "tokens"),
        ("/detokenize", {"tokens": [1], "skip_special_tokens": False}, 400, "skip_special_tokens"),
    ],
)
def test_what_is_no_request_for_tokens_is_named(http, path, body, status, param):
    assert error_of(http.post(path, json=body), status)["param"] == param
