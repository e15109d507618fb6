//! *The model*: attention, what each layer would say and the shapes are the library's.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{Proof, same};
use crate::browser::Look;

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    proof.open("model.html", Look::DESK)?;
    let native = proof.native.open("anatomy")?;
    for text in [
        "Once upon a time, there was a",
        "Finn met a fox. \"Hello\", said Finn",
        "🦊",
    ] {
        let expected = proof.native.ask(native, &json!({ "text": text }))?;
        proof.set("[data-widget=anatomy] input[type=text]", text)?;
        let tokens = expected["tokens"].as_array().context("tokens")?.len();
        proof.browser.wait(&format!(
            "(({{ position, answer }}) => position === {} && answer.tokens.length === {tokens})\
             (JSON.parse(document.querySelector('[data-widget=anatomy]').dataset.shown))",
            tokens - 1
        ))?;
        let shown: Value = proof.data("anatomy", "shown")?;
        same(&shown["answer"], &expected, text)?;
        squares(proof, &expected, tokens - 1)?;
    }
    // One position back: the row of that position.
    proof
        .browser
        .run("document.querySelector('[data-widget=anatomy] [role=listbox]').focus()")?;
    proof.browser.press("Home")?;
    let shown: Value = proof.data("anatomy", "shown")?;
    ensure!(shown["position"] == 0, "Home leads to {}", shown["position"]);
    squares(proof, &shown["answer"], 0)
}

/// The table has a line for each position and a column for each head, and the area of each square is the
/// weight.
fn squares(proof: &mut Proof, answer: &Value, position: usize) -> Result<()> {
    let lines: Vec<Vec<(f64, String, String)>> = proof.browser.get(
        "[...document.querySelectorAll('.widget-heat tbody tr')].map((line) => \
         [...line.querySelectorAll('td')].map((cell) => [parseFloat(cell.firstChild.style\
         .getPropertyValue('--side')), cell.firstChild.className, cell.ariaLabel]))",
    )?;
    ensure!(lines.len() == position + 1, "{} lines at position {position}", lines.len());
    let layers = answer["attention"].as_array().context("layers")?.iter();
    let heads: Vec<&Value> =
        layers.flat_map(|layer| layer.as_array().into_iter().flatten()).collect();
    for (at, line) in lines.iter().enumerate() {
        ensure!(line.len() == heads.len(), "{} columns of {} heads", line.len(), heads.len());
        for ((side, class, label), head) in line.iter().zip(&heads) {
            let weight = head[position][at].as_f64().context("a weight")?;
            let share = side.powi(2);
            ensure!((share - weight).abs() < 2e-3, "a square of side {side} for {weight}");
            let expected = if at == position { "new" } else { "kept" };
            ensure!(class == expected, "position {at} of {position} is drawn as {class}");
            let percent = label.trim_start_matches('<').trim_end_matches('%').parse::<f64>()?;
            ensure!((percent - 100.0 * weight).abs() < 0.11, "{label} for {weight}");
        }
    }
    Ok(())
}
