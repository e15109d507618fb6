//! Texts of an answer, and what takes their places.

use anyhow::{Result, ensure};
use serde::Deserialize;

/// A variant as its table says it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edits {
    pub why: String,
    #[serde(default)]
    pub says: Option<String>,
    from: String,
    to: String,
    #[serde(default)]
    and: Vec<Edit>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    from: String,
    to: String,
}

impl Edits {
    /// The answer with all edits, each of which is of the text as it was before.
    ///
    /// # Errors
    /// A `from` that is not in the answer, or more than once; two that overlap.
    pub fn of(&self, answer: &str) -> Result<String> {
        let others = self.and.iter().map(|edit| (&edit.from, &edit.to));
        let mut places = Vec::new();
        for (from, to) in [(&self.from, &self.to)].into_iter().chain(others) {
            let count = answer.matches(from.as_str()).count();
            ensure!(count == 1, "`from` is in the answer {count} times, not once:\n{from}");
            let start = answer.find(from.as_str()).unwrap_or_default();
            places.push((start..start + from.len(), to));
        }
        places.sort_by_key(|(place, _)| place.start);

        let mut text = String::new();
        let mut end = 0;
        for (place, to) in places {
            let from = &answer[place.clone()];
            ensure!(end <= place.start, "`from` overlaps with another one:\n{from}");
            text += &answer[end..place.start];
            text += to;
            end = place.end;
        }
        Ok(text + &answer[end..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = "fn f(x: u8) -> u8 {\n    let y = x + 1;\n    y + 1\n}\n";

    fn edited(table: &str) -> Result<String> {
        toml::from_str::<Edits>(&format!("why = 'w'\n{table}"))?.of(ANSWER)
    }

    #[test]
    fn each_text_is_replaced_in_its_place() {
        let edits = "from = 'y + 1'\nto = 'y * 2'\n[[and]]\nfrom = ' + 1;'\nto = ' - 1;'";
        assert_eq!(
            edited(edits).unwrap(),
            "fn f(x: u8) -> u8 {\n    let y = x - 1;\n    y * 2\n}\n"
        );
        // What one edit writes is not what another one looks for.
        let edits = "from = 'x: u8'\nto = 'y + 1'\n[[and]]\nfrom = 'y + 1'\nto = 'x'";
        assert_eq!(edited(edits).unwrap(), "fn f(y + 1) -> u8 {\n    let y = x + 1;\n    x\n}\n");
    }

    #[test]
    fn a_text_that_is_not_there_once_is_an_error_that_shows_it() {
        for (from, count) in [("x + 2", 0), ("+ 1", 2)] {
            let error = edited(&format!("from = '{from}'\nto = ''")).unwrap_err().to_string();
            assert_eq!(error, format!("`from` is in the answer {count} times, not once:\n{from}"));
        }
    }

    #[test]
    fn edits_that_overlap_are_an_error() {
        let edits = "from = 'let y = x'\nto = ''\n[[and]]\nfrom = '= x + 1'\nto = ''";
        let error = edited(edits).unwrap_err().to_string();
        assert_eq!(error, "`from` overlaps with another one:\n= x + 1");
    }

    #[test]
    fn a_key_that_means_nothing_is_an_error() {
        for table in [
            "from = 'y'",
            "to = 'y'",
            "from = 'x: u8'\nto = ''\nform = ''",
        ] {
            assert!(edited(table).is_err(), "{table}");
        }
    }
}
