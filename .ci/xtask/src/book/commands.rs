//! Checks that the commands in the book refer to existing targets.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use clap::CommandFactory;
use exercises_runner::cargo::cargo;
use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};
use serde::Deserialize;

use super::markdown;
use super::problem::Problem;

/// The names that commands may use.
#[derive(Debug, Default)]
pub struct Targets {
    /// Kind (`example`, `bench`, `test`, `bin`) and name of each target.
    targets: BTreeSet<(String, String)>,
    packages: BTreeSet<String>,
    features: BTreeSet<String>,
    /// The subcommands of `cargo xtask`.
    xtasks: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    targets: Vec<Target>,
    features: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

impl Targets {
    /// The targets, packages and features of this workspace.
    pub fn of_workspace(root: &Path) -> Result<Self> {
        let output = cargo()
            .args([
                "metadata",
                "--no-deps",
                "--format-version",
                "1",
                "--offline",
            ])
            .current_dir(root)
            .output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata: Metadata =
            serde_json::from_slice(&output.stdout).context("what `cargo metadata` prints")?;
        let command = crate::Cli::command();
        let names = command.get_subcommands().map(|subcommand| subcommand.get_name().to_owned());
        let mut targets = Self { xtasks: names.collect(), ..Self::default() };
        for package in metadata.packages {
            targets.packages.insert(package.name);
            targets.features.extend(package.features.into_keys());
            for Target { name, kind } in package.targets {
                targets.targets.extend(kind.into_iter().map(|kind| (kind, name.clone())));
            }
        }
        Ok(targets)
    }

    /// The problem with a command, if any.
    fn fault(&self, command: &str) -> Option<String> {
        let Some(words) = shlex::split(command) else {
            return Some("quotes that do not match".to_owned());
        };
        let mut words = words.iter().map(String::as_str).skip_while(|word| word.contains('='));
        if words.next() != Some("cargo") {
            return None;
        }
        let words: Vec<&str> = words.collect();
        if let ["xtask", rest @ ..] = words.as_slice() {
            let name = rest.first().copied().unwrap_or_default();
            let is_known = self.xtasks.contains(name);
            return (!is_known).then(|| format!("`cargo xtask` knows no `{name}`"));
        }
        // Arguments after `--` are for the program.
        let words = words.split(|word| *word == "--").next().unwrap_or_default();
        for pair in words.windows(2) {
            let [flag, value] = *pair else {
                continue;
            };
            let is_known = match flag {
                "--example" | "--bench" | "--test" | "--bin" => {
                    let kind = flag.trim_start_matches('-').to_owned();
                    self.targets.contains(&(kind, value.to_owned()))
                }
                "-p" | "--package" => self.packages.contains(value),
                "--features" => {
                    value.split([',', ' ']).all(|feature| self.features.contains(feature))
                }
                _ => continue,
            };
            if !is_known {
                return Some(format!("there is nothing for `{flag} {value}`"));
            }
        }
        None
    }
}

pub fn check(file: &str, text: &str, targets: &Targets) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut is_console = false;
    for (event, range) in markdown::events(text) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                let language = language.split([',', ' ']).next().unwrap_or_default();
                is_console = ["console", "sh", "bash", "shell"].contains(&language);
            }
            Event::End(TagEnd::CodeBlock) => is_console = false,
            Event::Text(block) if is_console => {
                for (offset, command) in lines(&block) {
                    problems.extend(targets.fault(&command).map(|fault| {
                        let message = format!("`{command}`: {fault}");
                        Problem::at(file, text, range.start + offset, message)
                    }));
                }
            }
            _ => {}
        }
    }
    problems
}

/// The commands in a block with their offsets. A backslash at the end of a line continues the
/// command, and so does a quote that is open.
fn lines(block: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut offset = 0;
    let mut is_joined = false;
    for line in block.split_inclusive('\n') {
        let text = line.trim();
        let (text, joins) = match text.strip_suffix('\\') {
            Some(text) => (text, true),
            None => (text, false),
        };
        match lines.last_mut() {
            Some((_, command)) if is_joined => *command += text,
            Some((_, command)) if is_open(command) => {
                command.push('\n');
                *command += text;
            }
            _ => lines.push((offset, text.trim_start_matches("$ ").to_owned())),
        }
        is_joined = joins;
        offset += line.len();
    }
    lines
}

/// Whether a quote of this command has no end.
fn is_open(command: &str) -> bool {
    shlex::split(command).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(commands: &str) -> Vec<String> {
        let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let targets = Targets {
            targets: [("example".to_owned(), "tokens".to_owned())].into(),
            packages: set(&["slowburn"]),
            features: set(&["plot", "hub"]),
            xtasks: set(&["book"]),
        };
        let text = format!("Text\n\n```console\n{commands}\n```\n");
        check("a.md", &text, &targets).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn what_is_there_is_right() {
        assert!(messages("cargo run --example tokens -- --test x").is_empty());
        assert!(
            messages("cargo run --features plot,hub -p slowburn \\\n  --example tokens").is_empty()
        );
        assert!(messages("RUST_LOG=info cargo xtask book\nls --example x").is_empty());
    }

    #[test]
    fn a_quote_may_go_over_several_lines() {
        let command = "curl --json '{\n  \"prompt\": \"One day\"\n}' | sed -E 's/a//'";
        assert!(messages(command).is_empty());
        let found = messages(&format!("{command}\ncargo run --example token"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("a.md:7: `cargo run --example token`"));
        assert!(messages("cargo run --example 'tokens\n\nls")[0].contains("quotes"));
    }

    #[test]
    fn an_example_that_is_not_there_is_found() {
        let found = messages("ls\ncargo run --example token");
        let expected =
            "a.md:5: `cargo run --example token`: there is nothing for `--example token`";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn an_xtask_that_is_not_there_is_found() {
        assert!(messages("cargo xtask books")[0].contains("knows no `books`"));
        assert!(messages("cargo xtask")[0].contains("knows no"));
    }

    #[test]
    fn a_feature_or_a_package_that_is_not_there_is_found() {
        assert!(messages("cargo run --features plot,cudo")[0].contains("--features plot,cudo"));
        assert!(messages("cargo test -p slowburns")[0].contains("-p slowburns"));
    }

    #[test]
    fn an_open_quote_is_found() {
        assert!(messages("cargo run -- --prompt \"One")[0].contains("quotes"));
    }
}
