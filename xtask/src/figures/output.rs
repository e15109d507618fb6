//! What a command of the book leaves behind, and when that is the same as before.

use super::compare::{labels, same_but_for_rounding, same_figure, without_numbers};

/// What a command of the book leaves behind.
pub struct Output {
    /// The file that keeps what it prints, in `book/src/output`; none where only what it draws
    /// is shown.
    pub file: Option<&'static str>,
    /// The command as the book shows it.
    pub command: &'static str,
    /// The files that it draws, in `book/src/figures`: it is run in that folder.
    pub figures: &'static [&'static str],
    /// It prints or draws times and speeds: numbers differ from run to run, and only the words and
    /// the order of the lines are compared, or the words of the figure.
    pub timed: bool,
    /// What it exits with: the book shows errors too.
    pub exit_code: i32,
    /// It takes minutes, or room for a large model: it is run only where `--only` asks for it.
    pub on_request: bool,
}

pub const fn printed(file: &'static str, command: &'static str) -> Output {
    Output {
        file: Some(file),
        command,
        figures: &[],
        timed: false,
        exit_code: 0,
        on_request: false,
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

impl Output {
    /// Whether what was kept is what came now.
    pub fn agrees(&self, kept: &str, now: &str) -> bool {
        if self.timed {
            without_numbers(kept) == without_numbers(now)
        } else {
            same_but_for_rounding(kept, now)
        }
    }

    /// Whether the figure that was kept shows what was drawn now.
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
