//! `cargo xtask figures`: runs the commands of the book, and keeps their output in
//! `book/src/output` and their figures in `book/src/figures`.
//!
//! `--check` writes nothing: a difference is an error, and so is an output whose command is on no
//! page, or a page whose outputs are not of the sitting that it claims.

mod compare;
mod inline;
mod output;
mod served;
mod sitting;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use exercises_runner::cargo::cargo;
use slowburn::kernels::Simd;
use slowburn_flags::{WIDTH, wrap};

pub use compare::same_but_for_rounding;
use output::{OUTPUTS, Output};
use served::Server;
use sitting::Sittings;

/// The time of a command that takes longer is printed.
const SLOW: Duration = Duration::from_secs(2);

#[derive(Args)]
pub struct FiguresArgs {
    /// Compare with what is there, and write nothing
    #[arg(long)]
    check: bool,
    /// Run only the commands that hold this
    #[arg(long, default_value = "")]
    only: String,
    /// Run all commands that measure times, also those that take long or need other engines: the
    /// sitting that the pages claim. With --only, go on with it
    #[arg(long, conflicts_with = "check")]
    sitting: bool,
}

pub fn run(args: &FiguresArgs) -> Result<()> {
    let root = crate::root();
    let folder = root.join("book/src");
    let outputs = folder.join("output");
    let mut sittings = Sittings::read(&outputs)?;
    let sitting = match (args.sitting, args.only.is_empty()) {
        (true, true) => sittings.begin_of_the_book(&outputs)?,
        (true, false) => sittings.go_on()?,
        (false, _) => sittings.begin()?,
    };
    let mut wrong = Vec::new();
    let all = pages(&folder)?;
    if args.check {
        wrong.extend(all.iter().flat_map(|(name, text)| {
            let read = |file: &str| fs::read(outputs.join(file)).unwrap_or_default();
            sittings.faults(name, text, &timed_files(), read)
        }));
    }
    let pages = unbroken(&all.into_values().collect::<String>());
    let mut book = Book { folder, pages, check: args.check, wrong };
    let is_wanted = |output: &&Output| match args.only.as_str() {
        "" if args.sitting => output.timed,
        "" => !output.on_request,
        only => output.command.contains(only) && (output.timed || !args.sitting),
    };
    for output in OUTPUTS.iter().filter(is_wanted) {
        eprintln!("$ {}", output.command);
        let began = Instant::now();
        let text = book.run(output, root)?;
        if began.elapsed() > SLOW {
            eprintln!("({:.0} s)", began.elapsed().as_secs_f64());
        }
        if let (Some(text), Some(file)) = (text, output.file)
            && output.timed
            && !args.check
        {
            sittings.note(&sitting, file, text.as_bytes());
        }
    }
    if !args.check {
        sittings.write(&outputs)?;
    }
    ensure!(
        book.wrong.is_empty(),
        "{}\nrun `cargo xtask figures` and look at what changed",
        book.wrong.join("\n")
    );
    Ok(())
}

/// A text in which each command is in one line. A page breaks those that are too long for it.
fn unbroken(text: &str) -> String {
    let lines: Vec<&str> = text.split("\\\n").collect();
    lines.iter().map(|line| line.trim_matches(' ')).collect::<Vec<_>>().join(" ")
}

/// The pages and their results, and what is wrong with them.
struct Book {
    /// `book/src`.
    folder: PathBuf,
    /// The text of all pages.
    pages: String,
    /// Nothing is written: a difference is wrong.
    check: bool,
    wrong: Vec<String>,
}

impl Book {
    /// Runs a command, and keeps its results or compares them. Returns what it prints; none if it failed,
    /// or cannot run on this machine.
    fn run(&mut self, output: &Output, root: &Path) -> Result<Option<String>> {
        for command in [Some(output.command), output.server].into_iter().flatten() {
            if !self.pages.contains(&unbroken(command)) {
                self.wrong.push(format!("no page shows `{command}`"));
            }
        }
        if output.needs_avx512 && !Simd::Avx512.is_available() {
            eprintln!("not run: this processor has no AVX-512");
            return Ok(None);
        }
        let folder = tempfile::tempdir()?;
        let text = match execute(output, folder.path(), root) {
            Ok(text) => text,
            // A sitting of an hour is not lost for one command.
            Err(error) => {
                self.wrong.push(format!("{error:#}"));
                return Ok(None);
            }
        };
        self.wrong.extend(
            lines_of_cargo(&text)
                .map(|line| format!("`{}` prints a line of cargo's own: {line}", output.command)),
        );
        if let Some(file) = output.file {
            self.keep_text(output, file, &text)?;
        }
        for figure in &output.figures {
            let drawn = fs::read_to_string(folder.path().join(figure))
                .with_context(|| format!("`{}` draws no {figure}", output.command))?;
            let drawn = inline::chart(&drawn).with_context(|| (*figure).to_owned())?;
            self.keep_figure(output, figure, &drawn)?;
        }
        Ok(Some(text))
    }

