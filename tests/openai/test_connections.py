"""More connections than there may be."""

import http.client
import resource
import socket
import sys
import time
from urllib.parse import urlsplit

import pytest

IDLE = 2000

linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address only")


@pytest.fixture
def open_files():
    """Room for the sockets here, and little of it for a server that does not ask for more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < IDLE + 500:
        pytest.skip(f"only {hard} files may be open")

    def allow(count):
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))

    allow(256)
    yield allow
    allow(soft)


@linux
def test_idle_connections_of_one_client_are_its_own_loss(serve, open_files):
    server = serve()
    open_files(IDLE + 400)
    address = urlsplit(server.url)

    def ask(connection, path):
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        return response.status

    kept = http.client.HTTPConnection(address.netloc, timeout=10)
    assert ask(kept, "/v1/models") == 200
    first = kept.sock
    idle = []
    slowest = 0
    for number in range(IDLE):
        connection = socket.create_connection((address.hostname, address.port), timeout=10, source_address=("127.0.0.2", 0))
        # Some say nothing, and some begin and do not end.
        if number % 2:
            connection.send(b"GET /v1/models HTTP/1.1\r\nhost: local")
        idle.append(connection)
        if number % 100 == 0:
            before = time.monotonic()
            for path in ("/health", "/metrics", "/v1/models"):
                other = http.client.HTTPConnection(address.netloc, timeout=10)
                assert ask(other, path) == 200
                other.close()
            slowest = max(slowest, time.monotonic() - before)
    assert slowest < 5
    # It was open before, and still is.
    assert ask(kept, "/v1/models") == 200 and kept.sock is first
    assert server.client().completions.create(model="ember", prompt="Once", max_tokens=3)
    for connection in idle:
        connection.close()


@linux
def test_idle_connections_leave_room_where_few_files_may_be_open(serve):
    server = serve(files=64)
    address = urlsplit(server.url)
    idle = [socket.create_connection((address.hostname, address.port), timeout=10) for _ in range(150)]
    before = time.monotonic()
    with server.http() as http:
        assert http.get("/health").status_code == 200
        assert http.get("/metrics").status_code == 200
    assert time.monotonic() - before < 5
    for connection in idle:
        connection.close()
