"""Starts servers for the tests: the program that the environment variable SLOWBURN_SERVER names."""

import hashlib
import json
import os
import resource
import signal
import struct
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import httpx
import openai
import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("SLOWBURN_SERVER", ROOT / "target/debug/examples/16_server")).resolve()


@dataclass
class Server:
    url: str
    process: subprocess.Popen

    def client(self, api_key="any", **options):
        options.setdefault("max_retries", 0)
        return openai.OpenAI(base_url=f"{self.url}/v1", api_key=api_key, timeout=60, **options)

    def http(self, **options):
        return httpx.Client(base_url=self.url, timeout=60, **options)

    def metric(self, line):
        """The value of a line of /metrics, without its prefix; 0 where there is none yet."""
        for text in self.http().get("/metrics").text.splitlines():
            name, _, value = text.rpartition(" ")
            if name == f"slowburn_{line}":
                return float(value)
        return 0.0


def seed_of(seed, index):
    """The seed of the text at an index, as the document describes it."""
    if index == 0:
        return seed
    digest = hashlib.sha256(struct.pack("<qQ", seed, index)).digest()
    return int.from_bytes(digest[:8], "little", signed=True)


def token_ids(http, text, **options):
    return http.post("/tokenize", json={"text": text, **options}).json()["ids"]


def bare_ids(http, text):
    """Without the token that begins a text."""
    return token_ids(http, text, add_special_tokens=False)


def error_of(response, status=400):
    """The error of a response, which has all its fields."""
    assert response.status_code == status, response.text
    detail = response.json()["error"]
    assert set(detail) == {"message", "type", "param", "code"}
    assert detail["message"] and detail["type"]
    return detail


def events(http, path, body):
    """The data of all events of a stream, which ends with [DONE]."""
    with http.stream("POST", path, json={**body, "stream": True}) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-cache"
        lines = [line for line in response.iter_lines() if line]
    assert all(line.startswith("data: ") for line in lines)
    data = [line.removeprefix("data: ") for line in lines]
    assert data.count("[DONE]") == 1 and data[-1] == "[DONE]"
    return [json.loads(line) for line in data[:-1]]


def link_ember(folder):
    """The bundled model in a folder where it may get a template."""
    for name in ["config.json", "model.safetensors", "tokenizer.json"]:
        (folder / name).symlink_to(ROOT / "models/ember" / name)


def wait_until(holds, seconds=30):
    """Waits for what should come at once, and fails where it never does."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.002)


def environment(more=None):
    """What a server sees. Variables of the tests have the names of settings, and would be refused."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("SLOWBURN_")}
    return {**others, **(more or {})}


def start(*flags, env=None, files=None):
    """`files` is how many may be open."""

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    process = subprocess.Popen(
        [PROGRAM, "--port", "0", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(env),
        preexec_fn=limit if files else None,
    )
    line = process.stdout.readline()
    assert line.startswith("serving "), line + process.stderr.read()
    url = line.split()[-1]
    transport = httpx.HTTPTransport(retries=5)
    with httpx.Client(base_url=url, transport=transport) as http:
        wait_until(lambda: http.get("/ready").status_code == 200)
    return Server(url, process)


def stop(server):
    """SIGTERM, and exit code 0."""
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(timeout=40) == 0
    server.process.stdout.close()
    server.process.stderr.close()


def end(server):
    """What it has printed, and its log."""
    server.process.terminate()
    return server.process.communicate(timeout=20)


@pytest.fixture
def serve():
    """Starts servers with flags of the test's own."""
    servers = []

    def begin(*flags, **options):
        servers.append(start("--log", "error", *flags, **options))
        return servers[-1]

    yield begin
    for server in servers:
        if server.process.poll() is None:
            stop(server)


@pytest.fixture(scope="session")
def server():
    """The server of most tests."""
    server = start("--log", "error")
    yield server
    stop(server)


@pytest.fixture(scope="session")
def client(server):
    return server.client()


@pytest.fixture(scope="session")
def http(server):
    with server.http() as http:
        yield http


@pytest.fixture
def chat(client):
    """Asks the model; all options can be replaced."""

    def ask(text="Once upon a time", **options):
        options.setdefault("messages", [{"role": "user", "content": text}])
        options.setdefault("model", "ember")
        options.setdefault("max_completion_tokens", 20)
        return client.chat.completions.create(**options)

    return ask


@pytest.fixture
def complete(client):
    """Continues a prompt; all options can be replaced."""

    def ask(prompt="Once upon a time", **options):
        options.setdefault("model", "ember")
        options.setdefault("max_tokens", 20)
        return client.completions.create(prompt=prompt, **options)

    return ask
