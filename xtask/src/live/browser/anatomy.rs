//! *The model*: attention, what each layer would say and the shapes are the library's.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{Proof, same};
use crate::page::devtools::Look;

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
        for layer in [1, 5] {
            proof.set("[data-widget=anatomy] input[type=range]", &layer.to_string())?;
            let tokens = expected["tokens"].as_array().context("tokens")?.len();
            let data = "JSON.parse(document.querySelector('[data-widget=anatomy]').dataset.shown)";
            proof.browser.wait(&format!(
                "(({{ layer, position, answer }}) => layer === {layer} && position === {} && \
                 answer.tokens.length === {tokens})({data})",
                tokens - 1
            ))?;
            let shown: Value = proof.data("anatomy", "shown")?;
            same(&shown["answer"], &expected, text)?;
            // The greatest weight of each head is the one that is drawn.
            let drawn: Vec<String> = proof.browser.get(
                "[...document.querySelectorAll('.widget-heads small')].map((said) => said.textContent)",
            )?;
            let heads = expected["attention"][layer - 1].as_array().context("heads")?;
            ensure!(drawn.len() == heads.len(), "{} heads", drawn.len());
            for (said, head) in drawn.iter().zip(heads) {
                let row = head[tokens - 1].as_array().context("a row")?;
                let weights: Vec<f64> = row.iter().filter_map(Value::as_f64).collect();
                ensure!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-5, "weights of {weights:?}");
                let greatest = weights.iter().copied().fold(0.0, f64::max);
                let shown = said.rsplit(' ').next().unwrap_or_default().trim_end_matches('%');
                ensure!(
                    (shown.parse::<f64>()? - 100.0 * greatest).abs() < 0.11,
                    "{said}: {greatest}"
                );
            }
        }
    }
    // One position back: the row of that position.
    proof
        .browser
        .get::<()>("document.querySelector('[data-widget=anatomy] .widget-text').focus()")?;
    proof.browser.press("Home")?;
    let shown: Value = proof.data("anatomy", "shown")?;
    ensure!(shown["position"] == 0, "Home leads to {}", shown["position"]);
    let alone: Vec<String> = proof.browser.get(
        "[...document.querySelectorAll('.widget-heads small')].map((said) => said.textContent)",
    )?;
    ensure!(alone.iter().all(|said| said.contains("100.0%")), "{alone:?}");
    Ok(())
}
