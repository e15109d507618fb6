//! The result of a command of the book, and its comparison with an earlier one.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::compare::{labels, same_but_for_rounding, same_figure, without_numbers};

/// A command of the book and its results: `outputs.toml` says what each field means.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Output {
    pub file: Option<&'static str>,
    pub command: &'static str,
    #[serde(borrow)]
    pub figures: Vec<&'static str>,
    pub timed: bool,
    pub exit_code: i32,
    pub on_request: bool,
    pub needs_avx512: bool,
    pub server: Option<&'static str>,
}

/// All commands.
pub static OUTPUTS: LazyLock<Vec<Output>> = LazyLock::new(|| {
    let mut all: HashMap<&str, Vec<Output>> =
        toml::from_str(include_str!("outputs.toml")).expect("outputs, without escapes");
    all.remove("output").expect("a list of outputs")
});

impl Output {
    /// Whether the kept text matches the new one.
    pub fn agrees(&self, kept: &str, now: &str) -> bool {
        if self.timed {
            without_numbers(kept) == without_numbers(now)
        } else {
            same_but_for_rounding(kept, now)
        }
    }

    /// Whether the kept figure matches the new one.
    pub fn shows(&self, kept: &[u8], now: &[u8]) -> bool {
        if self.timed {
            labels(kept) == labels(now)
        } else {
            same_figure(kept, now)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timed_figure_is_its_labels() {
        let figure = |height: u32, tick: u32, label: &str| {
            format!(
                "<svg>\n<rect h=\"{height}\"/><text>\n{tick}\n</text><text>{label}</text></svg>"
            )
        };
        let output = Output { timed: true, ..Output::default() };
        let shows = |kept: &str, now: &str| output.shows(kept.as_bytes(), now.as_bytes());
        assert!(shows(&figure(1, 50, "time (ms)"), &figure(2, 70, "time (ms)")));
        assert!(!shows(&figure(1, 50, "time (ms)"), &figure(1, 50, "time (s)")));
        assert!(!shows("", &figure(1, 50, "time (ms)")));
        let exact = Output::default();
        assert!(!exact.shows(figure(1, 50, "a").as_bytes(), figure(1, 70, "a").as_bytes()));
    }
}
