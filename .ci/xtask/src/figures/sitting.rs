//! When and on which machine the outputs with times were measured.
//!
//! A run of `cargo xtask figures` is one sitting. A page claims the book's sitting by including
//! `output/sitting.md`; then all outputs with times on that page must be of it, as they were written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::bench::machine;

/// The record, in `book/src/output`.
const FILE: &str = "sittings.toml";
/// What a page includes to claim the book's sitting, in `book/src/output`.
const CLAIM: &str = "sitting.md";

/// Which outputs were measured when and where.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Sittings {
    /// The sitting that pages claim: the last run of all commands with times.
    #[serde(default)]
    book: String,
    /// The machine of each sitting, by the time at which it began.
    #[serde(default)]
    sittings: BTreeMap<String, String>,
    /// By the name of its file.
    #[serde(default)]
    outputs: BTreeMap<String, Measured>,
}

/// An output as it was measured.
#[derive(Debug, Serialize, Deserialize)]
struct Measured {
    sitting: String,
    sha256: String,
}

impl Sittings {
    /// The record in this folder of outputs.
    pub fn read(outputs: &Path) -> Result<Self> {
        let path = outputs.join(FILE);
        if !path.exists() {
            return Ok(Self::default());
        }
        toml::from_str(&fs::read_to_string(&path)?).with_context(|| path.display().to_string())
    }

    /// Begins a sitting: the name that its outputs are noted under.
    pub fn begin(&mut self) -> Result<String> {
        let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string();
        self.sittings.insert(now.clone(), machine()?);
        Ok(now)
    }

    /// Begins the sitting that pages claim.
    pub fn begin_of_the_book(&mut self, outputs: &Path) -> Result<String> {
        let sitting = self.begin()?;
        let text = format!(
            "Measured on {}, in [one sitting](performance.md#one-sitting) with the other speeds of this book \
             ({sitting}).\n",
            self.sittings[&sitting]
        );
        fs::write(outputs.join(CLAIM), text)?;
        self.book.clone_from(&sitting);
        Ok(sitting)
    }

    /// Goes on with the sitting that pages claim: the commands that failed or were disturbed.
    pub fn go_on(&self) -> Result<String> {
        let began_on =
            self.sittings.get(&self.book).context("there is no sitting to go on with")?;
        let here = machine()?;
        ensure!(
            *began_on == here,
            "the sitting began on {began_on}, and this is {here}: begin another"
        );
        Ok(self.book.clone())
    }

    /// Notes that `file` was measured in this sitting.
    pub fn note(&mut self, sitting: &str, file: &str, text: &[u8]) {
        let measured = Measured { sitting: sitting.to_owned(), sha256: hash(text) };
        self.outputs.insert(file.to_owned(), measured);
    }

    /// Writes the record. Sittings of which no output is left are forgotten.
    pub fn write(mut self, outputs: &Path) -> Result<()> {
        let of = self.outputs.values().map(|measured| &measured.sitting);
        let used: BTreeSet<&String> = of.chain([&self.book]).collect();
        self.sittings.retain(|sitting, _| used.contains(sitting));
        let head =
            "# Written by `cargo xtask figures`: when and where each output was measured.\n\n";
        fs::write(outputs.join(FILE), head.to_owned() + &toml::to_string(&self)?)?;
        Ok(())
    }

    /// What is wrong with a page that claims the book's sitting. `timed` are the outputs with times;
    /// `read` returns what is kept of one.
    pub fn faults(
        &self,
        page: &str,
        text: &str,
        timed: &[&str],
        read: impl Fn(&str) -> Vec<u8>,
    ) -> Vec<String> {
        let includes = |file: &str| text.contains(&format!("{{{{#include output/{file}}}}}"));
        if !includes(CLAIM) {
            return Vec::new();
        }
        let fault = |file: &&str| match self.outputs.get(*file) {
            None => Some(format!("{page} claims one sitting, and {file} is of none")),
            Some(measured) if measured.sitting != self.book => Some(format!(
                "{page} claims the sitting of {}, and {file} is of {}",
                self.book, measured.sitting
            )),
            Some(measured) if measured.sha256 != hash(&read(file)) => {
                Some(format!("{file} is not as it was measured"))
            }
            Some(_) => None,
        };
        timed.iter().filter(|file| includes(file)).filter_map(fault).collect()
    }
}

fn machine() -> Result<String> {
    Ok(format!("{}, {}", machine::describe()?, machine::simd()))
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "{{#include output/sitting.md}}\n\n{{#include output/a.txt}}\n\n\
                        {{#include output/b.txt}}";

    fn faults(sittings: &Sittings, page: &str) -> Vec<String> {
        sittings.faults("a.md", page, &["a.txt", "b.txt", "c.txt"], |file| file.into())
    }

    fn measured(book: &str, outputs: &[(&str, &str)]) -> Sittings {
        let mut sittings = Sittings { book: book.to_owned(), ..Sittings::default() };
        for (file, sitting) in outputs {
            sittings.note(sitting, file, file.as_bytes());
        }
        sittings
    }

    #[test]
    fn a_page_that_claims_a_sitting_shares_it() {
        let one = measured("noon", &[("a.txt", "noon"), ("b.txt", "noon"), ("c.txt", "dawn")]);
        assert_eq!(faults(&one, PAGE), [""; 0]);
        let two = measured("noon", &[("a.txt", "noon"), ("b.txt", "dawn")]);
        let expected = "a.md claims the sitting of noon, and b.txt is of dawn";
        assert_eq!(faults(&two, PAGE), [expected]);
        let none = measured("noon", &[("a.txt", "noon")]);
        assert_eq!(faults(&none, PAGE), ["a.md claims one sitting, and b.txt is of none"]);
        assert_eq!(faults(&none, "{{#include output/b.txt}}"), [""; 0]);
    }

    #[test]
    fn an_output_that_was_edited_is_noticed() {
        let mut sittings = measured("noon", &[("a.txt", "noon")]);
        sittings.note("noon", "b.txt", b"another text");
        assert_eq!(faults(&sittings, PAGE), ["b.txt is not as it was measured"]);
    }

    #[test]
    fn the_record_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Sittings::read(folder.path()).unwrap().outputs.is_empty());
        let mut sittings = Sittings::default();
        assert!(sittings.go_on().is_err());
        let now = sittings.begin_of_the_book(folder.path()).unwrap();
        sittings.sittings.insert("long ago".to_owned(), "abacus".to_owned());
        sittings.note(&now, "a.txt", b"a");
        sittings.write(folder.path()).unwrap();
        let mut read = Sittings::read(folder.path()).unwrap();
        assert_eq!((&read.book, read.go_on().unwrap()), (&now, now.clone()));
        assert_eq!(read.sittings.keys().collect::<Vec<_>>(), [&now]);
        assert_eq!(read.outputs["a.txt"].sha256, hash(b"a"));
        assert!(fs::read_to_string(folder.path().join(CLAIM)).unwrap().contains(&now));
        read.sittings.insert(now, "abacus".to_owned());
        assert!(read.go_on().is_err());
    }
}