    fn keep_text(&mut self, output: &Output, file: &str, text: &str) -> Result<()> {
        if !self.pages.contains(&format!("output/{file}}}}}")) {
            self.wrong.push(format!("no page includes output/{file}"));
        }
        let kept = self.folder.join("output").join(file);
        if !self.check {
            write(&kept, text.as_bytes())?;
        } else if !output.agrees(&fs::read_to_string(&kept).unwrap_or_default(), text) {
            self.wrong.push(format!("{} differs:\n{text}", kept.display()));
        }
        Ok(())
    }

    fn keep_figure(&mut self, output: &Output, figure: &str, drawn: &str) -> Result<()> {
        if !self.pages.contains(&format!("{{{{#include figures/{figure}}}}}")) {
            self.wrong.push(format!("no page shows figures/{figure}"));
        }
        let kept = self.folder.join("figures").join(figure);
        if !self.check {
            write(&kept, drawn.as_bytes())?;
        } else if !output.shows(&fs::read(&kept).unwrap_or_default(), drawn.as_bytes()) {
            self.wrong.push(format!("{} differs", kept.display()));
        }
        Ok(())
    }
}

/// The text of all pages, by their names.
fn pages(book: &Path) -> Result<BTreeMap<String, String>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(book)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    let page = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, fs::read_to_string(path)?))
    };
    paths.into_iter().map(page).collect()
}

/// The outputs with times.
fn timed_files() -> Vec<&'static str> {
    OUTPUTS.iter().filter(|output| output.timed).filter_map(|output| output.file).collect()
}

/// Runs a `cargo` command in `folder` and returns its standard output, followed by its standard
/// error, where the examples print their summaries. A command that asks a server has its errors
/// first.
fn execute(output: &Output, folder: &Path, root: &Path) -> Result<String> {
    let Output { command, exit_code, ref figures, server, .. } = *output;
    if let Some(server) = server {
        let (out, err) = Server::start(server, root)?.ask(command)?;
        return Ok(fold(format!("{}\n{}", err.trim(), out.trim_end()).trim_matches('\n')));
    }
    // What is typed into the command.
    let (input, command) = match command.split_once(" | ") {
        Some((typed, command)) if typed.starts_with("printf ") => (through(typed, "")?, command),
        _ => (String::new(), command),
    };
    let (command, filter) = match command.split_once(" | ") {
        Some((command, filter)) => (command, Some(filter)),
        None => (command, None),
    };
    let words = shlex::split(command).context("quotes that do not match")?;
    let [first, subcommand, rest @ ..] = words.as_slice() else {
        bail!("`{command}` is too short");
    };
    ensure!(first == "cargo", "`{command}` is not a command of cargo");
    let mut process = match subcommand.as_str() {
        "xtask" => Command::new(env::current_exe()?),
        "run" | "bench" => {
            let mut cargo = cargo();
            cargo.args([subcommand, "--quiet", "--manifest-path"]).arg(root.join("Cargo.toml"));
            cargo
        }
        other => bail!("`cargo {other}` is not run for the book"),
    };
    let arguments = match subcommand.as_str() {
        "xtask" => rest.to_vec(),
        _ => crate::one_build::arguments(rest),
    };
    process
        .args(arguments)
        .env("NO_COLOR", "1")
        // Without figures, the root: paths in a command are relative to it.
        .current_dir(if figures.is_empty() { root } else { folder });
    let output = fed(&mut process, &input)?;
    let (out, err) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    ensure!(output.status.code() == Some(exit_code), "`{command}`: {}: {err}", output.status);
    if words[1] == "bench" {
        return Ok(bench_times(&out));
    }
    if let Some(filter) = filter {
        return through(filter, &out);
    }
    let both = format!("{}\n\n{}", out.trim_end(), err.trim_matches('\n'));
    Ok(fold(both.trim_start_matches('\n').trim_end()))
}

