"""The program of the book."""

from conftest import ROOT


def test_the_program_of_the_book_writes_the_story(server, client, capsys):
    program = (ROOT / "examples/16_server.py").read_text()
    exec(program.replace("http://127.0.0.1:8080", server.url), {})
    whole = client.completions.create(
        model="ember", prompt="Once upon a time", temperature=0.8, seed=42, max_tokens=500
    )
    assert capsys.readouterr().out == whole.choices[0].text + "\n"
