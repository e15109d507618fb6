"""Tokens, candidates, metrics, the log, and the document."""

import json
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from conftest import ROOT, end, error_of, start, stop, token_ids, wait_until


def test_tokens_there_and_back(http):
    found = http.post("/tokenize", json={"text": "Once upon a time"}).json()
    assert found["count"] == len(found["ids"]) == len(found["tokens"])
    assert found["max_model_len"] == 512
    back = http.post("/detokenize", json={"ids": found["ids"]}).json()
    assert back["text"] == "Once upon a time"
    assert http.post("/detokenize", json={"ids": []}).json()["text"] == ""


def test_candidates_before_and_after_the_rules(http):
    body = {"prompt": "Once upon a time, there was a", "count": 8}
    plain = http.post("/candidates", json=body).json()
    assert len(plain["candidates"]) == 8
    for candidate in plain["candidates"]:
        assert candidate["sampled"] == pytest.approx(candidate["probability"], abs=1e-5)
    four = http.post("/candidates", json={**body, "top_k": 4}).json()
    assert four["survivors"] == 4
    assert sum(candidate["sampled"] for candidate in four["candidates"]) == pytest.approx(1, abs=1e-5)
    assert [candidate["sampled"] > 0 for candidate in four["candidates"]] == [True] * 4 + [False] * 4
    greedy = http.post("/candidates", json={**body, "temperature": 0}).json()
    assert (greedy["survivors"], greedy["entropy_bits"]) == (1, 0)


def test_no_candidate_follows_a_prompt_that_fills_the_context(http):
    full = " fox" * 511
    assert len(token_ids(http, full)) == 512
    error = error_of(http.post("/candidates", json={"prompt": full}))
    assert (error["param"], error["code"]) == ("prompt", "context_length_exceeded")
    # One token less leaves room for one.
    assert http.post("/candidates", json={"prompt": " fox" * 510}).status_code == 200


def test_metrics_count(serve):
    server = serve()
    client = server.client()
    for _ in range(3):
        client.completions.create(model="ember", prompt="Once", max_tokens=7, extra_body={"ignore_eos": True})
    with pytest.raises(Exception):
        client.models.retrieve("nothing")
    labels = 'method="POST",route="/v1/completions",status="200"'
    assert server.metric(f"http_requests_total{{{labels}}}") == 3
    labels = 'method="GET",route="/v1/models/{model}",status="404"'
    assert server.metric(f"http_requests_total{{{labels}}}") == 1
    assert server.metric("generation_tokens_total") == 21
    assert server.metric('sequences_finished_total{finish_reason="length"}') == 3
    assert server.metric("time_to_first_token_seconds_count") == 3
    assert server.metric("inter_token_latency_seconds_count") == 18
    assert server.metric("request_latency_seconds_count") == 3
    assert server.metric("sequences_running") == server.metric("sequences_waiting") == 0
    assert server.metric("kv_blocks_used") == 0
    assert server.metric("kv_blocks_free") > 0
    assert server.metric("process_resident_memory_bytes") > 1e6
    text = server.http().get("/metrics").text
    assert text.endswith("# EOF\n")
    names = set(re.findall(r"^# TYPE (\S+)", text, re.M))
    assert {"slowburn_preemptions", "slowburn_prefix_cache_hits"} <= names


def test_the_dashboard_asks_for_metrics_that_exist(server):
    text = server.http().get("/metrics").text
    known = set(re.findall(r"^(slowburn_\w+)", text, re.M))
    known |= {f"slowburn_{n}_total" for n in re.findall(r"^# TYPE slowburn_(\S+) counter", text, re.M)}
    for kind in ("bucket", "sum", "count"):
        known |= {f"slowburn_{n}_{kind}" for n in re.findall(r"^# TYPE slowburn_(\S+) histogram", text, re.M)}
    dashboard = json.loads((ROOT / "examples/16_server.grafana.json").read_text())
    asked = set(re.findall(r"slowburn_\w+", json.dumps(dashboard)))
    assert asked and asked <= known, asked - known


def test_a_request_is_one_line_of_the_log_without_its_prompt():
    for flags, is_logged in [([], False), (["--log-prompts"], True)]:
        server = start("--log-format", "json", *flags)
        with server.http() as http:
            http.post("/v1/completions", json={"prompt": "a secret fox"}, headers={"x-request-id": "r-17"})
        log = end(server)[1]
        lines = [line for line in log.splitlines() if "r-17" in line and '"ms"' in line]
        assert len(lines) == 1, log
        assert '"status":200' in lines[0] and '"completion_tokens":16' in lines[0]
        assert ("a secret fox" in log) == is_logged


def test_a_path_that_does_not_exist_is_in_the_log():
    server = start("--log-format", "json")
    with server.http() as http:
        http.get("/v1/modells?key=secret")
        http.get("/" + "x" * 5000)
        http.get("/v1/models/other")
        http.request("MADE-UP", "/a%1b[31mred")
    lines = [json.loads(line) for line in end(server)[1].splitlines()]
    found = [line["span"] for line in lines if "ms" in line["fields"] and line["span"].get("status") == 404]
    paths = [span["path"] for span in found]
    assert [paths[0], paths[2], paths[3]] == ["/v1/modells", "/v1/models/other", "/a%1b[31mred"]
    assert paths[1].startswith("/xxx") and len(paths[1]) < 300
    assert [span["method"] for span in found] == ["GET"] * 3 + ["other"]


def test_the_log_of_a_cancelled_stream_has_the_tokens_that_were_sent():
    server = start("--log-format", "json")
    body = {"prompt": "One day", "n": 60, "max_tokens": 490, "ignore_eos": True, "stream": True, "logprobs": 20}
    with server.http() as http:
        with http.stream("POST", "/v1/completions", json=body) as response:
            lines = response.iter_lines()
            for _ in range(400):
                next(lines)
    wait_until(lambda: server.metric('sequences_finished_total{finish_reason="cancelled"}') == 60)
    counted = server.metric("generation_tokens_total")
    log = end(server)[1]
    [line] = [line for line in log.splitlines() if '"cancelled"' in line]
    names = ["prompt_tokens", "completion_tokens"]
    prompt, completion = (int(re.search(rf'"{name}":(\d+)', line)[1]) for name in names)
    # Of the 400 lines each second one is empty.
    assert prompt > 60 and 200 <= completion < 60 * 490
    assert completion == counted


def test_no_setting_is_secret_in_the_log():
    server = start("--log", "trace", env={"SLOWBURN_API_KEY": "very-secret-key"})
    with httpx.Client(base_url=server.url) as http:
        http.get("/v1/models", headers={"authorization": "Bearer very-secret-key"})
    out, log = end(server)
    assert log and "very-secret-key" not in out + log


def test_the_document_is_kept():
    server = start("--log", "error", "--max-tokens", "4")
    program = Path(sys.executable).with_name("st")
    url = f"{server.url}/openapi.json"
    done = subprocess.run(
        # No schema can say that best_of is at least n, or what n times the prompts may be at most,
        # so that some requests that fit the schema are refused. And a number a little over its limit, such
        # as 1.0000000000000002, is the limit in 32 bits, and accepted.
        [program, "run", url, "--exclude-checks", "positive_data_acceptance,negative_data_rejection"]
        + ["--max-examples", "100", "--seed", "1", "--no-color"],
        capture_output=True,
        text=True,
    )
    stop(server)
    assert done.returncode == 0, done.stdout
