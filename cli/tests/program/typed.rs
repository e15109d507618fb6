//! What is typed, set and thought.

use slowburn::sampling::SamplingParams;
use slowburn_cli::chat::{COMMANDS, Command, Error, Line, Settings};

use super::foreign_words::assert_in_words;

#[test]
fn a_line_is_a_message_or_a_command() {
    let message = |text: &str| Line::Message(text.to_owned());
    let command = Line::Command;
    let set = |name: &str, value: &str| {
        command(Command::Set { name: name.to_owned(), value: value.to_owned() })
    };
    let save = |replace| command(Command::Save { path: "a b.json".into(), replace });
    for (line, expected) in [
        ("", Line::Empty),
        (" \t\r\n", Line::Empty),
        (" Hello, /quit \n", message("Hello, /quit")),
        ("//quit", message("/quit")),
        ("/quit", command(Command::Quit)),
        ("/system", command(Command::ShowSystem)),
        ("/system off", command(Command::System(None))),
        ("/system  Be brief. ", command(Command::System(Some("Be brief.".to_owned())))),
        ("/set", command(Command::ShowSettings)),
        ("/set temperature 0.7", set("temperature", "0.7")),
        ("/set temperature=0.7", set("temperature", "0.7")),
        ("/set temperature = 0.7", set("temperature", "0.7")),
        ("/save a b.json", save(false)),
        ("/save! a b.json", save(true)),
        ("/load x", command(Command::Load("x".into()))),
        ("/think", command(Command::Think)),
    ] {
        assert_eq!(Line::parse(line).unwrap(), expected, "{line:?}");
    }
    for (line, expected) in [
        ("/", "there is no command /"),
        ("/home/me is full", "there is no command /home/me"),
        ("/set temperature", "/set temperature 0.7"),
        ("/save", "/save chat.json"),
        ("/load", "/load chat.json"),
    ] {
        let error = Line::parse(line).unwrap_err().to_string();
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn every_command_that_help_names_is_one() {
    for (usage, _) in COMMANDS {
        let line = usage.replace("NAME VALUE", "seed 1");
        assert!(matches!(Line::parse(&line), Ok(Line::Command(_))), "{usage}");
    }
}

#[test]
fn settings_are_changed_within_their_ranges() {
    let sampling = SamplingParams::default();
    let mut settings = Settings { sampling, max_tokens: None, max_reasoning_tokens: None };
    for (name, value) in [
        ("temperature", "0.7"),
        ("top_k", "40"),
        ("top_p", "0.9"),
        ("min_p", "0.05"),
        ("typical_p", "0.5"),
        ("repetition_penalty", "1.1"),
        ("frequency_penalty", "0.1"),
        ("presence_penalty", "-0.1"),
        ("seed", "18446744073709551615"),
        ("max_tokens", "100"),
        ("max_reasoning_tokens", "0"),
    ] {
        settings.set(name, value).unwrap();
        let shown = settings.rows().into_iter().find(|(shown, _)| *shown == name).unwrap();
        assert_eq!(shown.1, value, "{name}");
    }
    for name in [
        "top-k",
        "top_p",
        "min_p",
        "typical_p",
        "max-tokens",
        "max_reasoning_tokens",
    ] {
        settings.set(name, "off").unwrap();
    }
    assert_eq!(settings.rows().iter().filter(|(_, value)| value == "off").count(), 6);
    let before = settings.clone();
    let mut errors = Vec::new();
    for (name, value, expected) in [
        ("temperature", "-1", "temperature is -1, but must be 0 or greater"),
        ("temperature", "hot", "temperature is hot, but must be a number"),
        ("temperature", "off", "temperature is off"),
        ("top_k", "0", "top_k is 0"),
        ("top_p", "1.5", "top_p is 1.5"),
        ("top_p", "", "top_p is "),
        ("seed", "-1", "seed is -1, but must be a whole number"),
        ("max_tokens", "0", "max_tokens is 0"),
        ("colour", "red", "it must be one of temperature, top_k, "),
    ] {
        let error = settings.set(name, value).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(settings, before, "{name}");
        errors.push(error);
    }
    errors.push(Error::ContextFull { tokens: 9, context: 7 }.to_string());
    errors.push(Error::NothingToUndo.to_string());
    errors.push(Error::NothingToRetry.to_string());
    assert_in_words(&errors);
}
