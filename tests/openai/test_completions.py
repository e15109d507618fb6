"""/v1/completions."""

import math

import openai
import pytest
from conftest import error_of, seed_of, token_ids


def texts(completion):
    return [choice.text for choice in completion.choices]


def test_temperature_0_is_greedy_and_repeats(complete):
    first = complete(temperature=0, seed=1)
    assert first.choices[0].text.startswith(", there was")
    assert texts(complete(temperature=0, seed=2)) == texts(first)
    assert first.choices[0].finish_reason == "length"
    assert first.usage.prompt_tokens + first.usage.completion_tokens == first.usage.total_tokens
    assert first.usage.completion_tokens == 20
    assert first.object == "text_completion" and first.model == "ember"


def test_the_default_length_is_16(client):
    completion = client.completions.create(model="ember", prompt="Once", extra_body={"ignore_eos": True})
    assert completion.usage.completion_tokens == 16


def test_a_seed_repeats_and_without_one_texts_differ(complete):
    once = complete(seed=7, temperature=1.5)
    assert texts(complete(seed=7, temperature=1.5)) == texts(once)
    assert len({complete(temperature=1.5, max_tokens=30).choices[0].text for _ in range(4)}) > 1


def test_a_story_ends_by_itself(complete):
    story = complete(seed=42, temperature=0.8, max_tokens=500)
    assert story.choices[0].finish_reason == "stop"
    assert story.choices[0].text.rstrip('"')[-1] in ".!?"


@pytest.mark.parametrize("prompt", ["Once upon a time", ["Once upon a time"], "ids", ["ids"]])
def test_a_prompt_is_text_or_ids_one_or_several(complete, http, prompt):
    ids = token_ids(http, "Once upon a time")
    given = ids if prompt == "ids" else [ids] if prompt == ["ids"] else prompt
    assert texts(complete(given, temperature=0)) == texts(complete(temperature=0))


def test_several_prompts_and_n_are_indexed(complete):
    prompts = ["Once upon a time", "One day", "In the forest"]
    both = complete(prompts, n=2, seed=3, temperature=1)
    assert [choice.index for choice in both.choices] == list(range(6))
    for i, prompt in enumerate(prompts):
        for k in range(2):
            alone = complete(prompt, seed=seed_of(3, k), temperature=1)
            assert texts(alone) == [both.choices[2 * i + k].text]
    # A prompt counts once.
    alone = sum(complete(prompt, max_tokens=1).usage.prompt_tokens for prompt in prompts)
    assert both.usage.prompt_tokens == alone


def test_neighbouring_seeds_share_no_text(complete):
    found = [text for seed in (1, 2, 3) for text in texts(complete(n=3, seed=seed, temperature=1.5))]
    assert len(set(found)) == 9


def test_best_of_returns_the_likeliest(complete):
    def mean(choice):
        return sum(choice.logprobs.token_logprobs) / len(choice.logprobs.token_logprobs)

    options = dict(seed=5, temperature=1.3, logprobs=0, extra_body={"ignore_eos": True})
    everyone = complete(n=6, **options)
    best = complete(n=2, best_of=6, **options)
    ranked = sorted(everyone.choices, key=mean, reverse=True)
    assert texts(best) == [choice.text for choice in ranked[:2]]
    assert best.usage.completion_tokens == everyone.usage.completion_tokens
    without = complete(n=2, best_of=6, seed=5, temperature=1.3, extra_body={"ignore_eos": True})
    assert texts(without) == texts(best) and without.choices[0].logprobs is None


@pytest.mark.parametrize("stop", ["was", ["zebra", "was"], "there w", [" there", "was"]])
def test_a_stop_string_ends_the_text_and_is_left_out(complete, stop):
    whole = complete(temperature=0).choices[0].text
    first = min(whole.find(s) for s in ([stop] if isinstance(stop, str) else stop) if s in whole)
    stopped = complete(temperature=0, stop=stop).choices[0]
    assert stopped.text == whole[:first]
    assert stopped.finish_reason == "stop"


def test_stop_token_ids_and_ignore_eos(complete, http):
    stopped = complete(temperature=0, extra_body={"stop_token_ids": token_ids(http, " was")[-1:]})
    assert "was" not in stopped.choices[0].text and stopped.choices[0].finish_reason == "stop"
    on = complete(seed=42, temperature=0.8, max_tokens=200, extra_body={"ignore_eos": True})
    assert on.choices[0].finish_reason == "length" and on.usage.completion_tokens == 200


def test_logit_bias_bans_and_forces(complete, http):
    [first] = token_ids(http, ",")[-1:]
    banned = complete(temperature=0, logit_bias={str(first): -100})
    assert not banned.choices[0].text.startswith(",")
    forced = complete(temperature=0, logit_bias={str(first): 100}, max_tokens=4)
    assert forced.choices[0].text == ",,,,"


def test_logprobs_have_text_offsets(complete):
    choice = complete(temperature=0, logprobs=3).choices[0]
    found = choice.logprobs
    assert "".join(found.tokens) == choice.text
    assert [choice.text[i : i + len(t)] for i, t in zip(found.text_offset, found.tokens)] == found.tokens
    for token, logprob, top in zip(found.tokens, found.token_logprobs, found.top_logprobs):
        assert len(top) == 3 and logprob <= 0
        assert max(top, key=top.get) == token and math.isclose(top[token], logprob, abs_tol=1e-6)


