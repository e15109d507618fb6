//! The frequencies of RoPE, as wavelengths.

use std::f64::consts::TAU;
use std::fmt::Write;

use serde_json::{Value, json};
use slowburn::model::config::{RopeConfig, RopeScaling};
use slowburn::model::rope::Rope;

/// The numbers of a head.
const HEAD_DIM: usize = 128;
/// By how much a context of 4,096 tokens is extended.
const FACTOR: f64 = 4.0;

/// Ways to rotate: what a table calls them, and for each pair of a head, after how many positions it is
/// round.
pub(super) fn wavelengths() -> [(&'static str, Vec<f64>); 4] {
    let small = RopeConfig::new(10_000.0);
    let yarn = RopeScaling::Yarn {
        factor: FACTOR,
        beta_fast: 32.0,
        beta_slow: 1.0,
        original_context: 4096.0,
        truncate: true,
    };
    let ropes = [
        ("base 10000", small.clone()),
        ("base 1000000", RopeConfig::new(1e6)),
        (
            "linear x 4",
            RopeConfig {
                scaling: RopeScaling::Linear { factor: FACTOR },
                ..small.clone()
            },
        ),
        ("YaRN x 4", RopeConfig { scaling: yarn, ..small }),
    ];
    ropes.map(|(name, rope)| {
        let rope = Rope::new(&rope, HEAD_DIM);
        (name, rope.frequencies().iter().map(|frequency| TAU / frequency).collect())
    })
}

pub(super) fn text_and_json() -> (String, Value) {
    let ropes = wavelengths();
    let mut out = String::new();
    let heads: String = ropes.iter().map(|(name, _)| format!("{name:>15}")).collect();
    let _ = writeln!(out, "{:<6}{heads}", "pair");
    for pair in (0..HEAD_DIM / 2).filter(|pair| pair % 8 == 0 || *pair == HEAD_DIM / 2 - 1) {
        let cell = |(_, all): &(&str, Vec<f64>)| format!("{:>15.1}", all[pair]);
        let cells: String = ropes.iter().map(cell).collect();
        let _ = writeln!(out, "{pair:<6}{cells}");
    }
    let json = ropes.iter().map(|(name, all)| json!({ "name": name, "wavelengths": all }));
    (out, json.collect())
}
