"""Refusals leave the connection whole: thousands of them, by each client that keeps connections."""

import asyncio
import http.client
import json
import shutil
import socket
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import httpx
import openai
import pytest
from conftest import start, stop, wait_until

# Refusals of each kind, by each client.
COUNT = 1000

# Through nginx, so many connections with requests of each kind.
CONNECTIONS = 8

# Of other lengths than what comes with the head, and than what fits into a buffer.
BODIES = ["x" * 1500, "x" * 12_000, "x" * 70_000]

JSON = {"content-type": "application/json"}


@pytest.fixture
def kinds(servers):
    # A minute later, one more request would be let in.
    with httpx.Client(base_url=servers["rate"]["url"]) as client:
        client.get("/v1/models")
    return servers


@pytest.fixture(scope="module")
def servers():
    """What is refused, before its body is read: by its name, a request and its status."""
    open_to_all = start("--log", "error", "--body-limit", "1KiB")
    keyed = start("--log", "error", "--api-key", "long-enough")
    limited = start("--log", "error", "--rate-per-minute", "1", "--burst", "1")

    def kind(server, status, path="/v1/completions", method="POST", **headers):
        headers = {**JSON, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return dict(url=server.url, path=path, method=method, headers=headers, status=status)

    yield {
        "rate": kind(limited, 429),
        "key": kind(keyed, 401),
        "path": kind(open_to_all, 404, path="/v1/nope"),
        "method": kind(open_to_all, 405, method="PUT"),
        "size": kind(open_to_all, 413),
        "type": kind(open_to_all, 415, content_type="text/plain"),
        "encoding": kind(open_to_all, 415, content_encoding="gzip"),
    }
    for server in (open_to_all, keyed, limited):
        stop(server)


def assert_all_refused(kinds, found):
    assert found == {name: {kind["status"]: COUNT} for name, kind in kinds.items()}


def refusals_over_one_connection(kind, url, count):
    """The statuses, over a connection that is never opened again."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    connection.connect()
    first = connection.sock
    seen = Counter()
    for number in range(count):
        body = BODIES[number % len(BODIES)].encode()
        connection.request(kind["method"], kind["path"], body, kind["headers"])
        response = connection.getresponse()
        response.read()
        seen[response.status] += 1
        assert connection.sock is first
    connection.close()
    return dict(seen)


def test_http_client(kinds):
    found = {name: refusals_over_one_connection(kind, kind["url"], COUNT) for name, kind in kinds.items()}
    assert_all_refused(kinds, found)


def test_httpx(kinds):
    def refusals(kind):
        with httpx.Client(base_url=kind["url"], timeout=60) as client:
            answers = (
                client.request(kind["method"], kind["path"], content=BODIES[number % len(BODIES)], headers=kind["headers"])
                for number in range(COUNT)
            )
            return dict(Counter(answer.status_code for answer in answers))

    assert_all_refused(kinds, {name: refusals(kind) for name, kind in kinds.items()})


def test_aiohttp(kinds):
    async def refusals(session, kind):
        seen = Counter()
        numbers = iter(range(COUNT))

        async def worker():
            for number in numbers:
                body = BODIES[number % len(BODIES)]
                request = session.request(kind["method"], kind["url"] + kind["path"], data=body, headers=kind["headers"])
                async with request as response:
                    await response.read()
                    seen[response.status] += 1

        await asyncio.gather(*(worker() for _ in range(4)))
        return dict(seen)

    async def all_of_them():
        async with aiohttp.ClientSession() as session:
            return {name: await refusals(session, kind) for name, kind in kinds.items()}

    assert_all_refused(kinds, asyncio.run(all_of_them()))


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_node(kinds):
    plan = json.dumps({"kinds": kinds, "bodies": BODIES, "count": COUNT})
    program = Path(__file__).with_name("keep_alive.mjs")
    done = subprocess.run(["node", program, plan], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = {
        f"{client} {name}": {str(kind["status"]): COUNT} for client in ("fetch", "agent") for name, kind in kinds.items()
    }
    assert json.loads(done.stdout) == expected


CONF = """
daemon off; master_process off; worker_processes 1; pid {folder}/pid; error_log stderr error;
events {{ worker_connections 512; }}
http {{
    access_log off; client_max_body_size 0;
    client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    keepalive_requests 100000;
    {servers}
}}
"""

# Nothing is tried again: a connection that breaks is 502.
BEHIND = """
    upstream up{port} {{ server {upstream}; keepalive 32; keepalive_requests 100000; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://up{port}; proxy_http_version 1.1;
            proxy_set_header connection ""; proxy_set_header host localhost;
            proxy_next_upstream off; proxy_request_buffering {buffering};
        }}
    }}
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def is_listening(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.skipif(not shutil.which("nginx"), reason="nginx is not installed")
@pytest.mark.parametrize("buffering", ["on", "off"])
def test_nginx(kinds, tmp_path, buffering):
    ports = {kind["url"]: free_port() for kind in kinds.values()}
    behind = {url: f"http://127.0.0.1:{port}" for url, port in ports.items()}
    servers = "".join(
        BEHIND.format(port=port, upstream=urlsplit(url).netloc, buffering=buffering) for url, port in ports.items()
    )
    conf = tmp_path / "nginx.conf"
    conf.write_text(CONF.format(folder=tmp_path, servers=servers))
    proxy = subprocess.Popen(["nginx", "-c", conf, "-e", "stderr"], stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: proxy.poll() is not None or all(map(is_listening, ports.values())))
        found = {name: Counter() for name in kinds}
        # Many at once: nginx collects what it sends, and then each request takes 40 ms.
        with ThreadPoolExecutor(CONNECTIONS * len(kinds)) as pool:
            asked = [
                (name, pool.submit(refusals_over_one_connection, kind, behind[kind["url"]], COUNT // CONNECTIONS))
                for name, kind in kinds.items()
                for _ in range(CONNECTIONS)
            ]
            for name, seen in asked:
                found[name].update(seen.result())
    finally:
        proxy.terminate()
        said = proxy.communicate(timeout=20)[1]
    assert said == ""
    assert_all_refused(kinds, found)


def test_an_answer_is_read_by_whoever_sends_far_too_much(kinds):
    """Its connection ends, but not before the answer is there."""
    for name, kind in kinds.items():
        with httpx.Client(base_url=kind["url"], timeout=60) as client:
            body = b"x" * (8 << 20)
            answer = client.request(kind["method"], kind["path"], content=body, headers=kind["headers"])
            assert (name, answer.status_code) == (name, kind["status"])
            assert answer.headers["connection"] == "close"
    client = openai.OpenAI(base_url=kinds["key"]["url"] + "/v1", api_key="wrong", max_retries=0)
    with pytest.raises(openai.AuthenticationError):
        client.completions.create(model="ember", prompt="x" * (8 << 20))
