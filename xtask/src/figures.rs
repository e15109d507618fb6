//! `cargo xtask figures`: runs the commands that the book shows, and keeps what they print in
//! `book/src/output` and what they draw in `book/src/figures`.
//!
//! With `--check` nothing is written: what differs is an error, and so is an output whose
//! command no page shows.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

#[derive(Args)]
pub struct FiguresArgs {
    /// Compare with what is there, and write nothing
    #[arg(long)]
    check: bool,
    /// Run only the commands that hold this
    #[arg(long, default_value = "")]
    only: String,
}

/// What a command of the book leaves behind.
struct Output {
    /// The file that keeps what it prints, in `book/src/output`; none where only what it draws
    /// is shown.
    file: Option<&'static str>,
    /// The command as the book shows it.
    command: &'static str,
    /// The files that it draws, in `book/src/figures`: it is run in that folder.
    figures: &'static [&'static str],
    /// It prints or draws times and speeds: numbers differ from run to run, and only the words and
    /// the order of the lines are compared, or the words of the figure.
    timed: bool,
    /// What it exits with: the book shows errors too.
    exit_code: i32,
    /// It takes minutes, or room for a large model: it is run only where `--only` asks for it.
    on_request: bool,
}

const fn printed(file: &'static str, command: &'static str) -> Output {
    Output {
        file: Some(file),
        command,
        figures: &[],
        timed: false,
        exit_code: 0,
        on_request: false,
    }
}

const fn timed(file: &'static str, command: &'static str) -> Output {
    Output { timed: true, ..printed(file, command) }
}

const fn drawn(figures: &'static [&'static str], command: &'static str) -> Output {
    Output { file: None, figures, ..printed("", command) }
}

const fn refused(file: &'static str, command: &'static str) -> Output {
    Output { exit_code: 2, ..printed(file, command) }
}

const fn on_request(file: &'static str, command: &'static str) -> Output {
    Output { on_request: true, ..timed(file, command) }
}

impl Output {
    /// Whether what was kept is what came now.
    fn agrees(&self, kept: &str, now: &str) -> bool {
        if self.timed {
            without_numbers(kept) == without_numbers(now)
        } else {
            same_but_for_rounding(kept, now)
        }
    }

    /// Whether the figure that was kept shows what was drawn now.
    fn shows(&self, kept: &[u8], now: &[u8]) -> bool {
        if self.timed {
            labels(kept) == labels(now)
        } else {
            same_figure(kept, now)
        }
    }
}

