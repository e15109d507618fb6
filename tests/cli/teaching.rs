//! What the examples about sampling show is what the library computes.

use slowburn::model::Input;
use slowburn::sampling::{Sampler, SamplingParams, statistics};

use super::*;

#[test]
fn greedy_shows_the_best_token_of_each_step_and_no_loop_where_there_is_none() {
    let report = succeed_in_json("01_greedy", &["--max-tokens", "12", "--logprobs", "3"]);
    let steps = report["logprobs"].as_array().unwrap();
    assert_eq!(ids(&report).len(), steps.len());
    for (step, id) in steps.iter().zip(ids(&report)) {
        assert_eq!(step["id"], id);
        assert_eq!(step["top"][0][0], id, "greedy takes the best: {step}");
        assert_eq!(step["top"].as_array().unwrap().len(), 3);
    }
    let text = succeed("01_greedy", &["--max-tokens", "6", "--steps", "4"]);
    assert!(text.contains("and 2 more steps"), "{text}");
    assert!(text.contains("No loop in 6 tokens: it was cut off there."), "{text}");

    // What was written once is rewarded more and more, until nothing else can win.
    let args = [
        "--max-tokens",
        "120",
        "--frequency-penalty",
        "-2",
        "--steps",
        "0",
    ];
    let text = succeed("01_greedy", &args);
    assert!(text.contains("A loop: from token"), "{text}");
    let report = succeed_in_json("01_greedy", &args);
    let (start, period) = (&report["repetition"]["start"], &report["repetition"]["period"]);
    let (start, period) = (start.as_u64().unwrap() as usize, period.as_u64().unwrap() as usize);
    let ids = ids(&report);
    assert!((start + period..ids.len()).all(|at| ids[at] == ids[at - period]));
}

#[test]
fn beams_are_sorted_and_at_least_as_likely_as_greedy_is_where_all_is_searched() {
    let args = ["--max-tokens", "3", "--beams", "3", "--ignore-eos"];
    let report = succeed_in_json("01_greedy", &args);
    let beams = report["beams"].as_array().unwrap();
    assert_eq!(beams.len(), 3);
    let score = |beam: &Value| beam["score"].as_f64().unwrap();
    assert!(beams.is_sorted_by(|a, b| score(a) >= score(b)));
    let text = succeed("01_greedy", &args);
    assert!(text.contains("Beam 1: 3 tokens, log-probability"), "{text}");
}

#[test]
fn more_beams_than_there_can_be_are_refused() {
    for beams in ["0", "9223372036854775808", "18446744073709551615"] {
        let message = format!("beam width is {beams}, but must be 1 to 1024");
        fail("01_greedy", &["--max-tokens", "3", "--beams", beams], 2, &message);
    }
}

#[test]
fn top_k_shows_the_survivors_of_each_k() {
    let report = succeed_in_json("02_top_k", &["--max-tokens", "4"]);
    let settings = report["settings"].as_array().unwrap();
    let survivors: Vec<u64> = settings.iter().map(|s| s["survivors"].as_u64().unwrap()).collect();
    assert_eq!(survivors, [2048, 1, 5, 40]);
    let mass: Vec<f64> = settings.iter().map(|s| s["mass_kept"].as_f64().unwrap()).collect();
    assert!(mass[1] < mass[2] && mass[2] < mass[3] && mass[3] <= mass[0], "{mass:?}");
    for setting in settings {
        let top: Vec<(u32, f64)> = serde_json::from_value(setting["top"].clone()).unwrap();
        assert!(top.is_sorted_by(|a, b| a.1 >= b.1));
        let sum: f64 = top.iter().map(|(_, p)| p).sum();
        if setting["survivors"].as_u64().unwrap() <= 40 {
            assert!((sum - 1.0).abs() < 1e-5, "renormalised to 1: {sum}");
        }
    }
    let one = succeed_in_json("02_top_k", &["--max-tokens", "1", "--top-k", "7"]);
    assert_eq!(one["settings"].as_array().unwrap().len(), 2);
    assert_eq!(one["settings"][1]["survivors"], 7);
}

