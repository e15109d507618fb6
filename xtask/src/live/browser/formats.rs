//! *12*: the stories of all formats, and how far apart they are, are the library's.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{Proof, same};
use crate::live::stories;
use crate::page::devtools::Look;

/// Prompts, temperatures and seeds: the first two are known in f32.
const SETTINGS: [(&str, f64, u64); 3] = [
    ("Once upon a time", 0.0, 42),
    ("Once upon a time", 0.8, 42),
    ("It's a fish", 1.0, 3),
];

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    proof.open("quantized.html", Look::DESK)?;
    let native = proof.native.open("formats")?;
    let known: Vec<Value> = serde_json::from_str(&stories::json()?)?;
    for (prompt, temperature, seed) in SETTINGS {
        let sampling = json!({ "temperature": temperature, "top_p": 0.95, "seed": seed });
        let begin = json!({ "prompt": prompt, "max_tokens": 150, "sampling": sampling });
        proof.native.ask(native, &json!({ "begin": begin }))?;
        let stories = loop {
            let stories = proof.native.ask(native, &json!("next"))?["stories"].clone();
            if stories.as_array().context("stories")?.iter().all(|story| story["has_ended"] == true)
            {
                break stories;
            }
        };
        let distances = proof.native.ask(native, &json!("compare"))?["distances"].clone();
        proof.set("[data-widget=formats] input[type=text]", prompt)?;
        proof.set("[data-widget=formats] input[type=range]", &temperature.to_string())?;
        proof.browser.get::<()>(&format!(
            "(() => {{ document.querySelector('[data-widget=formats] input[type=number]').value = {seed}; \
             delete document.querySelector('[data-widget=formats]').dataset.shown; }})()"
        ))?;
        proof.press("formats", "Write")?;
        proof.browser.wait("'shown' in document.querySelector('[data-widget=formats]').dataset")?;
        let shown: Value = proof.data("formats", "shown")?;
        same(&shown, &json!({ "stories": stories, "distances": distances }), prompt)?;

        let in_f32 = known.iter().find(|story| {
            story["prompt"] == prompt
                && story["temperature"] == temperature
                && story["seed"] == seed
        });
        let first: String = text(proof, 0)?;
        match in_f32 {
            Some(story) => {
                let whole = format!("{prompt}{}", joined(&story["tokens"]));
                // As many tokens of it as the longest of the others has.
                ensure!(
                    first.len() > prompt.len() && whole.starts_with(&first),
                    "f32: {first:?} instead of {whole:?}"
                );
            }
            None => {
                let quoted = prompt.replace('\'', "'\\''");
                let wanted =
                    format!("--prompt '{quoted}' --temperature {temperature} --seed {seed}");
                ensure!(first.contains(&wanted), "the command for f32 is {first:?}");
            }
        }
        // The first token that differs is marked, in each story that parts from f32, or from the
        // first one where f32 is not known.
        let reference = in_f32.unwrap_or(&stories[0])["tokens"].clone();
        for (i, story) in stories.as_array().context("stories")?.iter().enumerate() {
            let whole = format!("{prompt}{}", joined(&story["tokens"]));
            let written = text(proof, i + 1)?;
            ensure!(written == whole, "{prompt}, story {i}: {written:?} instead of {whole:?}");
            let tokens = story["tokens"].as_array().context("tokens")?.iter().enumerate();
            let mut parts = tokens.filter(|(at, token)| reference[*at]["id"] != token["id"]);
            let expected = parts.next().map(|(_, token)| token["text"].clone());
            let marked: Option<Value> = proof.browser.get(&format!(
                "document.querySelectorAll('[data-widget=formats] .widget-text')[{}]\
                 .querySelector('mark')?.textContent ?? null",
                i + 1
            ))?;
            ensure!(marked == expected, "{prompt}, story {i}: {marked:?} instead of {expected:?}");
        }
    }
    // Each press of the button shows the next story that is known in f32, and begins anew at the end.
    for i in 1..=known.len() {
        let story = &known[i % known.len()];
        proof.browser.get::<()>(
            "(() => { delete document.querySelector('[data-widget=formats]').dataset.shown; })()",
        )?;
        proof.press("formats", "Another example")?;
        proof.browser.wait("'shown' in document.querySelector('[data-widget=formats]').dataset")?;
        let whole =
            format!("{}{}", story["prompt"].as_str().unwrap_or_default(), joined(&story["tokens"]));
        let first = text(proof, 0)?;
        ensure!(whole.starts_with(&first), "example {i}: {first:?} instead of {whole:?}");
    }
    Ok(())
}

/// What stands in the place of the `i`-th story.
fn text(proof: &mut Proof, i: usize) -> Result<String> {
    proof.browser.get(&format!(
        "document.querySelectorAll('[data-widget=formats] .widget-text')[{i}].textContent"
    ))
}

fn joined(tokens: &Value) -> String {
    let tokens = tokens.as_array().into_iter().flatten();
    tokens.filter_map(|token| token["text"].as_str()).collect()
}
