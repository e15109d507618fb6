//! *12*: the stories of all formats, and how far apart they are, are the library's.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{Proof, same};
use crate::page::devtools::Look;

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    proof.open("quantized.html", Look::DESK)?;
    let native = proof.native.open("formats")?;
    for (prompt, temperature, seed) in [("Once upon a time", 0.0, 42), ("One day, a small", 1.0, 3)]
    {
        let sampling = json!({ "temperature": temperature, "seed": seed });
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
        // The first token that differs is marked, in each story that parts from the first.
        let marked: Vec<Option<String>> = proof.browser.get(
            "[...document.querySelectorAll('[data-widget=formats] .widget-text')].map((text) => \
             text.querySelector('mark')?.textContent ?? null)",
        )?;
        let tokens = |i: usize| stories[i]["tokens"].as_array().cloned().unwrap_or_default();
        let first = tokens(0);
        for (i, marked) in marked.iter().enumerate() {
            let parts = tokens(i).into_iter().enumerate();
            let mut parts =
                parts.filter(|(at, token)| first.get(*at).map(|t| &t["id"]) != Some(&token["id"]));
            let expected = parts
                .next()
                .map(|(_, token)| token["text"].as_str().unwrap_or_default().to_owned());
            ensure!(*marked == expected, "{prompt}, story {i}: {marked:?} instead of {expected:?}");
        }
    }
    Ok(())
}