def test_the_context_is_a_limit(complete):
    long = complete("fox " * 200, max_tokens=10_000, extra_body={"ignore_eos": True})
    assert long.choices[0].finish_reason == "length"
    assert long.usage.total_tokens in (512, 513)


def test_max_tokens_may_be_bounded(serve):
    server = serve("--max-tokens", "5")
    client = server.client()
    with pytest.raises(openai.BadRequestError) as raised:
        client.completions.create(model="ember", prompt="x", max_tokens=6)
    assert raised.value.param == "max_tokens"
    longest = client.completions.create(model="ember", prompt="x", extra_body={"ignore_eos": True})
    assert longest.usage.completion_tokens == 5
    chat = {"messages": [{"role": "user", "content": "x"}]}
    # The limit has the name that the request has for it.
    for path, body, name in [
        ("/v1/chat/completions", {**chat, "max_tokens": 6}, "max_tokens"),
        ("/v1/chat/completions", {**chat, "max_completion_tokens": 6, "max_tokens": 3}, "max_completion_tokens"),
        ("/v1/responses", {"input": "x", "max_output_tokens": 6}, "max_output_tokens"),
        ("/generate", {"prompt": "x", "max_tokens": 6}, "max_tokens"),
        ("/generate", {"text": "x", "sampling_params": {"max_new_tokens": 6}}, "max_new_tokens"),
    ]:
        error = error_of(server.http().post(path, json=body))
        assert error["param"] == name and error["message"].startswith(f"{name} is 6, but at most 5")


def test_cached_tokens_are_told(complete):
    prompt = "Once upon a time there was a fox who lived under the hill. " * 5
    complete(prompt)
    again = complete(prompt).usage
    assert again.prompt_tokens_details.cached_tokens >= 32
    assert again.prompt_tokens_details.cached_tokens < again.prompt_tokens


def test_echo_comes_first(complete):
    whole = complete(temperature=0, echo=True).choices[0].text
    assert whole == "Once upon a time" + complete(temperature=0).choices[0].text


def test_echo_with_logprobs_scores_the_prompt(complete):
    prompt = "Once upon a time, there was a fox"
    scored = complete(prompt, max_tokens=0, echo=True, logprobs=1).choices[0]
    assert scored.text == prompt and scored.finish_reason == "length"
    found = scored.logprobs
    assert found.token_logprobs[0] is None and found.top_logprobs[0] is None
    # The first token begins the sequence, and has no text.
    first, *tokens = found.tokens
    assert first.startswith("<") and "".join(tokens) == prompt
    assert found.text_offset[1:] == [len("".join(tokens[:i])) for i in range(len(tokens))]
    assert all(logprob <= 0 for logprob in found.token_logprobs[1:])
    # One more token leaves the prompt's as they are.
    more = complete(prompt, max_tokens=1, echo=True, logprobs=1, temperature=0).choices[0]
    assert more.logprobs.token_logprobs[:-1] == found.token_logprobs
    assert more.text == prompt + more.logprobs.tokens[-1]


@pytest.mark.parametrize("parse_special", [True, False])
def test_the_name_of_a_special_token_has_a_place_in_an_echo(complete, parse_special):
    prompt = "a<|end|>b<|end|><|end|>c"
    options = dict(max_tokens=0, echo=True, logprobs=1, extra_body={"parse_special": parse_special})
    scored = complete(prompt, **options).choices[0]
    assert scored.text == prompt
    first, *tokens = scored.logprobs.tokens
    assert ("<|end|>" in tokens) == parse_special and "".join(tokens) == prompt
    assert scored.logprobs.text_offset == [0] + [len("".join(tokens[:i])) for i in range(len(tokens))]


def test_no_tokens_at_all(complete):
    nothing = complete(max_tokens=0)
    assert texts(nothing) == [""] and nothing.usage.completion_tokens == 0
    assert texts(complete(max_tokens=0, echo=True)) == ["Once upon a time"]


@pytest.mark.parametrize("options", [{}, {"max_tokens": 0}, {"n": 2}, {"prompt": ["One day", "The storm"]}])
def test_echo_with_logprobs_is_streamed(complete, options):
    options = {"prompt": "Once upon a time, there was a fox", "max_tokens": 6, "seed": 3, **options}
    options.update(echo=True, logprobs=2)
    whole = complete(**options).choices
    begun = set()
    parts = [dict(text="", tokens=[], token_logprobs=[], top_logprobs=[], text_offset=[]) for _ in whole]
    for chunk in complete(stream=True, **options):
        [choice] = chunk.choices
        part = parts[choice.index]
        if choice.index not in begun:
            # The first event of a choice is its prompt.
            begun.add(choice.index)
            prompts = options["prompt"] if isinstance(options["prompt"], list) else [options["prompt"]]
            assert choice.text == prompts[choice.index // options.get("n", 1)]
            assert len(choice.logprobs.tokens) > 1 and choice.logprobs.token_logprobs[0] is None
        part["text"] += choice.text
        if choice.logprobs:
            for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset"):
                part[name] += getattr(choice.logprobs, name)
    assert len(begun) == len(whole)
    for part, choice in zip(parts, whole):
        assert part.pop("text") == choice.text
        assert part == choice.logprobs.model_dump()
