//! *Tokens*: a text that is typed has the tokens that the library cuts it into.

use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::Proof;
use crate::browser::Look;

const PAGE: &str = "tokens.html";
const TEXTS: [&str; 5] = [
    "Once upon a time",
    "  two  spaces, don't\n\nline",
    "naïve 日本 🍎 1234",
    "<|begin|> is no word<|end|>",
    "",
];

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    proof.open(PAGE, Look::DESK)?;
    let native = proof.native.open("tokens")?;
    for text in TEXTS {
        proof.browser.click("[data-widget=tokens] textarea")?;
        proof.browser.press("Control+a")?;
        // Typed over what was there; an empty text is not typed.
        if text.is_empty() {
            proof.set("[data-widget=tokens] textarea", "")?;
        } else {
            proof.browser.type_text(text)?;
        }
        let answer = proof.native.ask(native, &json!({ "text": text }))?;
        let ids: Vec<&Value> =
            answer["tokens"].as_array().into_iter().flatten().map(|token| &token["id"]).collect();
        let ids = json!(ids).to_string();
        proof.browser.wait(&format!(
            "document.querySelector('[data-widget=tokens]').dataset.ids === '{ids}'"
        ))?;
        let shown: Vec<String> = proof.browser.get(
            "[...document.querySelectorAll('.widget-tokens li')].map((item) => item.lastChild.textContent)",
        )?;
        let said = proof.said("tokens")?;
        ensure!(
            format!("[{}]", shown.join(",")).replace("id ", "") == ids,
            "{text:?}: {shown:?}"
        );
        let bytes = format!("{} byte", answer["bytes"]);
        ensure!(said.contains(&bytes), "{text:?}: {said}");
    }
    Ok(())
}
