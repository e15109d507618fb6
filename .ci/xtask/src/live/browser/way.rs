//! *The model*: the numbers of each stop of a token's way are the library's.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{Proof, same};
use crate::browser::Look;

const WIDGET: &str = "document.querySelector('[data-widget=way]')";

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    proof.open("model.html", Look::DESK)?;
    let native = proof.native.open("way")?;
    for text in [
        "Once upon a time",
        "Finn met a fox. \"Hello\", said Finn",
        "🦊",
    ] {
        let expected = proof.native.ask(native, &json!({ "text": text }))?;
        proof.set("[data-widget=way] input[type=text]", text)?;
        let tokens = expected["tokens"].as_array().context("tokens")?.len();
        proof.browser.wait(&format!(
            "JSON.parse({WIDGET}.dataset.shown).answer.tokens.length === {tokens}"
        ))?;
        let shown: Value = proof.data("way", "shown")?;
        same(&shown["answer"], &expected, text)?;
    }
    stops(proof)?;
    // An earlier position has the numbers of the text up to it.
    proof.set("[data-widget=way] input[type=text]", "Once upon a time")?;
    proof.browser.wait(&format!("JSON.parse({WIDGET}.dataset.shown).answer.position === 4"))?;
    proof.browser.run(&format!("{WIDGET}.querySelector('[role=listbox]').focus()"))?;
    proof.browser.press("ArrowLeft")?;
    proof.browser.wait(&format!("JSON.parse({WIDGET}.dataset.shown).answer.position === 3"))?;
    let expected =
        proof.native.ask(native, &json!({ "text": "Once upon a time", "position": 3 }))?;
    let shown: Value = proof.data("way", "shown")?;
    same(&shown["answer"], &expected, "an earlier position")
}

/// Goes through all stops: each says what it is, marks its boxes, and shows its numbers.
fn stops(proof: &mut Proof) -> Result<()> {
    proof.set("[data-widget=way] input[type=range]", "1")?;
    let mut headings = Vec::new();
    for stop in 1..=48 {
        proof.browser.wait(&format!("JSON.parse({WIDGET}.dataset.shown).stop === {stop}"))?;
        let shown: Value = proof.data("way", "shown")?;
        let (heading, now, strips): (String, usize, Vec<String>) = proof.browser.get(&format!(
            "[{WIDGET}.querySelector('.widget-label').textContent, \
              {WIDGET}.querySelectorAll('.widget-picture rect.new').length, \
              [...{WIDGET}.querySelectorAll('.widget-strip p')].map((strip) => strip.textContent)]"
        ))?;
        ensure!(now > 0, "stop {stop} marks no box");
        let kind = shown["kind"].as_str().context("a kind")?;
        let numbers = numbers(kind, &shown);
        // The first numbers of each vector stand beside its bars.
        for vector in &numbers {
            let first = vector[0].as_f64().context("a number")?;
            let text = format!(" {first:.2} ").replace('-', "−");
            let is_shown = strips.iter().any(|strip| strip.contains(&text));
            ensure!(is_shown, "stop {stop}, {kind}: {text} is not in {strips:?}");
        }
        ensure!(numbers.is_empty() == strips.is_empty(), "stop {stop}, {kind}: {strips:?}");
        headings.push(heading);
        if stop < 48 {
            proof.press("way", "Next")?;
        }
    }
    let all = headings.len();
    headings.dedup();
    ensure!(headings.len() == all, "stops with one heading: {headings:?}");
    let is_disabled: bool = proof.browser.get(&format!(
        "[...{WIDGET}.querySelectorAll('button')].find((button) => button.textContent === 'Next')\
         .getAttribute('aria-disabled') === 'true'"
    ))?;
    ensure!(is_disabled, "there is a stop after the last");
    proof.press("way", "Back")?;
    proof.browser.wait(&format!("JSON.parse({WIDGET}.dataset.shown).stop === 47"))
}

/// The vectors that a stop of this kind is about, of its layer if it has one.
fn numbers<'a>(kind: &str, shown: &'a Value) -> Vec<&'a Value> {
    let of = |name: &str| match shown["layer"].as_u64() {
        Some(layer) => &shown["answer"]["layers"][layer as usize][name],
        None => &shown["answer"][name],
    };
    match kind {
        "embedding" => vec![of("embedding")],
        "norm" => vec![of("attention_input")],
        "qkv" => vec![of("query"), of("key"), of("value")],
        "rope" => vec![of("rotated_query"), of("rotated_key")],
        "mix" => vec![of("mixed")],
        "attention" => vec![of("attention"), of("after_attention")],
        "norm2" => vec![of("after_attention"), of("feed_forward_input")],
        "gate" => vec![of("gate"), of("up"), of("gated")],
        "feed_forward" => vec![of("feed_forward"), of("output")],
        "last_norm" => vec![of("norm")],
        _ => Vec::new(),
    }
}
