"""Starts servers for the tests: the program that the environment variable SLOWBURN_SERVER names."""

import hashlib
import os
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
PROGRAM = Path(os.environ.get("SLOWBURN_SERVER", ROOT / "target/release/examples/16_server")).resolve()


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


def start(*flags, env=None):
    process = subprocess.Popen(
        [PROGRAM, "--port", "0", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(env),
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
