//! Each box of the book asks its reader to look for something: here the engine is asked whether it is there.

use std::path::Path;

use serde_json::{Value, json};
use slowburn_live::Engine;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

fn engine() -> Engine {
    let weights = std::fs::read(root().join("book/src/live/ember.gguf"));
    Engine::new(weights.expect("`cargo xtask live` writes it")).unwrap()
}

/// The text that a widget of the book begins with.
fn prompt(widget: &str) -> String {
    let file = root().join(format!("book/src/widgets/{widget}.html"));
    let html = std::fs::read_to_string(file).unwrap();
    let (_, rest) = html.split_once("data-prompt=\"").unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

fn ask(engine: &mut Engine, widget: u32, request: &Value) -> Value {
    serde_json::from_str(&engine.ask(widget, &request.to_string()).unwrap()).unwrap()
}

#[test]
fn two_heads_of_the_last_layer_look_back_to_the_name() {
    let mut engine = engine();
    let widget = engine.open("anatomy").unwrap();
    let answer = ask(&mut engine, widget, &json!({ "text": prompt("anatomy") }));
    let tokens: Vec<&str> =
        answer["tokens"].as_array().unwrap().iter().map(|t| t["text"].as_str().unwrap()).collect();
    let name = tokens.iter().position(|&token| token == " Finn").unwrap();
    let last = tokens.len() - 1;
    assert_eq!((tokens[last], last - name), (" So", 18));
    assert_eq!(answer["is_cut"], false);
    let layers = answer["attention"].as_array().unwrap();
    let heads = layers.last().unwrap().as_array().unwrap();
    let weights: Vec<f64> = heads.iter().map(|head| head[last][name].as_f64().unwrap()).collect();
    assert_eq!(weights.iter().filter(|&&weight| weight > 0.9).count(), 2, "{weights:?}");
    assert_eq!(weights.iter().filter(|&&weight| weight > 0.1).count(), 2, "{weights:?}");
}

/// The shares of the likeliest tokens, before any rule, at each step of a text drawn with these settings.
fn shares(prompt: &str, sampling: &Value, steps: usize) -> Vec<Vec<f64>> {
    let mut engine = engine();
    let widget = engine.open("candidates").unwrap();
    ask(&mut engine, widget, &json!({ "begin": { "prompt": prompt } }));
    let mut all = Vec::new();
    for step in 0..steps {
        let show = json!({ "show": { "step": step, "sampling": sampling, "count": 12 } });
        let shown = ask(&mut engine, widget, &show);
        let candidates = shown["shown"]["candidates"].as_array().unwrap().iter();
        all.push(candidates.map(|one| one["probabilities"][0].as_f64().unwrap()).collect());
        ask(&mut engine, widget, &json!({ "draw": { "sampling": sampling } }));
    }
    all
}

#[test]
fn a_greedy_text_has_a_close_second_within_ten_tokens() {
    let shares = shares(&prompt("greedy"), &json!({ "seed": 42, "temperature": 0.0 }), 10);
    assert!(shares.iter().any(|step| step[1] > 0.9 * step[0]), "{shares:?}");
}

#[test]
fn top_k_of_five_keeps_four_too_many_and_far_too_few() {
    let shares = shares(&prompt("top-k"), &json!({ "seed": 42, "top_k": 5 }), 10);
    assert!(shares.iter().any(|step| step[0] > 0.98), "{shares:?}");
    assert!(shares.iter().any(|step| step[..5].iter().sum::<f64>() < 0.5), "{shares:?}");
}

#[test]
fn requests_share_a_beginning_and_then_run_out_of_blocks() {
    let mut engine = engine();
    let widget = engine.open("scheduler").unwrap();
    let begin = json!({ "begin": {
        "blocks": 8, "token_budget": 32, "policy": "chunked-prefill", "prefix_cache": true,
    } });
    ask(&mut engine, widget, &begin);
    // The list of `book/widgets/scheduler.js`.
    let story = "Once upon a time, there was a little brown frog called Finn. Early one windy morning, he was \
                 waiting for a friend by the stone wall. Only a note came, from Juno the girl: \"No games today. I \
                 have a sore throat.\" So Finn bounced to Juno's home";
    let prompts = [
        format!("{story} with cheese"),
        format!("{story} and knocked"),
        "One day".to_owned(),
        format!("{story}."),
    ];
    for (seed, prompt) in prompts.iter().enumerate() {
        ask(
            &mut engine,
            widget,
            &json!({ "add": { "prompt": prompt, "max_tokens": 60, "seed": seed } }),
        );
    }
    let mut answer = json!({ "has_work": true });
    let mut shared = false;
    while answer["has_work"] == true {
        answer = ask(&mut engine, widget, &json!("step"));
        shared |=
            answer["owners"].as_array().unwrap().iter().any(|owners| owners.as_u64() > Some(1));
    }
    assert!(shared, "no block had two owners");
    assert!(answer["prefix_hits"].as_u64() >= Some(2), "{answer}");
    assert!(answer["preemptions"].as_u64() >= Some(1), "{answer}");
}
