//! *00*, *05* and *06*: the steps of both loops, and the cells of a batch, are the library's.

use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{Proof, same};
use crate::browser::Look;

const STEPS: u64 = 11;

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    for page in ["naive-loop.html", "kv-cache.html"] {
        proof.open(page, Look::DESK)?;
        let native = proof.native.open("loops")?;
        let prompt = "One day, a small frog";
        let sampling = json!({ "temperature": 0.8, "top_p": 0.95, "seed": 42 });
        let begin = json!({ "begin": { "prompt": prompt, "sampling": sampling } });
        proof.native.ask(native, &begin)?;
        proof.set("[data-widget=loops] input[type=text]", prompt)?;
        proof.press("loops", "Step")?;
        proof.press("loops", "Ten steps")?;
        let count =
            "JSON.parse(document.querySelector('[data-widget=loops]').dataset.shown)[1].length";
        proof.browser.wait(&format!("{count} === {STEPS}"))?;
        let shown: Value = proof.data("loops", "shown")?;
        let mut ms = [0.0, 0.0];
        for step in 0..STEPS as usize {
            for (i, name) in ["naive", "cached"].into_iter().enumerate() {
                let expected = proof.native.ask(native, &json!(name))?["step"].clone();
                let mut found = shown[i][step].clone();
                ms[i] += found["ms"].as_f64().unwrap_or(f64::NAN);
                if let Some(found) = found.as_object_mut() {
                    found.remove("ms");
                }
                same(&found, &expected, &format!("{page}, {name}, step {step}"))?;
            }
        }
        ensure!(ms.iter().all(|ms| *ms > 0.0), "{page}: times of {ms:?}");
        println!("  {page}: {STEPS} steps in {:.1} ms naive, {:.1} ms cached", ms[0], ms[1]);
        let said = proof.said("loops")?;
        let last = &shown[0][STEPS as usize - 1];
        ensure!(said.contains(&format!("computed {} rows", last["computed"])), "{said}");
        ensure!(said.contains("The tokens are the same."), "{said}");
    }
    layout(proof)
}

fn layout(proof: &mut Proof) -> Result<()> {
    proof.open("batching.html", Look::DESK)?;
    let native = proof.native.open("layout")?;
    for lengths in [[7, 2, 4, 3], [1, 1, 1, 1], [12, 1, 12, 5]] {
        for (i, length) in lengths.into_iter().enumerate() {
            proof.slide("layout", i, &length.to_string())?;
        }
        for kind in ["right", "left", "end to end"] {
            proof.browser.run(&format!(
                "document.querySelector('[data-widget=layout] input[value=\"{kind}\"]').click()"
            ))?;
            let request = json!({ "lengths": lengths, "kind": kind });
            let answer = proof.native.ask(native, &request)?;
            let data = "JSON.parse(document.querySelector('[data-widget=layout]').dataset.shown)";
            proof.browser.wait(&format!(
                "(({{ lengths, kind }}) => kind === '{kind}' && lengths.join() === '{lengths:?}'.replace(/[^0-9,]/g, ''))({data})"
            ))?;
            let shown: Value = proof.data("layout", "shown")?;
            same(&shown["answer"], &answer, kind)?;
            let cells: Vec<String> = proof.browser.get(
                "[...document.querySelectorAll('.widget-cells span')].map((cell) => cell.textContent)",
            )?;
            let padding = cells.iter().filter(|cell| *cell == "pad").count();
            ensure!(
                json!(cells.len()) == answer["computed"] && json!(padding) == answer["padding"]
            );
        }
    }
    Ok(())
}
