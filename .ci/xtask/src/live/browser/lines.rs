//! *11*: the lines and sectors of a load are those of the exercise.

#[path = "../../../../../solutions/src/gpus/cache_lines.rs"]
mod cache_lines;

use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{Proof, patiently, same};
use crate::browser::Look;
use cache_lines::{Layout, Matrix, addresses, lines, used};

const UNITS: usize = 32;

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    proof.open("gpus.html", Look::DESK)?;
    let mut sectors = Vec::new();
    for (bytes, stride, first) in [
        (4, 1, 0),
        (4, 1, 1),
        (4, 0, 5),
        (4, 2, 0),
        (4, 7, 0),
        (4, 8, 0),
        (4, 31, 0),
        (4, 32, 31),
        (2, 1, 0),
        (2, 1, 31),
        (2, 16, 3),
        (2, 32, 31),
    ] {
        proof.slide("lines", 0, &stride.to_string())?;
        proof.slide("lines", 1, &first.to_string())?;
        proof.browser.run(&format!(
            "document.querySelector('[data-widget=lines] input[value=\"{bytes}\"]').click()"
        ))?;
        let read =
            addresses(&matrix(bytes, stride), start(stride, first), UNITS, at(stride, first));
        let of = |line| (lines(&read, bytes, line), used(&read, bytes, line));
        let (by_line, by_sector) = (of(128), of(32));
        let expected = json!({
            "stride": stride, "first": first, "size": bytes,
            "lines": by_line.0, "sectors": by_sector.0, "shares": [by_line.1, by_sector.1],
        });
        patiently(|| {
            let found: Value = proof.data("lines", "shown")?;
            same(&found, &expected, &format!("{bytes} bytes, stride {stride}, from {first}"))
        })?;
        let drawn: (usize, usize, u64) = proof.browser.get(
            "(() => { const boxes = [...document.querySelectorAll('[data-widget=lines] .widget-cells span')]; \
             const of = (kind) => boxes.filter((box) => box.classList.contains(kind)); \
             return [of('new').length, of('kept').length, \
                     of('new').reduce((sum, box) => sum + Number(box.textContent), 0)]; })()",
        )?;
        let asked = (by_sector.1.unwrap_or(0.0) * 32.0 * by_sector.0 as f64).round() as u64;
        let rest = 4 * by_line.0 - by_sector.0;
        ensure!(drawn == (by_sector.0, rest, asked), "stride {stride}, from {first}: {drawn:?}");
        sectors.push((by_line.0, by_sector.0));
    }
    // What the reader is asked to find.
    ensure!(sectors[..2] == [(1, 4), (2, 5)], "from number 0 and 1: {sectors:?}");
    ensure!(sectors[4].1 < UNITS && sectors[5].1 == UNITS, "strides of 7 and 8: {sectors:?}");
    ensure!(
        sectors[6].0 < UNITS && sectors[7].0 == UNITS,
        "strides of 31 and 32: {sectors:?}"
    );
    Ok(())
}

/// A matrix of which neighbours read weights that are so far apart: input by input they are neighbours,
/// output by output a row apart.
fn matrix(bytes_of_a_weight: usize, stride: usize) -> Matrix {
    match stride {
        1 => Matrix {
            n_out: 64,
            n_in: 1,
            bytes_of_a_weight,
            layout: Layout::ByInput,
        },
        n_in => Matrix {
            n_out: UNITS,
            n_in,
            bytes_of_a_weight,
            layout: Layout::ByOutput,
        },
    }
}

/// The output of unit 0.
fn start(stride: usize, first: usize) -> usize {
    if stride == 1 { first } else { 0 }
}

/// The input of all units.
fn at(stride: usize, first: usize) -> usize {
    if stride == 1 { 0 } else { first }
}
