//! *First light*: stories from the page have the ids that the library gives.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Proof;
use crate::browser::Look;

const PAGE: &str = "first-light.html";

/// Prompts, seeds and temperatures.
const STORIES: [(&str, u64, f64); 7] = [
    ("Once upon a time", 42, 0.8),
    ("Once upon a time", 7, 0.8),
    ("One day, a small", 1, 0.0),
    ("The queen of the", 123, 1.2),
    ("", 5, 1.0),
    ("Naïve 🦊 and 日本", 9, 0.8),
    ("\"Help!\" said", 42, 2.0),
];

/// The story in the book that has the most tokens is shorter.
const MOST: usize = 400;

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    proof.open(PAGE, Look::DESK)?;
    let native = proof.native.open("story")?;
    let mut rates = Vec::new();
    for (prompt, seed, temperature) in STORIES {
        let expected = expected(proof, native, prompt, seed, temperature)?;
        write(proof, prompt, seed, temperature)?;
        done(proof)?;
        let what = format!("{prompt:?}, seed {seed}, temperature {temperature}");
        let ids: Vec<u64> = proof.data("story", "ids")?;
        ensure!(ids == expected.ids, "{what}: {ids:?} instead of {:?}", expected.ids);
        let text: String =
            proof.browser.get("document.querySelector('.widget-story').textContent")?;
        ensure!(text == format!("{prompt}{}", expected.text), "{what}: {text:?}");
        let rate = proof.data::<f64>("story", "rate")?;
        rates.push((rate, proof.data::<f64>("story", "engineRate")?, ids.len()));
    }
    for (rate, engine, tokens) in rates {
        println!(
            "  {tokens:>4} tokens, {rate:>6.1} tokens/s in the page, {engine:>6.1} in its worker"
        );
        // The page draws while the worker computes.
        ensure!(
            tokens < 100 || rate > 0.5 * engine,
            "the page shows {rate} tokens/s where its worker makes {engine}"
        );
    }

    // It stops, with a beginning of the story.
    let (prompt, seed, temperature) = STORIES[0];
    let whole = expected(proof, native, prompt, seed, temperature)?.ids;
    stop_at(proof, prompt, 60)?;
    write(proof, prompt, seed, temperature)?;
    done(proof)?;
    let ids: Vec<u64> = proof.data("story", "ids")?;
    ensure!(ids.len() < whole.len() && whole.starts_with(&ids), "{ids:?} of {whole:?}");
    proof.press("story", "Another seed")?;
    done(proof)?;
    let seed: u64 = proof
        .browser
        .get("Number(document.querySelector('[data-widget=story] input[type=number]').value)")?;
    let expected = expected(proof, native, prompt, seed, temperature)?.ids;
    let ids: Vec<u64> = proof.data("story", "ids")?;
    ensure!(ids == expected, "another seed, {seed}: {ids:?} instead of {expected:?}");
    Ok(())
}

/// A story by the library.
struct Story {
    ids: Vec<u64>,
    text: String,
}

fn expected(
    proof: &mut Proof,
    native: u64,
    prompt: &str,
    seed: u64,
    temperature: f64,
) -> Result<Story> {
    let sampling = json!({ "temperature": temperature, "top_p": 0.95, "seed": seed });
    let begin = json!({ "begin": { "prompt": prompt, "max_tokens": MOST, "sampling": sampling } });
    proof.native.ask(native, &begin)?;
    let answer = proof.native.ask(native, &json!({ "next": { "tokens": MOST + 1 } }))?;
    let more = &answer["more"];
    let ids: Vec<u64> =
        more["ids"].as_array().context("ids")?.iter().filter_map(Value::as_u64).collect();
    ensure!(!more["end"].is_null(), "the story does not end");
    Ok(Story {
        ids,
        text: more["text"].as_str().unwrap_or_default().to_owned(),
    })
}

fn write(proof: &mut Proof, prompt: &str, seed: u64, temperature: f64) -> Result<()> {
    // Typed, where a person would.
    proof.browser.click("[data-widget=story] input[type=text]")?;
    proof.browser.press("Control+a")?;
    proof.browser.type_text("x")?;
    proof.set("[data-widget=story] input[type=text]", prompt)?;
    proof.set("[data-widget=story] input[type=range]", &temperature.to_string())?;
    proof.seed("story", seed)?;
    proof.forget("story", "ids")?;
    proof.press("story", "Write")
}

/// Presses "Stop" as soon as a story with this prompt has so many characters. The page does it: a
/// story may be complete before this process hears of it.
fn stop_at(proof: &mut Proof, prompt: &str, characters: usize) -> Result<()> {
    let prompt = Value::from(prompt);
    proof.browser.run(&format!(
        "(() => {{ \
         const story = document.querySelector('.widget-story'); \
         const buttons = [...document.querySelectorAll('[data-widget=story] button')]; \
         const stop = buttons.find((button) => button.textContent === 'Stop'); \
         new MutationObserver((_, observer) => {{ \
             const text = story.textContent; \
             if (!text.startsWith({prompt}) || text.length < {characters}) return; \
             observer.disconnect(); stop.click(); \
         }}).observe(story, {{ subtree: true, childList: true, characterData: true }}); }})()"
    ))
}

fn done(proof: &mut Proof) -> Result<()> {
    proof.browser.wait(
        "!document.querySelector('.widget-story').ariaBusy && 'ids' in document.querySelector('[data-widget=story]').dataset",
    )
}
