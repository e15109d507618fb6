//! The result of a command of the book, and its comparison with an earlier one.

use super::compare::{labels, same_but_for_rounding, same_figure, without_numbers};

/// A command of the book and its results.
pub struct Output {
    /// The file for the printed text, in `book/src/output`; none if the book shows only the
    /// figures.
    pub file: Option<&'static str>,
    /// The command as the book shows it.
    pub command: &'static str,
    /// The figures, in `book/src/figures`, the working folder of the command.
    pub figures: &'static [&'static str],
    /// The result contains times or speeds, which vary between runs: only words and the order of
    /// lines are compared, or the words of a figure.
    pub timed: bool,
    /// The expected exit code: the book shows errors too.
    pub exit_code: i32,
    /// The command takes minutes, or the memory for a large model: it runs only with `--only`.
    pub on_request: bool,
    /// The command measures nothing on a processor without AVX-512, and is not run on one.
    pub needs_avx512: bool,
    /// The server that the command asks, as the book starts it; such a command runs in a shell.
    pub server: Option<&'static str>,
}

pub const fn printed(file: &'static str, command: &'static str) -> Output {
    Output {
        file: Some(file),
        command,
        figures: &[],
        timed: false,
        exit_code: 0,
        on_request: false,
        needs_avx512: false,
        server: None,
    }
}

pub const fn timed(file: &'static str, command: &'static str) -> Output {
    Output { timed: true, ..printed(file, command) }
}

pub const fn drawn(figures: &'static [&'static str], command: &'static str) -> Output {
    Output { file: None, figures, ..printed("", command) }
}

pub const fn refused(file: &'static str, command: &'static str) -> Output {
    Output { exit_code: 2, ..printed(file, command) }
}

pub const fn on_request(file: &'static str, command: &'static str) -> Output {
    Output { on_request: true, ..timed(file, command) }
}

pub const fn asked(file: &'static str, server: &'static str, command: &'static str) -> Output {
    Output { server: Some(server), ..timed(file, command) }
}

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
        let output = timed("", "");
        let shows = |kept: &str, now: &str| output.shows(kept.as_bytes(), now.as_bytes());
        assert!(shows(&figure(1, 50, "time (ms)"), &figure(2, 70, "time (ms)")));
        assert!(!shows(&figure(1, 50, "time (ms)"), &figure(1, 50, "time (s)")));
        assert!(!shows("", &figure(1, 50, "time (ms)")));
        let exact = drawn(&[], "");
        assert!(!exact.shows(figure(1, 50, "a").as_bytes(), figure(1, 70, "a").as_bytes()));
    }
}
