//! *09* and *10*: the steps of the scheduler, its blocks and its decisions are the library's.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{Proof, patiently, same};
use crate::browser::Look;

const STEPS: usize = 50;

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    for page in ["batching.html", "scheduler.html", "paged-kv.html"] {
        proof.open(page, Look::DESK)?;
        let blocks: usize = proof.data("scheduler", "blocks")?;
        let native = proof.native.open("scheduler")?;
        let begin = json!({ "begin": {
            "blocks": blocks, "token_budget": 32, "policy": "chunked-prefill", "prefix_cache": true,
        } });
        let expected = proof.native.ask(native, &begin)?;
        agree(proof, &expected).context("begin")?;
        let (mut preemptions, mut hits, mut shared) = (0, 0, 0);
        let mut prompts = Vec::new();
        for step in 0..STEPS {
            // Five requests arrive one after the other, of which three have the same beginning.
            if step % 3 == 0 && step < 15 {
                let prompt: String = proof.browser.get(
                    "document.querySelector('[data-widget=scheduler] input[type=text]').value",
                )?;
                proof.press("scheduler", "Add a request")?;
                let add = json!({ "prompt": prompt, "max_tokens": 60, "seed": step / 3 });
                let expected = proof.native.ask(native, &json!({ "add": add }))?;
                agree(proof, &expected).with_context(|| format!("{page}, request {step}"))?;
                prompts.push(prompt);
            }
            proof.press("scheduler", "Step")?;
            let expected = proof.native.ask(native, &json!("step"))?;
            agree(proof, &expected).with_context(|| format!("{page}, step {step}"))?;
            preemptions = expected["preemptions"].as_u64().unwrap_or(0);
            hits = expected["prefix_hits"].as_u64().unwrap_or(0);
            let owners = expected["owners"].as_array().context("owners")?.iter();
            shared = shared.max(owners.filter_map(Value::as_u64).max().unwrap_or(0));
        }
        settings(proof, native, blocks, &prompts).with_context(|| format!("{page}, settings"))?;
        println!(
            "  {page}: {STEPS} steps, {hits} blocks found, {shared} owners of one block, {preemptions} preemptions"
        );
        ensure!(hits > 0 && shared > 1, "{page}: no block is shared");
        ensure!(preemptions > 0, "{page}: no request is preempted");
    }
    Ok(())
}

/// Other settings keep the requests: they arrive again, and are computed for as many steps.
fn settings(proof: &mut Proof, native: u64, blocks: usize, prompts: &[String]) -> Result<()> {
    let requests: Vec<(String, usize)> = proof.browser.get(
        "JSON.parse(document.querySelector('[data-widget=scheduler]').dataset.shown)\
         .sequences.map(({ text, prompt }) => [text, prompt])",
    )?;
    ensure!(requests.len() == 5, "{} requests", requests.len());
    for (budget, policy) in [
        (64, "chunked-prefill"),
        (64, "continuous-batch"),
        (16, "static-batch"),
    ] {
        proof.set("[data-widget=scheduler] input[type=range]", &budget.to_string())?;
        proof.set("[data-widget=scheduler] select", policy)?;
        let begin = json!({ "begin": {
            "blocks": blocks, "token_budget": budget, "policy": policy, "prefix_cache": true,
        } });
        let mut answer = proof.native.ask(native, &begin)?;
        for step in 0..STEPS {
            if step % 3 == 0 && step < 15 {
                let add =
                    json!({ "prompt": prompts[step / 3], "max_tokens": 60, "seed": step / 3 });
                answer = proof.native.ask(native, &json!({ "add": add }))?;
            }
            if answer["has_work"] == true {
                answer = proof.native.ask(native, &json!("step"))?;
            }
        }
        agree(proof, &answer).with_context(|| format!("a budget of {budget}, {policy}"))?;
    }
    Ok(())
}

/// Waits until the page shows this answer, and compares what is drawn with it.
fn agree(proof: &mut Proof, expected: &Value) -> Result<()> {
    let found = patiently(|| {
        let found: Value = proof.data("scheduler", "shown")?;
        same(&found, expected, "shown")?;
        Ok(found)
    })?;
    let owned: Vec<String> = proof.browser.get(
        "[...document.querySelectorAll('.widget-blocks b')].map((block) => block.textContent)",
    )?;
    // Orange is written in this step, blue is kept: a block with an owner is one of them.
    let kinds: Vec<String> = proof.browser.get(
        "[...document.querySelectorAll('.widget-blocks span')].map((block) => block.className)",
    )?;
    for (kind, owners) in kinds.iter().zip(found["owners"].as_array().context("owners")?) {
        let is_right = match owners.as_u64() {
            Some(0) => kind == "padding",
            Some(1) => kind == "new" || kind == "kept",
            _ => kind == "new" || kind == "shared",
        };
        ensure!(is_right, "a block of {owners} owners is drawn as {kind}");
    }
    for (shown, owners) in owned.iter().zip(found["owners"].as_array().context("owners")?) {
        let letters = if shown == "·" { 0 } else { shown.len() as u64 };
        ensure!(Some(letters) == owners.as_u64(), "{shown} instead of {owners} owners");
    }
    let rows: usize =
        proof.browser.get("document.querySelectorAll('.widget-requests tbody tr').length")?;
    ensure!(Some(rows) == found["sequences"].as_array().map(Vec::len), "{rows} rows");
    Ok(())
}