/// Pipes `text` through `filter`, a command.
fn through(filter: &str, text: &str) -> Result<String> {
    let words = shlex::split(filter).context("quotes that do not match")?;
    let (program, args) = words.split_first().context("there is no command after the bar")?;
    let output = fed(Command::new(program).args(args), text)
        .with_context(|| format!("`{filter}` does not start"))?;
    ensure!(output.status.success(), "`{filter}`: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a command with `text` as its standard input.
fn fed(command: &mut Command, text: &str) -> Result<std::process::Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    // The output is read after all input is written, so it must fit into a pipe's buffer.
    child.stdin.take().context("a pipe")?.write_all(text.as_bytes())?;
    Ok(child.wait_with_output()?)
}

/// The times in criterion's output, without the comparison with an earlier run.
fn bench_times(out: &str) -> String {
    let lines: Vec<&str> = out.lines().collect();
    let times = lines.iter().enumerate().filter_map(|(i, line)| {
        let (name, time) = line.split_once("time:")?;
        // A long name is on a line of its own.
        let name = match name.trim() {
            "" => lines[i.checked_sub(1)?].trim(),
            name => name,
        };
        if name == "change:" {
            return None;
        }
        Some(format!("{name:<58}{}\n", time.trim()))
    });
    times.collect()
}

/// The lines that cargo prints about its own work, which are not output of the command.
fn lines_of_cargo(text: &str) -> impl Iterator<Item = &str> {
    const VERBS: [&str; 8] = [
        "Blocking",
        "Compiling",
        "Downloaded",
        "Downloading",
        "Finished",
        "Locking",
        "Running",
        "Updating",
    ];
    // Cargo right-aligns its verbs at column 12.
    let is_cargos = |line: &&str| {
        let verb = line.trim_start().split(' ').next().unwrap_or_default();
        VERBS.contains(&verb) && line.len() - line.trim_start().len() + verb.len() == 12
    };
    text.lines().filter(is_cargos)
}

/// Wraps long lines as a terminal shows them, except in streams of events and metrics, where lines
/// have a meaning.
fn fold(text: &str) -> String {
    let is_kept = |line: &str| ["data: ", "slowburn_"].iter().any(|begin| line.starts_with(begin));
    let line = |line: &str| {
        if line.chars().count() > WIDTH && !is_kept(line) {
            wrap(line, WIDTH)
        } else {
            line.trim_end().to_owned()
        }
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().context("a file lies in a folder")?;
    fs::create_dir_all(folder)?;
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bench_is_its_names_and_times() {
        let out =
            "sample/a/4k  time:   [1 s 2 s 3 s]\n   change: [+1%]\nsample/long\n   time:   [4 s]\n";
        let found = bench_times(out);
        let words: Vec<Vec<&str>> = found.lines().map(|l| l.split_whitespace().collect()).collect();
        assert_eq!(
            words,
            [
                vec!["sample/a/4k", "[1", "s", "2", "s", "3", "s]"],
                vec!["sample/long", "[4", "s]"]
            ]
        );
    }

    #[test]
    fn what_cargo_says_is_told_from_what_a_command_prints() {
        let text = "Both wrote the same 64 tokens.\n\n    Finished `release` profile in 0.09s\n   \
                    Compiling burn v0.22.1\n";
        let found: Vec<&str> = lines_of_cargo(text).map(str::trim).collect();
        assert_eq!(
            found,
            [
                "Finished `release` profile in 0.09s",
                "Compiling burn v0.22.1"
            ]
        );
        assert_eq!(lines_of_cargo("Running along, Pip\n  Finished the pie.").count(), 0);
    }

    #[test]
    fn no_output_that_is_kept_holds_a_line_of_cargo() {
        let folder = crate::root().join("book/src/output");
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let found: Vec<&str> = lines_of_cargo(&text).collect();
            assert!(found.is_empty(), "{}: {found:?}", path.display());
        }
    }

    #[test]
    fn only_long_lines_are_folded() {
        let table = "a      1\nb     10\n";
        assert_eq!(fold(table), table);
        let row = format!("| {} |", "cell | ".repeat(20));
        assert_eq!(fold(&row).lines().count(), 1);
        let long = "word ".repeat(40);
        assert!(fold(&long).lines().all(|line| line.len() <= WIDTH));
    }
}
