//! *14*: which tokens may come next, under an expression and after a text that are typed, and what is
//! said where none may, are the library's.

use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{Proof, same};
use crate::browser::Look;

/// Expressions, texts, and what is said of each.
const CASES: [(&str, &str, &str); 8] = [
    ("[a-z]+ly", "slow", "The text may not end here."),
    ("[a-z]+ly", "slowly", "The text may end here."),
    ("(cat|dog)s?", "cats", "The text is complete: nothing may come next."),
    ("(cat|dog)s?", "cow", "after 1 byte: o can't come next. Only a can."),
    ("cat", "cats", "Nothing can: the text was already complete."),
    ("é+", "", "The text may not end here."),
    ("a(b", "a", "a `(` has no `)`"),
    ("a$b", "", "allows no text"),
];

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    proof.open("constrained.html", Look::DESK)?;
    let native = proof.native.open("allowed")?;
    compare(proof, native, "", "The text may not end here.")?;
    // The likeliest token, pressed until nothing may come next.
    for _ in 0..20 {
        let button = "document.querySelector('[data-widget=allowed] li:first-child button')";
        if proof.browser.get(&format!("{button} === null"))? {
            break;
        }
        proof.browser.click("[data-widget=allowed] li:first-child button")?;
        compare(proof, native, "", "")?;
    }
    let said = proof.said("allowed")?;
    ensure!(said.contains("The text is complete"), "pressed to the end, it says: {said}");
    for (regex, text, says) in CASES {
        proof.set("[data-widget=allowed] label:nth-of-type(1) input", regex)?;
        proof.set("[data-widget=allowed] label:nth-of-type(2) input", text)?;
        let asked = format!("{{ regex: {}, text: {} }}", json!(regex), json!(text));
        compare(proof, native, &asked, says)?;
    }
    Ok(())
}

/// Waits until what was asked is shown, which is what the inputs hold unless it is given, and compares
/// it with the library.
fn compare(proof: &mut Proof, native: u64, asked: &str, says: &str) -> Result<()> {
    let inputs = "(() => { const [regex, text] = document.querySelectorAll('[data-widget=allowed] input'); \
                  return { regex: regex.value, text: text.value }; })()";
    let asked = if asked.is_empty() { inputs } else { asked };
    proof.browser.wait(&format!(
        "(() => {{ const shown = document.querySelector('[data-widget=allowed]').dataset.shown; \
         if (shown === undefined) return false; \
         const {{ request }} = JSON.parse(shown); const asked = {asked}; \
         return request.regex === asked.regex && request.text === asked.text; }})()"
    ))?;
    let shown: Value = proof.data("allowed", "shown")?;
    let what = shown["request"].to_string();
    match proof.native.ask(native, &shown["request"]) {
        Ok(expected) => same(&shown["answer"], &expected, &what)?,
        Err(error) => {
            let refused = shown["answer"]["refused"].as_str().unwrap_or_default();
            ensure!(
                !refused.is_empty() && error.to_string().ends_with(refused),
                "{what}: {refused:?} instead of {error}"
            );
        }
    }
    let listed: usize = proof
        .browser
        .get("document.querySelectorAll('[data-widget=allowed] .widget-tokens li').length")?;
    let likeliest = shown["answer"]["inside"]["likeliest"].as_array().map_or(0, Vec::len);
    ensure!(listed == likeliest, "{what}: {listed} tokens instead of {likeliest}");
    let said = proof.said("allowed")?;
    ensure!(said.contains(says), "{what}: {said}");
    Ok(())
}