const OUTPUTS: &[Output] = &[
    timed(
        "first-light.txt",
        "cargo run --release --example 05_kv_cache -- --prompt \"Once upon a time\"",
    ),
    timed("parity.md", "cargo xtask parity"),
    timed("parity-naive.md", "cargo xtask parity --naive"),
    printed("tokens.txt", "cargo run --release --example tokens"),
    printed(
        "tokens-hello.txt",
        "cargo run --release --example tokens -- --prompt \"Hello, world!\"",
    ),
    printed(
        "tokens-story.txt",
        "cargo run --release --example tokens -- --prompt \"a quiet girl lived by the sea\"",
    ),
    printed(
        "tokens-other.txt",
        "cargo run --release --example tokens -- --prompt \"amortised O(n log n) bounds\"",
    ),
    timed(
        "space.txt",
        "cargo run --release --example 05_kv_cache -- --prompt \"Once upon a \" --max-tokens 2 --logprobs 3",
    ),
    timed(
        "logprobs.txt",
        "cargo run --release --example 05_kv_cache -- --max-tokens 6 --logprobs 3",
    ),
    refused("refused.txt", "cargo run --release --example 05_kv_cache -- --top-p 0"),
    timed(
        "naive-steps.txt",
        "cargo run --release --example 00_naive_loop -- --prompt \"Once upon a\" --temperature 0 --max-tokens 5 --logprobs 3",
    ),
    timed(
        "ignore-eos.txt",
        "cargo run --release --example 05_kv_cache -- --ignore-eos --max-tokens 200",
    ),
    refused(
        "wrong-id.txt",
        "cargo run --release --example 00_naive_loop -- --prompt-ids 0,5000",
    ),
    timed("naive.txt", "cargo run --release --example 00_naive_loop -- --max-tokens 60"),
    timed("cached.txt", "cargo run --release --example 05_kv_cache -- --max-tokens 60"),
    printed(
        "naive-hash.txt",
        "cargo run --release --example 00_naive_loop -- --max-tokens 60 --json | grep -oE '[0-9a-f]{64}'",
    ),
    printed(
        "cached-hash.txt",
        "cargo run --release --example 05_kv_cache -- --max-tokens 60 --json | grep -oE '[0-9a-f]{64}'",
    ),
    printed(
        "scalar-hash.txt",
        "cargo run --release --example 05_kv_cache -- --max-tokens 60 --chunk 1 --threads 1 --simd scalar --json | grep -oE '[0-9a-f]{64}'",
    ),
    timed("compare.txt", "cargo run --release --example 05_kv_cache -- --compare"),
    timed("decode-step.txt", "cargo bench --bench generation -- --quick \"decode step\""),
    printed("greedy.txt", "cargo run --release --example 01_greedy"),
    printed("greedy-loops.txt", "cargo xtask greedy-loops"),
    // The first of these makes the model that the others write with.
    printed("shallow.txt", "cargo xtask shallow-checkpoint --layers 2 --out data/shallow"),
    printed(
        "shallow-loop.txt",
        "cargo run --release --example 01_greedy -- --model data/shallow --steps 0 --max-tokens 60",
    ),
    printed("shallow-loops.txt", "cargo xtask greedy-loops --model data/shallow"),
    printed(
        "score.txt",
        "cargo run --release --example 05_kv_cache -- --score --logprobs 3 --prompt \"Once upon a time, there was a small fox named Pip.\"",
    ),
    printed(
        "beam.txt",
        "cargo run --release --example 01_greedy -- --steps 0 --beams 4 --max-tokens 40",
    ),
    printed("top-k.txt", "cargo run --release --example 02_top_k"),
    printed(
        "top-k-open.txt",
        "cargo run --release --example 02_top_k -- --k 5 --max-tokens 1 --prompt \"Once upon a time, there was a\"",
    ),
    printed(
        "top-k-tail.txt",
        "cargo run --release --example 02_top_k -- --seed 11 --k 5 --max-tokens 200",
    ),
    printed("guidance-top-k.txt", "cargo xtask guidance --top-k 1,2,5,10,40,200"),
    refused("k-zero.txt", "cargo run --release --example 02_top_k -- --k 0"),
    printed(
        "seed.txt",
        "cargo run --release --example 02_top_k -- --seed 1 --k 2 --max-tokens 1",
    ),
    timed("sampling-bench.txt", "cargo bench --bench sampling -- --quick"),
    drawn(
        &["top-k.svg"],
        "cargo run --release --features plot --example 02_top_k -- --chart top-k.svg",
    ),
    drawn(
        &["temperature.svg"],
        "cargo run --release --features plot --example 03_temperature -- --chart temperature.svg",
    ),
    drawn(
        &["entropy.svg"],
        "cargo run --release --features plot --example 03_temperature -- --curve entropy.svg",
    ),
    drawn(
        &["top-p.svg"],
        "cargo run --release --features plot --example 04_top_p -- --max-tokens 120 --chart top-p.svg",
    ),
    printed("temperature.txt", "cargo run --release --example 03_temperature"),
    printed(
        "temperature-limits.txt",
        "cargo run --release --example 03_temperature -- --temperatures 0,1,1000 --max-tokens 0",
    ),
    refused(
        "temperature-refused.txt",
        "cargo run --release --example 03_temperature -- --temperature -1",
    ),
    printed(
        "hot-top-p.txt",
        "cargo run --release --example 03_temperature -- --top-p 0.9 --temperatures 0.5,1,1.5,2 --max-tokens 1 --prompt \"Once upon a time, there was a\"",
    ),
    printed(
        "hot-min-p.txt",
        "cargo run --release --example 03_temperature -- --min-p 0.1 --temperatures 0.5,1,1.5,2 --max-tokens 1 --prompt \"Once upon a time, there was a\"",
    ),
    printed(
        "typical.txt",
        "cargo run --release --example 03_temperature -- --typical-p 0.5 --temperature 1 --max-tokens 1 --prompt \"Once upon a time, there was a\"",
    ),
    printed(
        "repetition.txt",
        "cargo run --release --example 01_greedy -- --steps 0 --max-tokens 120 --repetition-penalty 2",
    ),
    printed("guidance.txt", "cargo xtask guidance"),
    timed(
        "too-hot.txt",
        "cargo run --release --example 05_kv_cache -- --temperature 2 --top-p 1 --max-tokens 40",
    ),
    timed(
        "batching.txt",
        "cargo run --release --example 06_batching -- --prompt \"One day\" --prompt \"Once upon a time, there was a very small fox\" --max-tokens 30",
    ),
    printed(
        "batch-hashes.txt",
        "cargo run --release --example 06_batching -- --prompt \"One day\" --prompt \"Once upon a time, there was a very small fox\" --max-tokens 30 --json | grep -oE '[0-9a-f]{64}'",
    ),
    printed(
        "alone-hash.txt",
        "cargo run --release --example 05_kv_cache -- --seed 43 --prompt \"Once upon a time, there was a very small fox\" --max-tokens 30 --json | grep -oE '[0-9a-f]{64}'",
    ),
    timed("streaming.txt", "cargo run --release --example 07_streaming"),
    timed("kernels.txt", "cargo run --release --example 11_kernels"),
    printed("kernels-bits.txt", "cargo run --release --example 11_kernels -- --bits"),
    timed("tried.txt", "cargo bench --bench tried -- --quick"),
    Output {
        figures: &["batch-sizes.svg"],
        ..timed(
            "batch-sizes.txt",
            "cargo run --release --features plot --example 06_batching -- --compare --chart batch-sizes.svg",
        )
    },
    printed("top-p.txt", "cargo run --release --example 04_top_p"),
    // The appendix.
    printed("burn.txt", "cargo run --release --example burn"),
    printed("corpus.txt", "cargo xtask corpus --count 2000 --show 2"),
    drawn(&["loss.svg"], "cargo xtask loss-chart loss.svg"),
    timed("prefill.txt", "cargo bench --bench generation -- --quick prefill"),
    timed("f16.txt", "cargo run --release --example 05_kv_cache -- --dtype f16"),
    on_request("peers.md", "cargo xtask bench --peers"),
    Output {
        figures: &["roofline-ember.svg"],
        ..on_request("roofline.md", "cargo xtask roofline --chart roofline-ember.svg")
    },
];

