"""Settings from the environment, and how a server that cannot start says so."""

import subprocess

from conftest import PROGRAM


def run(*flags, env=None):
    """The exit code and the error of a server that does not start."""
    import os

    done = subprocess.run(
        [PROGRAM, *flags], capture_output=True, text=True, timeout=60, env={**os.environ, **(env or {})}
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
    assert code == 2 and "--port" in error and "eighty" in error
    code, error = run("--host", "0.0.0.0")
    assert code == 2 and "SLOWBURN_API_KEY" in error and "--no-auth" in error


def test_a_model_or_an_address_that_cannot_be_used_ends_the_server(serve):
    code, error = run("--port", "0", "--model", "/nowhere")
    assert code == 1 and "/nowhere" in error
    taken = serve().url.rsplit(":")[-1]
    code, error = run("--port", taken)
    assert code == 1 and f"cannot listen at 127.0.0.1:{taken}" in error and "--port" in error


def test_the_block_report_comes_at_the_end(serve):
    server = serve("--block-report", "--kv-cache-bytes", "8MiB")
    server.client().completions.create(model="ember", prompt="Once", max_tokens=3)
    server.process.terminate()
    assert "blocks in use" in server.process.communicate(timeout=20)[1]
