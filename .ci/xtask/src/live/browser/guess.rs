//! *13*: the guesses, and the tokens of each pass, are the library's.

use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{Proof, same};
use crate::browser::Look;

const STEPS: usize = 50;

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    proof.open("guess-ahead.html", Look::DESK)?;
    let native = proof.native.open("guess")?;
    // The beginning of a story, and once more its first words.
    let prompt = "One day, a young brown goat named Hugo was watching the children closely by the pond. It \
                  was a frosty afternoon, and all was still. The air smelled of moss, and there was frost on \
                  every wall. One day, a young brown";
    let begin = json!({ "begin": { "prompt": prompt, "sampling": { "temperature": 0.0 } } });
    proof.native.ask(native, &begin)?;
    proof.set("[data-widget=guess] input[type=text]", prompt)?;
    proof.press("guess", "Fifty steps")?;
    let count = "JSON.parse(document.querySelector('[data-widget=guess]').dataset.shown).length";
    proof.browser.wait(&format!("{count} === {STEPS}"))?;
    let shown: Value = proof.data("guess", "shown")?;
    for step in 0..STEPS {
        let expected = proof.native.ask(native, &json!("step"))?["step"].clone();
        same(&shown[step], &expected, &format!("step {step}"))?;
    }
    let marked = "document.querySelectorAll('.widget-guess .widget-story :is(ins, del)').length";
    let marked: usize = proof.browser.get(marked)?;
    ensure!(marked > 0, "nothing was guessed");
    Ok(())
}
