//! Checks that the README stays short, and that its table has the numbers of an output.

use std::collections::BTreeSet;

use super::problem::Problem;
use super::sources::Sources;

pub const FILE: &str = "README.md";
/// What its table is a part of.
const MEASURED: &str = "book/src/output/peers.md";
/// What is more than this belongs to the manual.
const WORDS: usize = 700;

pub fn check(text: &str, sources: &Sources) -> Vec<Problem> {
    let mut problems = Vec::new();
    let words = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
    if words > WORDS {
        let message =
            format!("{words} words, and {WORDS} are read: the rest belongs to the manual");
        problems.push(Problem::new(FILE, 1, message));
    }
    let measured: BTreeSet<&str> =
        sources.text(MEASURED).unwrap_or_default().lines().flat_map(cells).collect();
    for (i, line) in text.lines().enumerate() {
        let numbers = cells(line).filter(|cell| cell.parse::<f64>().is_ok());
        problems.extend(
            numbers
                .filter(|number| !measured.contains(number))
                .map(|number| Problem::new(FILE, i + 1, format!("{number} is not in {MEASURED}"))),
        );
    }
    problems
}

/// The cells of a row of a table.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.strip_prefix('|').into_iter().flat_map(|row| row.split('|')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        let sources = Sources::from([(MEASURED, "| Slow Burn | f32 | 1138 |  | 58.8 |")]);
        check(text, &sources).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn a_short_one_with_measured_numbers_is_right() {
        assert!(messages("Text in 2 lines\n\n| | a |\n| --- | --: |\n| it | 58.8 |\n").is_empty());
    }

    #[test]
    fn a_number_that_was_not_measured_is_found() {
        let found = messages("Text\n| it | 58.9 |");
        assert_eq!(found, [format!("README.md:2: 58.9 is not in {MEASURED}")]);
    }

    #[test]
    fn a_long_one_is_found() {
        assert!(messages(&"word ".repeat(701))[0].contains("701 words"));
    }
}