pub fn run(args: &FiguresArgs) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the root")?;
    let book = root.join("book/src");
    let pages = pages(&book)?;
    let mut wrong = Vec::new();
    let is_wanted = |output: &&Output| match args.only.as_str() {
        "" => !output.on_request,
        only => output.command.contains(only),
    };
    for output in OUTPUTS.iter().filter(is_wanted) {
        eprintln!("$ {}", output.command);
        if !pages.contains(output.command) {
            wrong.push(format!("no page shows `{}`", output.command));
        }
        let folder = tempfile::tempdir()?;
        let text = execute(output, folder.path(), root)?;
        wrong.extend(
            lines_of_cargo(&text)
                .map(|line| format!("`{}` prints a line of cargo's own: {line}", output.command)),
        );
        if let Some(file) = output.file {
            if !pages.contains(&format!("output/{file}}}}}")) {
                wrong.push(format!("no page includes output/{file}"));
            }
            let kept = book.join("output").join(file);
            if !args.check {
                write(&kept, text.as_bytes())?;
            } else if !output.agrees(&fs::read_to_string(&kept).unwrap_or_default(), &text) {
                wrong.push(format!("{} differs:\n{text}", kept.display()));
            }
        }
        for figure in output.figures {
            let drawn = fs::read(folder.path().join(figure))
                .with_context(|| format!("`{}` draws no {figure}", output.command))?;
            if !pages.contains(&format!("(figures/{figure})")) {
                wrong.push(format!("no page shows figures/{figure}"));
            }
            let kept = book.join("figures").join(figure);
            if !args.check {
                write(&kept, &drawn)?;
            } else if !output.shows(&fs::read(&kept).unwrap_or_default(), &drawn) {
                wrong.push(format!("{} differs", kept.display()));
            }
        }
    }
    ensure!(
        wrong.is_empty(),
        "{}\nrun `cargo xtask figures` and look at what changed",
        wrong.join("\n")
    );
    Ok(())
}

