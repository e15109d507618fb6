//! *12*: the stories of all formats, and how far apart they are, are the library's.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{Proof, same};
use crate::browser::Look;
use crate::live::stories;

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
        proof.seed("formats", seed)?;
        let shown = shown_after(proof, "Write")?;
        same(&shown, &json!({ "stories": stories, "distances": distances }), prompt)?;

        let in_f32 = known.iter().find(|story| {
            story["prompt"] == prompt
                && story["temperature"] == temperature
                && story["seed"] == seed
        });
        let reference = in_f32.unwrap_or(&stories[0])["tokens"].clone();
        told(proof, prompt, &reference, &stories, in_f32.is_some())?;
        if in_f32.is_none() {
            let name: String = proof.browser.get(
                "document.querySelector('[data-widget=formats] .widget-format').textContent",
            )?;
            let quoted = prompt.replace('\'', "'\\''");
            let wanted = format!("--prompt '{quoted}' --temperature {temperature} --seed {seed}");
            ensure!(name.contains(&wanted), "the command for f32 is {name:?}");
        }
    }
    // Each press of the button shows the next story that is known in f32, and begins anew at the end.
    for i in 1..=known.len() {
        let story = &known[i % known.len()];
        let shown = shown_after(proof, "Another example")?;
        let prompt = story["prompt"].as_str().context("a prompt")?;
        told(proof, prompt, &story["tokens"], &shown["stories"], true)
            .with_context(|| format!("example {i}"))?;
    }
    Ok(())
}

/// What is shown once a button has been pressed.
fn shown_after(proof: &mut Proof, button: &str) -> Result<Value> {
    proof.forget("formats", "shown")?;
    proof.press("formats", button)?;
    proof.browser.wait("'shown' in document.querySelector('[data-widget=formats]').dataset")?;
    proof.data("formats", "shown")
}

/// The story stands there once, in bold as far as all formats agree; each format shows what it writes
/// from the token on at which it parts.
fn told(
    proof: &mut Proof,
    prompt: &str,
    reference: &Value,
    stories: &Value,
    in_f32: bool,
) -> Result<()> {
    let stories = stories.as_array().context("stories")?;
    let all = reference.as_array().context("tokens")?;
    let longest = stories.iter().filter_map(|story| story["tokens"].as_array().map(Vec::len)).max();
    let written = all.len().min(longest.unwrap_or(0));
    let mut common = written;
    for (i, story) in stories.iter().enumerate() {
        let tokens = story["tokens"].as_array().context("tokens")?;
        let differs =
            |at: &usize| all.get(*at).map(|token| &token["id"]) != Some(&tokens[*at]["id"]);
        let mut parting = (0..tokens.len()).find(differs);
        if parting.is_none() && tokens.len() < all.len() {
            parting = Some(tokens.len());
        }
        let found = text(proof, i + 1)?;
        let expected = match parting {
            Some(at) => {
                common = common.min(at);
                format!("from token {}: …{}", at + 1, joined(&tokens[at..]))
            }
            None if !in_f32 && i == 0 => "This is the story above.".to_owned(),
            None => found.clone(),
        };
        ensure!(found == expected, "story {i}: {found:?} instead of {expected:?}");
        ensure!(parting.is_some() || !found.contains("from token"), "story {i}: {found:?}");
    }
    let bold: String = proof
        .browser
        .get("document.querySelector('[data-widget=formats] .widget-text b').textContent")?;
    let expected = format!("{prompt}{}", joined(&all[..common]));
    ensure!(bold == expected, "in bold is {bold:?} instead of {expected:?}");
    // Without the numbers of the formats at their marks, it is the story.
    let story: String = proof.browser.get(
        "(() => { const copy = document.querySelector('[data-widget=formats] .widget-text').cloneNode(true); \
         copy.querySelectorAll('sup').forEach((mark) => mark.remove()); return copy.textContent; })()",
    )?;
    let expected = format!("{prompt}{}", joined(&all[..written]));
    ensure!(story == expected, "the story is {story:?} instead of {expected:?}");
    Ok(())
}

/// What stands in the place of the `i`-th story.
fn text(proof: &mut Proof, i: usize) -> Result<String> {
    proof.browser.get(&format!(
        "document.querySelectorAll('[data-widget=formats] .widget-text')[{i}].textContent"
    ))
}

fn joined(tokens: &[Value]) -> String {
    let tokens = tokens.iter();
    tokens.filter_map(|token| token["text"].as_str()).collect()
}
