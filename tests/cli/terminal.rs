//! What a person sees: the screen after an example has run, on terminals of several widths.

use std::io::Read;

use pty_process::Size;
use pty_process::blocking::{Command, open};

use crate::common::program::example;

/// The lines of a terminal with `columns` columns, as long as they were written.
fn screen(columns: u16, name: &str, args: &[&str]) -> Vec<String> {
    let (mut terminal, end) = open().unwrap();
    terminal.resize(Size::new(24, columns)).unwrap();
    let program = Command::new(example(name).get_program()).args(args).env("TERM", "xterm");
    let mut child = program.spawn(end).unwrap();
    let mut bytes = Vec::new();
    // The end is an error: nobody holds the other side any more.
    let _ = terminal.read_to_end(&mut bytes);
    assert!(child.wait().unwrap().success(), "{name} {args:?}");
    lines(&String::from_utf8(bytes).unwrap())
}

/// What is left of a text in which the cursor goes back, up, and erases.
fn lines(text: &str) -> Vec<String> {
    let (mut lines, mut rest): (Vec<Vec<char>>, _) = (vec![Vec::new()], text);
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\n' => lines.push(Vec::new()),
            '\r' => {}
            '\x1b' => {
                let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap();
                let count = rest[1..end].parse().unwrap_or(1);
                match &rest[end..=end] {
                    "D" => {
                        let line = lines.last_mut().unwrap();
                        line.truncate(line.len() - count);
                    }
                    "A" => lines.truncate(lines.len() - count),
                    "J" => lines.last_mut().unwrap().clear(),
                    // Colours and the like take no room, and what "K" erases is gone already.
                    _ => {}
                }
                rest = &rest[end + 1..];
            }
            c => lines.last_mut().unwrap().push(c),
        }
    }
    lines.iter().map(|line| line.iter().collect()).collect()
}

fn widest(lines: &[String]) -> usize {
    lines.iter().map(|line| line.trim_end().chars().count()).max().unwrap()
}

#[test]
fn a_story_is_wrapped_at_words() {
    let story = ["--prompt", "Once upon a time"];
    let words = |lines: &[String]| -> Vec<String> {
        lines.join(" ").split_whitespace().map(str::to_owned).collect()
    };
    let wide = screen(u16::MAX, "05_kv_cache", &story);
    // The numbers behind the story differ from run to run.
    let (told, end) = (words(&wide), "medicine,\" she said.");
    let count = told.join(" ").find(end).unwrap() + end.len();
    for columns in [60, 80, 120] {
        let found = screen(columns, "05_kv_cache", &story);
        assert!(widest(&found) < usize::from(columns), "{found:#?}");
        assert_eq!(words(&found).join(" ")[..count], told.join(" ")[..count]);
    }
}

/// Tables too: none is wider than 79 columns.
#[test]
fn what_is_printed_fits_into_80_columns() {
    let long = "--max-tokens=40";
    for (name, args) in [
        ("00_naive_loop", &[long] as &[_]),
        ("01_greedy", &[long]),
        ("01_greedy", &["--beams=4", long]),
        ("02_top_k", &[long]),
        ("03_temperature", &[long]),
        ("04_top_p", &[long]),
        ("05_kv_cache", &[long, "--logprobs=3"]),
        ("06_batching", &["--prompt=One day", "--prompt=Once upon a time", long]),
        ("07_streaming", &[long]),
        ("08_scheduler", &[]),
        ("08_scheduler", &["--compare"]),
        ("09_paged_kv", &[long]),
        ("10_kernels", &[]),
        ("10_kernels", &["--bits"]),
        ("12_quantized", &[]),
        ("13_guess_ahead", &[]),
        ("14_other_models", &["--part=layers"]),
        ("14_other_models", &["--part=windows", "--tokens=128"]),
        ("14_other_models", &["--part=experts"]),
        ("14_other_models", &["--part=rope"]),
        ("states", &[]),
        ("15_constrained", &[]),
        ("tokens", &[]),
    ] {
        let found = screen(80, name, args);
        assert!(widest(&found) < 80, "{name} {args:?}: {found:#?}");
    }
}
