//! The state of a conversation.

use std::io;

use slowburn::tokenizer::{Message, Role};
use slowburn_cli::chat::{Answer, Conversation, Error, file};

use super::*;

fn answer(text: &str) -> Answer {
    Answer { text: text.to_owned(), thought: None }
}

/// A conversation of these questions and answers.
fn conversation(turns: &[(&str, &str)]) -> Conversation {
    let mut conversation = Conversation::default();
    for (question, text) in turns {
        let question = conversation.ask(*question);
        conversation.answer(question, answer(text));
    }
    conversation
}

fn texts(messages: &[Message]) -> Vec<(Role, &str)> {
    messages
        .iter()
        .map(|message| (message.role, message.content.as_deref().unwrap()))
        .collect()
}

#[test]
fn turns_follow_the_system_message() {
    let mut conversation = conversation(&[("a", "b")]);
    conversation.system = Some("s".to_owned());
    let question = conversation.ask("c");
    let expected = [
        (Role::System, "s"),
        (Role::User, "a"),
        (Role::Assistant, "b"),
        (Role::User, "c"),
    ];
    assert_eq!(texts(&conversation.messages(&question)), expected);
    // A question alone changes nothing.
    assert_eq!(texts(&conversation.all()), expected[..3]);
    conversation.clear();
    assert_eq!(texts(&conversation.all()), expected[..1]);
}

#[test]
fn an_answer_that_is_asked_for_again_takes_the_place_of_the_last() {
    let mut conversation = conversation(&[("a", "b"), ("c", "d")]);
    let again = conversation.again().unwrap();
    let expected = [(Role::User, "a"), (Role::Assistant, "b"), (Role::User, "c")];
    assert_eq!(texts(&conversation.messages(&again)), expected);
    // Without an answer, that of before stays.
    conversation.fail(again);
    assert_eq!(conversation.turns(), 2);
    let again = conversation.again().unwrap();
    assert_eq!(again.text, "c");
    conversation.answer(again, answer("e"));
    assert_eq!(conversation.turns(), 2);
    assert_eq!(texts(&conversation.all())[3], (Role::Assistant, "e"));
    assert_eq!(Conversation::default().again(), None);
}

#[test]
fn a_question_without_an_answer_can_be_asked_again_or_taken_back() {
    let mut conversation = conversation(&[("a", "b")]);
    conversation.fail(conversation.ask("c"));
    // It is in no other prompt.
    let next = conversation.ask("d");
    assert_eq!(texts(&conversation.messages(&next)).len(), 3);
    let again = conversation.again().unwrap();
    assert_eq!((again.text.as_str(), conversation.messages(&again).len()), ("c", 3));
    assert_eq!(conversation.undo().as_deref(), Some("c"));
    assert_eq!(conversation.undo().as_deref(), Some("a"));
    assert_eq!(conversation.undo(), None);
    assert_eq!(conversation.turns(), 0);
}

#[test]
fn what_is_saved_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder, "chat.json");
    let mut first = conversation(&[("a\n\"b\"", "c")]);
    first.system = Some("s".to_owned());
    let thoughtful = Answer { text: "e".to_owned(), thought: Some("hm".to_owned()) };
    first.answer(first.ask("d"), thoughtful);
    first.fail(first.ask("f"));
    file::save(&first, &path, false).unwrap();
    assert_eq!(file::load(&path).unwrap(), first);

    let again = conversation(&[("x", "y")]);
    let error = file::save(&again, &path, false).unwrap_err().to_string();
    assert!(error.contains("is there already") && error.contains("/save!"), "{error}");
    assert_eq!(file::load(&path).unwrap(), first);
    file::save(&again, &path, true).unwrap();
    assert_eq!(file::load(&path).unwrap(), again);
    // Nothing else is left of it.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let nowhere = in_folder(&folder, "none/chat.json");
    let error = file::save(&again, &nowhere, false).unwrap_err().to_string();
    assert!(error.starts_with("cannot write"), "{error}");
}

#[test]
fn what_is_no_conversation_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = in_folder(&folder, "chat.json");
    let message = |role: &str| format!(r#"{{"role": "{role}", "content": "x"}}"#);
    let (user, assistant, system) = (message("user"), message("assistant"), message("system"));
    let mut errors = Vec::new();
    for (json, expected) in [
        ("", "it ends early, in line 1"),
        ("[{]", "it is not JSON, in line 1, column 3"),
        ("{}", "in line 1, column 0"),
        (r#"[{"role": "user"}]"#, "in line 1"),
        (r#"[{"role": "user", "content": "x", "tools": 1}]"#, "in line 1"),
        (
            &format!("[{assistant}]"),
            "message 1 is by the assistant, but must be by the user",
        ),
        (
            &format!("[{user}, {user}]"),
            "message 2 is by the user, but must be by the assistant",
        ),
        (&format!("[{user}, {assistant}, {system}]"), "message 3 is by the system"),
        (&format!("[{}]", message("tool")), "message 1 is by the tool"),
    ] {
        fs::write(&path, json).unwrap();
        let error = file::load(&path).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("chat.json"), "{json}: {error}");
        errors.push(error);
    }
    fs::write(&path, [255]).unwrap();
    errors.push(file::load(&path).unwrap_err().to_string());
    errors.push(file::load(&in_folder(&folder, "none.json")).unwrap_err().to_string());
    foreign_words::assert_in_words(&errors);
}

/// The other errors of a conversation, beside those of the model.
#[test]
fn every_message_is_in_words() {
    let of_system = || io::Error::from_raw_os_error(20);
    let path = || PathBuf::from("talk.json");
    let errors = [
        Error::ContextFull { tokens: 2049, context: 2048 },
        Error::NoCommand { name: "/halp".to_owned() },
        Error::Incomplete { command: "/save", example: "FILE" },
        Error::NoSetting { name: "temp".to_owned(), names: "seed, stop".to_owned() },
        Error::NothingToUndo,
        Error::NothingToRetry,
        Error::Exists { path: path() },
        Error::Write { path: path(), source: of_system() },
        Error::Read { path: path(), source: of_system() },
        Error::Input(of_system()),
        Error::Output(of_system()),
    ];
    foreign_words::assert_in_words(&errors.map(|error| error.to_string()));
}
