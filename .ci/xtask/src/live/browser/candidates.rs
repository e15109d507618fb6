//! *01* to *04*: the candidates of a live text, before and after each rule, are the library's.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use super::{Proof, patiently, same};
use crate::browser::Look;

const PAGES: [&str; 4] = [
    "greedy.html",
    "top-k.html",
    "temperature.html",
    "top-p.html",
];
const ROWS: usize = 12;

/// Places of the sliders, by the names of the library's parameters. A page sets those that it has.
const SETTINGS: [&[(&str, f64)]; 5] = [
    &[],
    &[("temperature", 0.3), ("top_k", 5.0)],
    &[
        ("temperature", 1.7),
        ("top_p", 0.7),
        ("repetition_penalty", 1.5),
    ],
    &[
        ("temperature", 1.2),
        ("top_k", 20.0),
        ("top_p", 0.9),
        ("min_p", 0.05),
        ("frequency_penalty", 0.7),
    ],
    &[("temperature", 0.0), ("presence_penalty", 1.1)],
];

/// One widget in the browser, and the library's.
struct Pair<'a> {
    proof: &'a mut Proof,
    native: u64,
    /// The sliders of the page by their parameters, with the values at which they do nothing.
    sliders: Vec<(String, f64)>,
    settings: Map<String, Value>,
}

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    for page in PAGES {
        proof.open(page, Look::DESK)?;
        let native = proof.native.open("candidates")?;
        let sliders: Vec<String> = proof.browser.get(
            "document.querySelector('[data-widget=candidates]').dataset.rules.split(' ').map((rule) => rule.split('=')[0])",
        )?;
        let off = |name: String| {
            let value = match &*name {
                "top_k" => 60.0,
                "min_p" | "frequency_penalty" | "presence_penalty" => 0.0,
                _ => 1.0,
            };
            (name, value)
        };
        let sliders = sliders.into_iter().map(off).collect();
        let mut pair = Pair { proof, native, sliders, settings: Map::new() };
        pair.check().with_context(|| page.to_owned())?;
    }
    Ok(())
}

