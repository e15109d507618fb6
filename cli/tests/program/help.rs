//! Help, and what is made of the command line.

use super::foreign_words::assert_in_words;
use super::*;

const COMMANDS: [&str; 9] = [
    "run",
    "chat",
    "serve",
    "score",
    "tokens",
    "models",
    "merge",
    "completions",
    "man",
];

#[test]
fn short_help_is_one_screen() {
    let all = COMMANDS.iter().map(|name| vec![*name, "-h"]).chain([vec!["-h"]]);
    for args in all {
        let help = succeed(&args, "").stdout;
        assert!(help.lines().count() <= 24, "{args:?}:\n{help}");
        for line in help.lines() {
            assert!(line.chars().count() <= 79, "{args:?}: {line}");
        }
    }
}

#[test]
fn help_has_every_flag_and_the_top_level_five_examples() {
    for (args, expected) in [
        (&["run", "--help"][..], &["--prompt-ids", "--regex", "--draft", "--simd"][..]),
        (&["chat", "--help"], &["--fold-thoughts", "--chat-arg", "--draft", "--simd"]),
        (&["serve", "--help"], &["--drain-timeout", "[env: SLOWBURN_PORT=]", "--simd"]),
        (&["help", "score"], &["--logprobs"]),
    ] {
        let help = succeed(args, "").stdout;
        for part in expected {
            assert!(help.contains(part), "{args:?}: {part} is not in:\n{help}");
        }
    }
    let help = succeed(&["--help"], "").stdout;
    let (before, examples) = help.split_once("Examples:\n").unwrap();
    assert_eq!(examples.lines().filter(|line| line.contains("slowburn ")).count(), 5);
    for name in COMMANDS {
        assert!(before.contains(&format!("\n  {name}")), "{help}");
    }
    assert!(succeed(&["--version"], "").stdout.starts_with("slowburn "));
}

/// A wrong value of each flag whose values are not just any text or path, also where it is one of the
/// server's.
#[test]
fn a_wrong_value_is_told_which_ones_are_right() {
    const ANY: [&str; 10] = [
        "TEXT", "FILE", "DIR", "NAME", "MODEL", "REGEX", "PROMPT", "KEYS", "LEVEL", "ADDRESS",
    ];
    let mut messages = Vec::new();
    for command in slowburn_cli::command().get_subcommands() {
        let takes_any = |arg: &clap::Arg| {
            let name = arg.get_value_names().and_then(|names| names.first());
            name.is_none_or(|name| ANY.contains(&name.as_str()))
        };
        let flags = command.get_arguments().filter(|arg| arg.get_action().takes_values());
        for flag in flags.filter(|arg| !takes_any(arg)).filter_map(clap::Arg::get_long) {
            for wrong in ["x y", "-x", "1?", "99999999999999999999999999x", ""] {
                let given = ["slowburn".to_owned(), format!("--{flag}={wrong}")];
                // An empty list is one.
                if wrong.is_empty() && flag == "prompt-ids" {
                    continue;
                }
                let error = match command.clone().try_get_matches_from(given) {
                    Err(error) => error.to_string(),
                    Ok(_) => panic!("{} takes --{flag}={wrong}", command.get_name()),
                };
                let (message, _) = error.split_once("\n\nFor more").unwrap_or((&error, ""));
                messages.push(message.trim_end().replace('\n', " "));
            }
        }
    }
    messages.sort();
    messages.dedup();
    assert!(messages.len() > 150, "{}", messages.len());
    assert_in_words(&messages);
}

#[test]
fn a_wrong_command_line_exits_with_2() {
    for (args, expected) in [
        (&["rum"][..], "run"),
        (&[], "Usage: slowburn <COMMAND>"),
        (&["run", "--nonsense"], "Usage: slowburn run"),
        (&["chat", "word"], "Usage: slowburn chat"),
        (&["serve", "--port", "x"], "--port"),
        (&["run", "--score", "--speculate", "lookup"], "cannot be used with"),
        (&["completions", "cmd"], "bash"),
    ] {
        let found = pipe(args, "");
        assert_eq!(found.code, Some(2), "{args:?}: {}", found.stderr);
        assert!(found.stderr.contains(expected), "{args:?}: {}", found.stderr);
    }
}

#[test]
fn the_prompt_is_words_or_standard_input() {
    let words = succeed(&["run", "Once", "upon", "a time", "--max-tokens", "8"], "").stdout;
    assert!(words.starts_with("Once upon a time"), "{words}");
    for input in [
        "Once upon a time\n",
        "Once upon a time",
        "Once upon a time\r\n",
    ] {
        assert_eq!(succeed(&["run", "-", "--max-tokens", "8"], input).stdout, words);
    }
    let tokens = |input| succeed(&["tokens", "--json", "-"], input).stdout;
    assert_eq!(tokens("Hello"), succeed(&["tokens", "--json", "Hello"], "").stdout);
    let score = succeed(&["score", "--json", "Once upon a time"], "").stdout;
    let same = succeed(&["run", "--score", "--json", "Once upon a time"], "").stdout;
    assert_eq!(score, same);
}

#[test]
fn shells_complete_it_and_man_has_pages() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = succeed(&["completions", shell], "").stdout;
        for word in ["slowburn", "chat", "temperature"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert!(succeed(&["man"], "").stdout.contains(".TH slowburn 1"));
    let folder = tempfile::tempdir().unwrap();
    succeed(&["man", text(folder.path())], "");
    let page = fs::read_to_string(in_folder(&folder, "slowburn-chat.1")).unwrap();
    assert!(page.contains("temperature"), "{page}");
}
