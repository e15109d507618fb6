//! *10*: what the widget asks its reader to find can be found.

use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::Value;

use super::Proof;
use crate::browser::Look;

const CYCLES: f64 = 100.0;

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    proof.open("kernels.html", Look::DESK)?;
    let mut bytes = Vec::new();
    for (rows, share) in [(1, 0.25), (2, 0.5), (4, 0.98), (12, 0.98)] {
        proof.slide("tile", 0, &rows.to_string())?;
        proof.press("tile", "Fifty cycles")?;
        proof.press("tile", "Fifty cycles")?;
        let shown = "JSON.parse(document.querySelector('[data-widget=tile]').dataset.shown)";
        let ready = format!("(({{ rows, now }}) => rows === {rows} && now === {CYCLES})({shown})");
        proof.browser.wait(&ready)?;
        let shown: Value = proof.data("tile", "shown")?;
        let number = |name: &str| shown[name].as_f64().unwrap_or(f64::NAN);
        let found = number("products") / (2.0 * CYCLES);
        ensure!((found - share).abs() < 1e-9, "{rows} rows: {found} of the possible products");
        bytes.push(number("bytes") / CYCLES);
    }
    ensure!(bytes[3] < 0.5 * bytes[2], "the bytes of a cycle: {bytes:?}");
    Ok(())
}
