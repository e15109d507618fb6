"""Settings from the environment, and how a server that cannot start says so."""

import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from conftest import PROGRAM, end, environment


def run(*flags, env=None):
    """The exit code and the error of a server that does not start."""
    done = subprocess.run(
        [PROGRAM, *flags], capture_output=True, text=True, timeout=60, env=environment(env)
    )
    return done.returncode, done.stderr


def test_the_environment_counts_before_the_file_and_after_flags(serve, tmp_path):
    config = tmp_path / "server.toml"
    config.write_text('model_name = "file"\nmax_sequences = 3')

    def name(*flags, **env):
        return serve(*flags, env=env).client().models.list().data[0].id

    assert name("--config", str(config)) == "file"
    assert name(SLOWBURN_CONFIG=str(config)) == "file"
    assert name(SLOWBURN_CONFIG=str(config), SLOWBURN_MODEL_NAME="variable") == "variable"
    assert name("--model-name", "flag", SLOWBURN_CONFIG=str(config), SLOWBURN_MODEL_NAME="variable") == "flag"


def test_a_wrong_setting_is_named_and_the_exit_code_is_2():
    code, error = run(env={"SLOWBURN_PORT": "eighty"})
    assert code == 2 and "'eighty' for 'SLOWBURN_PORT'" in error
    # The flag counts, so the variable does not.
    code, error = run("--port", "ninety", env={"SLOWBURN_PORT": "eighty"})
    assert code == 2 and "'ninety' for '--port <PORT>'" in error
    code, error = run(env={"SLOWBURN_NO_AUTH": "true", "SLOWBURN_API_KEY": "long-enough"})
    assert code == 2 and "SLOWBURN_NO_AUTH" in error and "SLOWBURN_API_KEY" in error and "--" not in error.split("\n")[0]
    code, error = run(env={"SLOWBURN_API_KEY": "secret"})
    assert code == 2 and "SLOWBURN_API_KEY" in error and "secret" not in error
    code, error = run("--host", "0.0.0.0")
    assert code == 2 and "SLOWBURN_API_KEY" in error and "--no-auth" in error


def test_a_variable_can_leave_a_switch_off(serve, tmp_path):
    config = tmp_path / "server.toml"
    config.write_text('no_auth = true\napi_key = "long-enough"')
    for env in [
        {"SLOWBURN_NO_AUTH": "false", "SLOWBURN_API_KEY": "long-enough"},
        # The variable counts, so the file does not.
        {"SLOWBURN_NO_AUTH": "false", "SLOWBURN_CONFIG": str(config)},
    ]:
        with serve(env=env).http() as http:
            assert http.get("/v1/models").status_code == 401
    code, error = run(env={"SLOWBURN_NO_AUTH": "no"})
    assert code == 2 and "SLOWBURN_NO_AUTH" in error


def test_a_variable_that_is_no_setting_is_named():
    code, error = run(env={"SLOWBURN_MAX_CONECTIONS": "9"})
    assert code == 2 and "`SLOWBURN_MAX_CONECTIONS` is no setting (is `SLOWBURN_MAX_CONNECTIONS` meant?)" in error
    code, error = run(env={"SLOWBURN_XYLOPHONE": "9"})
    assert code == 2 and "`SLOWBURN_XYLOPHONE` is no setting: unset it" in error
    # Help is help, whatever the environment.
    assert run("--help", env={"SLOWBURN_XYLOPHONE": "9"})[0] == 0


def test_the_variables_of_a_kubernetes_service_are_no_settings(serve):
    of_kubernetes = {
        "SLOWBURN_SERVICE_HOST": "10.0.0.11",
        "SLOWBURN_SERVICE_PORT": "8080",
        "SLOWBURN_SERVICE_PORT_HTTP": "8080",
        "SLOWBURN_PORT": "tcp://10.0.0.11:8080",
        "SLOWBURN_PORT_8080_TCP": "tcp://10.0.0.11:8080",
        "SLOWBURN_PORT_8080_TCP_ADDR": "10.0.0.11",
    }
    assert serve(env=of_kubernetes).client().models.list().data[0].id == "ember"
    code, error = run(env={**of_kubernetes, "SLOWBURN_PORTS": "9"})
    assert code == 2 and "`SLOWBURN_PORTS` is no setting (is `SLOWBURN_PORT` meant?)" in error


def test_the_token_of_a_lent_device_is_no_setting(serve):
    server = serve(env={"SLOWBURN_DEVICE_TOKEN": "of-another-machine"})
    assert server.client().models.list().data[0].id == "ember"


def test_a_name_and_more_memory_than_there_is_are_taken(serve):
    server = serve("--host", "localhost", "--kv-cache-bytes", "1EiB")
    assert server.client().completions.create(model="ember", prompt="Once", max_tokens=3).usage.completion_tokens == 3


def test_a_signal_is_seen_as_soon_as_the_address_is():
    def once(number):
        process = subprocess.Popen(
            [PROGRAM, "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
        assert process.stdout.readline().startswith(b"serving ")
        end = time.perf_counter() + number % 20 / 10_000
        while time.perf_counter() < end:
            pass
        process.send_signal([signal.SIGTERM, signal.SIGINT][number % 2])
        code = process.wait(timeout=60)
        process.stdout.close()
        return code

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(once, range(100))) == [0] * 100


def test_a_second_signal_ends_the_wait(serve):
    server = serve("--drain-timeout", "300")
    body = {"prompt": "Once", "n": 64, "max_tokens": 500, "ignore_eos": True, "logprobs": 5, "stream": True}
    with server.http() as http, http.stream("POST", "/v1/completions", json=body) as response:
        assert response.status_code == 200
        server.process.terminate()
        # It waits for the stream, of which nobody reads more than fits into the buffers.
        try:
            server.process.wait(timeout=1)
            raise AssertionError("it has not waited")
        except subprocess.TimeoutExpired:
            pass
        server.process.terminate()
        assert server.process.wait(timeout=20) == 0


def test_a_model_or_an_address_that_cannot_be_used_ends_the_server(serve):
    code, error = run("--port", "0", "--model", "/nowhere")
    assert code == 1 and "/nowhere" in error
    taken = serve().url.rsplit(":")[-1]
    code, error = run("--port", taken)
    assert code == 1 and f"cannot listen at 127.0.0.1:{taken}" in error and "--port" in error


def test_the_block_report_comes_at_the_end(serve):
    server = serve("--block-report", "--kv-cache-bytes", "8MiB")
    server.client().completions.create(model="ember", prompt="Once", max_tokens=3)
    assert "blocks in use" in end(server)[1]