impl Pair<'_> {
    fn check(&mut self) -> Result<()> {
        let prompt = "Once upon a time, there was a";
        self.proof.set("[data-widget=candidates] input[type=text]", prompt)?;
        self.ask(&json!({ "begin": { "prompt": prompt } }))?;
        self.agree(0)?;
        for (i, settings) in SETTINGS.iter().enumerate() {
            self.slide(settings)?;
            self.agree(3 * i)?;
            // Two tokens are drawn, and the page looks at the next.
            for drawn in 1..=2 {
                self.proof.press("candidates", "Draw a token")?;
                self.ask(&json!({ "draw": { "sampling": self.settings } }))?;
                self.agree(3 * i + drawn)?;
            }
            // A candidate is clicked that was not drawn, and the text goes on from there.
            let rows = "document.querySelectorAll('.widget-candidates tbody tr')";
            let shown: Value = self.proof.data("candidates", "shown")?;
            let id = &shown["candidates"][i + 1]["token"]["id"];
            self.proof
                .browser
                .run(&format!("{rows}[{}].querySelector('button').click()", i + 1))?;
            self.ask(&json!({ "choose": { "step": 3 * i + 2, "id": id } }))?;
            self.agree(3 * i + 3)?;
        }
        // Back along the text with the keyboard: what was drawn at a step is marked.
        self.proof.browser.run("document.querySelector('.widget-steps').focus()")?;
        self.proof.browser.press("ArrowLeft")?;
        self.agree(14)?;
        let marked: String = self
            .proof
            .browser
            .get("document.querySelector('.widget-candidates tr.chosen button').textContent")?;
        let shown: Value = self.proof.data("candidates", "shown")?;
        let drawn = shown["candidates"].as_array().context("candidates")?.iter();
        let mut drawn = drawn.filter(|one| one["token"]["id"] == shown["drawn"]);
        let text = drawn.next().map(|one| one["token"]["text"].to_string());
        ensure!(text.as_deref() == Some(&marked), "{marked} is marked instead of {text:?}");
        self.stages()
    }

    /// Looks at each rule alone: the columns are those before and after it.
    fn stages(&mut self) -> Result<()> {
        self.slide(SETTINGS[3])?;
        self.agree(14)?;
        let count: usize =
            self.proof.browser.get("document.querySelectorAll('.widget-stages input').length")?;
        for i in 0..count {
            self.proof
                .browser
                .run(&format!("document.querySelectorAll('.widget-stages input')[{i}].click()"))?;
            let after = if i == 0 { count - 1 } else { i };
            let before = if i == 0 { 0 } else { i - 1 };
            self.proof.browser.wait(&format!(
                "(({{ before, after }}) => before === {before} && after === {after})\
                 (JSON.parse(document.querySelector('[data-widget=candidates]').dataset.shown))"
            ))?;
            self.agree(14)?;
        }
        Ok(())
    }

    fn ask(&mut self, request: &Value) -> Result<Value> {
        self.proof.native.ask(self.native, request)
    }

    /// Puts every slider of the page in its place.
    fn slide(&mut self, settings: &[(&str, f64)]) -> Result<()> {
        self.settings = Map::new();
        self.settings.insert("seed".to_owned(), json!(42));
        for (i, (name, off)) in self.sliders.clone().into_iter().enumerate() {
            let value = settings.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
            let value = value.unwrap_or(off);
            if value != off {
                let json = if name == "top_k" {
                    json!(value as u64)
                } else {
                    json!(value)
                };
                self.settings.insert(name, json);
            }
            self.proof.slide("candidates", i, &value.to_string())?;
        }
        Ok(())
    }

    /// Waits until the page shows this step with the settings, as the library has it.
    fn agree(&mut self, step: usize) -> Result<()> {
        if self.settings.is_empty() {
            self.slide(&[])?;
        }
        let show = json!({ "step": step, "sampling": self.settings, "count": ROWS });
        let expected = self.ask(&json!({ "show": show }))?["shown"].clone();
        let shown = patiently(|| {
            let shown: Value = self.proof.data("candidates", "shown")?;
            let found = json!({
                "stages": shown["stages"], "candidates": shown["candidates"], "drawn": shown["drawn"],
            });
            same(&found, &expected, "shown")?;
            ensure!(shown["step"] == json!(step), "step {} instead of {step}", shown["step"]);
            Ok(shown)
        })
        .with_context(|| format!("step {step}, {:?}", self.settings))?;
        self.drawn(&shown)
    }

    /// The table has the numbers that the engine gave.
    fn drawn(&mut self, shown: &Value) -> Result<()> {
        let rows: Vec<Vec<String>> = self.proof.browser.get(
            "[...document.querySelectorAll('.widget-candidates tbody tr:not([hidden])')]\
             .map((row) => [...row.cells].map((cell) => cell.textContent))",
        )?;
        let candidates = shown["candidates"].as_array().context("candidates")?;
        ensure!(rows.len() == candidates.len().min(ROWS), "{} rows", rows.len());
        for (i, row) in rows.iter().enumerate() {
            // The last row is the token that was drawn, where it is further down.
            let last = if i + 1 == ROWS {
                candidates.len() - 1
            } else {
                i
            };
            let candidate = &candidates[last];
            let text = if candidate["token"]["is_special"] == true {
                candidate["token"]["text"].as_str().unwrap_or_default().to_owned()
            } else {
                candidate["token"]["text"].to_string()
            };
            ensure!(row[0] == text, "{} instead of {text}", row[0]);
            for (cell, stage) in [(&row[1], "before"), (&row[2], "after")] {
                let stage = shown[stage].as_u64().context("a stage")? as usize;
                let p = candidate["probabilities"][stage].as_f64().context("a probability")?;
                let words = match p {
                    0.0 => "removed".to_owned(),
                    p if p < 0.0005 => "<0.1%".to_owned(),
                    p => format!("{:.1}%", 100.0 * p),
                };
                let number = |text: &str| text.trim_end_matches('%').parse::<f64>();
                let near = match (number(cell), number(&words)) {
                    (Ok(a), Ok(b)) => (a - b).abs() < 0.11,
                    _ => *cell == words,
                };
                ensure!(near, "{text}: {cell} instead of {words}");
            }
        }
        Ok(())
    }
}