#[test]
fn temperature_spreads_the_distribution() {
    let report = succeed_in_json("03_temperature", &["--max-tokens", "4"]);
    let settings = report["settings"].as_array().unwrap();
    let entropy: Vec<f64> = settings.iter().map(|s| s["entropy_bits"].as_f64().unwrap()).collect();
    assert_eq!(entropy.len(), 5);
    assert!(entropy.is_sorted_by(|a, b| a < b), "{entropy:?}");
    for setting in settings {
        let bits = setting["entropy_bits"].as_f64().unwrap();
        let effective = setting["effective_tokens"].as_f64().unwrap();
        assert!((bits.exp2() - effective).abs() < 1e-9 * effective);
    }
    // At 0 there is one token, and no minus sign before its entropy.
    let text = succeed("03_temperature", &["--max-tokens", "1", "--temperature", "0"]);
    assert!(text.contains("0.00") && !text.contains("-0.00"), "{text}");
}

#[test]
fn the_nucleus_is_counted_at_each_step() {
    let report =
        succeed_in_json("04_top_p", &["--max-tokens", "10", "--top-p", "0.75", "--ignore-eos"]);
    let steps = report["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 10);
    // Once more, from the logits of the whole prefix.
    let model = bundled(&device()).model;
    let params = SamplingParams { top_p: Some(0.75), ..SamplingParams::default() };
    let sampler = Sampler::new(&params).unwrap();
    let prompt = prompt_ids(&report);
    let output = ids(&report);
    for (i, step) in steps.iter().enumerate() {
        let logits = model
            .forward(&mut [Input::whole(&[&prompt[..], &output[..i]].concat())])
            .unwrap()
            .remove(0);
        let nucleus = sampler.distribution(&logits, &prompt, &output[..i]).unwrap();
        assert_eq!(step["id"], output[i]);
        assert_eq!(step["nucleus"], statistics::survivors(&nucleus), "step {i}");
    }
}

#[test]
fn score_says_how_likely_the_prompt_is_and_writes_nothing() {
    let likely = succeed_in_json(CACHED, &["--score", "--prompt", "Once upon a time, there was"]);
    let unlikely = succeed_in_json(CACHED, &["--score", "--prompt", "was there, time a upon Once"]);
    let perplexity = |report: &Value| report["perplexity"].as_f64().unwrap();
    assert!(perplexity(&likely) < perplexity(&unlikely));
    assert!(likely["logprobs"].is_null());
    let text = succeed(CACHED, &["--score", "--logprobs", "2", "--prompt", "One day"]);
    assert!(text.contains("perplexity"), "{text}");
    let one = succeed(CACHED, &["--score", "--prompt", ""]);
    assert!(one.contains("no perplexity"), "{one}");
}

#[test]
fn echo_adds_the_prompt_to_the_log_probabilities() {
    let args = [
        "--echo",
        "--logprobs",
        "1",
        "--max-tokens",
        "2",
        "--ignore-eos",
    ];
    let report = succeed_in_json(CACHED, &args);
    let prompt = prompt_ids(&report);
    let rows = report["prompt_logprobs"].as_array().unwrap();
    let found: Vec<u64> = rows.iter().map(|row| row["id"].as_u64().unwrap()).collect();
    assert_eq!(found, prompt[1..].iter().map(|&id| u64::from(id)).collect::<Vec<_>>());
    assert_eq!(report["logprobs"].as_array().unwrap().len(), 2);
}

/// A pipe gets no escape codes, even where the colours of a terminal are described.
#[test]
fn a_pipe_gets_no_colours() {
    for name in ["01_greedy", "02_top_k", "03_temperature", "04_top_p"] {
        let mut command = example(name);
        command.args(["--max-tokens", "2"]).env("TERM", "xterm-256color").env_remove("NO_COLOR");
        let output = command.env_remove("CLICOLOR_FORCE").output().unwrap();
        assert!(output.status.success());
        assert!(!output.stdout.contains(&0x1b), "{name}");
        // Whoever asks for colours gets them.
        let mut command = example(name);
        let forced = command.args(["--max-tokens", "2"]).env("CLICOLOR_FORCE", "1");
        assert!(forced.env_remove("NO_COLOR").output().unwrap().stdout.contains(&0x1b), "{name}");
    }
}
