//! *When attention is not all*: what the widget's state finds is what the answer to the exercise finds,
//! and what the page says of its third key is so.

#[path = "../../../../../solutions/src/states/delta_step.rs"]
mod delta_step;

use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::json;

use super::{Proof, patiently, same};
use crate::browser::Look;
use delta_step::delta_step;

/// What attention multiplies its scores by.
const SHARPNESS: f64 = 60.0;

struct Pair {
    key: [f64; 2],
    value: f64,
}

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    proof.open("states.html", Look::DESK)?;
    let keys = [
        [1.0, 0.0],
        [12.0 / 13.0, 5.0 / 13.0],
        [0.8, 0.6],
        [0.6, 0.8],
        [5.0 / 13.0, 12.0 / 13.0],
        [0.0, 1.0],
        [-5.0 / 13.0, 12.0 / 13.0],
        [-0.6, 0.8],
        [-0.8, 0.6],
        [-12.0 / 13.0, 5.0 / 13.0],
        [-1.0, 0.0],
    ];
    for looks in [true, false] {
        for (i, key) in keys.into_iter().enumerate() {
            for (writes, value) in [(1, 20.0), (2, 20.0), (3, 20.0), (3, 0.0), (3, 50.0)] {
                for (slider, to) in [writes as f64, i as f64, value].into_iter().enumerate() {
                    proof.slide("recall", slider, &to.to_string())?;
                }
                let all = [
                    Pair { key: [1.0, 0.0], value: 30.0 },
                    Pair { key: [0.0, 1.0], value: 50.0 },
                    Pair { key, value },
                ];
                let (state, rows) = found(&all[..writes], looks);
                let expected = json!({
                    "writes": writes, "key": key, "value": value, "looks": looks,
                    "state": state, "rows": rows,
                });
                let what = format!("{writes} writes, {key:?}, {value}, {looks}");
                patiently(|| same(&proof.data("recall", "shown")?, &expected, &what))?;
                if looks && writes == 3 && value == 20.0 {
                    as_the_page_says(key, &rows)?;
                }
            }
        }
        proof.browser.click("[data-widget=recall] input[type=checkbox]")?;
    }
    Ok(())
}

/// A state, and for each key what attention and the state find.
fn found(written: &[Pair], looks: bool) -> ([f64; 2], Vec<[f64; 2]>) {
    let mut state = vec![vec![0.0], vec![0.0]];
    let narrow = |key: [f64; 2]| key.map(|number| number as f32);
    for Pair { key, value } in written {
        // Without a look, what is found is added again.
        let held = delta_step(&mut state.clone(), &narrow(*key), &narrow(*key), &[0.0], 1.0, 0.0);
        let value = *value as f32 + if looks { 0.0 } else { held[0] };
        delta_step(&mut state, &narrow(*key), &narrow(*key), &[value], 1.0, 1.0);
    }
    let product = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
    let state = [f64::from(state[0][0]), f64::from(state[1][0])];
    let rows = written.iter().map(|asked| {
        let weight = |pair: &Pair| (SHARPNESS * (product(asked.key, pair.key) - 1.0)).exp();
        let sum: f64 = written.iter().map(weight).sum();
        let attention = written.iter().map(|pair| weight(pair) * pair.value).sum::<f64>() / sum;
        [attention, product(state, asked.key)]
    });
    (state, rows.collect())
}

/// No third key of the value 20 leaves both older values. On the first key, it is overwritten or mixed in.
fn as_the_page_says(key: [f64; 2], rows: &[[f64; 2]]) -> Result<()> {
    let is = |found: f64, value: f64| (found - value).abs() < 0.05;
    let survives = |row: usize, value| is(rows[row][1], value);
    ensure!(!(survives(0, 30.0) && survives(1, 50.0)), "{key:?}: {rows:?}");
    if key == [1.0, 0.0] {
        ensure!(is(rows[0][0], 25.0) && is(rows[0][1], 20.0), "the first key: {:?}", rows[0]);
    }
    Ok(())
}