/// All pages, one after the other.
fn pages(book: &Path) -> Result<String> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(book)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    paths.iter().map(|path| Ok(fs::read_to_string(path)?)).collect()
}

/// Runs a `cargo` command in `folder` and returns what it prints: standard output, then
/// standard error, which is where the examples put their summaries.
fn execute(output: &Output, folder: &Path, root: &Path) -> Result<String> {
    let Output { command, exit_code, figures, .. } = *output;
    let (command, filter) = match command.split_once(" | ") {
        Some((command, filter)) => (command, Some(filter)),
        None => (command, None),
    };
    let words = shlex::split(command).context("quotes that do not match")?;
    let [cargo, subcommand, rest @ ..] = words.as_slice() else {
        bail!("`{command}` is too short");
    };
    ensure!(cargo == "cargo", "`{command}` is not a command of cargo");
    // An alias is read from where cargo runs, which is not the folder of this project.
    let subcommand: &[&str] = match subcommand.as_str() {
        "run" => &["run", "--quiet"],
        "bench" => &["bench", "--quiet"],
        "xtask" => &["run", "--quiet", "--release", "--package", "xtask"],
        other => bail!("`cargo {other}` is not run for the book"),
    };
    let dashes: &[&str] = if words[1] == "xtask" { &["--"] } else { &[] };
    let output = Command::new("cargo")
        .args(subcommand)
        .arg("--manifest-path")
        .arg(root.join("Cargo.toml"))
        .args(dashes)
        .args(rest)
        .env("NO_COLOR", "1")
        // Where nothing is drawn, the reader's folder: paths in a command are from the root.
        .current_dir(if figures.is_empty() { root } else { folder })
        .output()?;
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

/// What `filter`, a command, makes of `text`.
fn through(filter: &str, text: &str) -> Result<String> {
    let words = shlex::split(filter).context("quotes that do not match")?;
    let (program, args) = words.split_first().context("there is no command after the bar")?;
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{filter}` does not start"))?;
    // What it prints is read after all is written, so it has to fit into a pipe.
    child.stdin.take().context("a pipe")?.write_all(text.as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "`{filter}`: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// The times that criterion found, without the change since a run before, which nobody else has.
fn bench_times(out: &str) -> String {
    let lines: Vec<&str> = out.lines().collect();
    let times = lines.iter().enumerate().filter_map(|(i, line)| {
        let (name, time) = line.split_once("time:")?;
        // A long name stands on a line of its own.
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

/// What cargo says of its own work, where a command starts it anew: that is no output of the
/// command.
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
    // Cargo ends its verbs in the twelfth column.
    let is_cargos = |line: &&str| {
        let verb = line.trim_start().split(' ').next().unwrap_or_default();
        VERBS.contains(&verb) && line.len() - line.trim_start().len() + verb.len() == 12
    };
    text.lines().filter(is_cargos)
}

/// The widest line that fits a page, and where a longer one is folded.
const WIDTH: usize = 84;

/// Folds what is too long for a page; tables are not.
fn fold(text: &str) -> String {
    let is_table = |line: &str| line.starts_with('|');
    let line = |line: &str| {
        if line.chars().count() > WIDTH && !is_table(line) {
            textwrap::fill(line, WIDTH)
        } else {
            line.trim_end().to_owned()
        }
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

/// Whether two texts differ in nothing but the last digit of their numbers, and in the bars that
/// stand for these. Another processor sums in another order, and 62.55 is then 62.5 or 62.6.
pub fn same_but_for_rounding(kept: &str, now: &str) -> bool {
    let (kept, now) = (pieces(kept), pieces(now));
    kept.len() == now.len() && kept.iter().zip(&now).all(|(a, b)| a == b || nearly(a, b))
}

/// A text cut into numbers and what stands between them, without bars and spaces.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let bars = '\u{2588}'..='\u{258F}'; // from a full block to an eighth of one
    let mut in_number = None;
    for c in text.chars() {
        if c.is_whitespace() || bars.contains(&c) {
            in_number = None;
            continue;
        }
        match pieces.last_mut().filter(|_| in_number == Some(is_number(c))) {
            Some(piece) => piece.push(c),
            None => pieces.push(c.into()),
        }
        in_number = Some(is_number(c));
    }
    pieces
}

/// Whether two numbers are written with as many decimals and differ by one in the last.
fn nearly(a: &str, b: &str) -> bool {
    let decimals = |number: &str| number.split_once('.').map_or(0, |(_, after)| after.len());
    let (Ok(x), Ok(y)) = (a.parse::<f64>(), b.parse::<f64>()) else {
        return false;
    };
    let places = decimals(a);
    places == decimals(b) && (x - y).abs() < 1.5 * 10f64.powi(-(places as i32))
}

/// Whether two SVG files draw the same, to a pixel.
fn same_figure(kept: &[u8], now: &[u8]) -> bool {
    match (std::str::from_utf8(kept), std::str::from_utf8(now)) {
        (Ok(kept), Ok(now)) => same_but_for_rounding(kept, now),
        _ => kept == now,
    }
}

/// The texts of an SVG file, from top to bottom, but for those with numbers. A measured value
/// decides which numbers stand at an axis, too.
fn labels(svg: &[u8]) -> Vec<String> {
    let svg = String::from_utf8_lossy(svg);
    let texts = svg.split('>').filter_map(|piece| piece.split('<').next());
    let texts = texts.map(|text| text.trim().to_owned());
    texts
        .filter(|text| !text.is_empty() && !text.contains(|c: char| c.is_ascii_digit()))
        .collect()
}

/// A text in which every number is a `#`, and so is every unit of time: a slower machine has
/// milliseconds where another has microseconds.
fn without_numbers(text: &str) -> String {
    let masked = |word: &str| {
        let unit = word.trim_matches(|c: char| !c.is_alphabetic());
        word.contains(|c: char| c.is_ascii_digit()) || ["ns", "µs", "ms", "s"].contains(&unit)
    };
    let line = |line: &str| {
        let words = line.split_whitespace();
        words.map(|word| if masked(word) { "#" } else { word }).collect::<Vec<_>>().join(" ")
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
    fn a_filter_gets_what_was_printed() {
        assert_eq!(through("grep -oE '[0-9]{2}'", "a 12\nb 3 45\n").unwrap(), "12\n45\n");
        assert!(through("grep -oE '[0-9]{2}'", "nothing").is_err());
    }

    #[test]
    fn times_do_not_count_but_words_do() {
        let same = |a, b| without_numbers(a) == without_numbers(b);
        assert!(same("decode 0.12 s (2238 tokens/s)", "decode   1.1 s (99 tokens/s)"));
        assert!(!same("decode 0.12 s", "prefill 0.12 s"));
        assert!(!same("1\n2", "1 2"));
        assert!(same("a/4k [900 µs 1.0 ms 1.1 ms]", "a/4k [80 ns 81 ns 82 ns]"));
    }

    #[test]
    fn the_last_digit_may_differ_and_nothing_else() {
        assert!(same_but_for_rounding("\",\"  ███▏ 62.6%  5", "\",\"  ███ 62.5%   5"));
        assert!(!same_but_for_rounding("62.6%", "62.4%"));
        assert!(!same_but_for_rounding("62.6% of 5", "62.6% in 5"));
        assert!(!same_but_for_rounding("1.0 2", "1.0"));
        assert!(!same_but_for_rounding("Once 1. One", "Once 1. Two"));
    }

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
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/output");
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
