//! A conversation in a terminal.

use rexpect::session::{PtySession, spawn_command};

use super::*;

/// Starts the program in a terminal of its own, with this folder for its data.
fn terminal(args: &[&str], data: &TempDir) -> PtySession {
    let mut command = program(args);
    command.env("XDG_DATA_HOME", data.path()).env("HOME", data.path()).env("TERM", "xterm");
    spawn_command(command, Some(60_000)).unwrap()
}

#[track_caller]
fn assert_succeeded(chat: &PtySession) {
    // `WaitStatus` has no public name.
    let status = format!("{:?}", chat.process().wait().unwrap());
    assert!(status.starts_with("Exited(") && status.ends_with(", 0)"), "{status}");
}

#[test]
fn a_conversation_is_typed() {
    let data = tempfile::tempdir().unwrap();
    let mut chat = terminal(&["chat"], &data);
    chat.exp_string("> ").unwrap();
    chat.send_line("Once upon a time").unwrap();
    chat.exp_string("prompt tokens from the cache").unwrap();
    chat.exp_string("> ").unwrap();
    // A command is completed, and the line before is in the history.
    chat.send("/tok\t").unwrap();
    chat.flush().unwrap();
    chat.exp_string("/tokens").unwrap();
    chat.send_line("").unwrap();
    chat.exp_string("tokens in 1 turn").unwrap();
    chat.exp_string("> ").unwrap();
    chat.send_control('c').unwrap();
    chat.exp_string("Ctrl-D or /quit ends the program").unwrap();
    chat.exp_string("> ").unwrap();
    chat.send_control('d').unwrap();
    assert_succeeded(&chat);
    let history = data.path().join(if cfg!(target_os = "macos") {
        "Library/Application Support/slowburn/chat-history"
    } else {
        "slowburn/chat-history"
    });
    let history = fs::read_to_string(history).unwrap();
    assert!(history.contains("Once upon a time\n/tokens\n"), "{history}");
}

#[test]
fn ctrl_c_ends_the_answer_and_not_the_program() {
    let data = tempfile::tempdir().unwrap();
    let folder = ember("{% for m in messages %}{{ m.content }}{% endfor %}");
    // Slow, and without an end.
    let slow = [
        "--threads",
        "1",
        "--simd",
        "scalar",
        "--logit-bias",
        "1=-100",
    ];
    let args = [
        &["chat", "--no-history", "--model", text(folder.path())][..],
        &slow,
    ]
    .concat();
    let mut chat = terminal(&args, &data);
    chat.exp_string("> ").unwrap();
    chat.send_line("Once upon a time there").unwrap();
    chat.exp_string("time there").unwrap();
    chat.exp_regex("[a-z]+ [a-z]+ [a-z]+ ").unwrap();
    chat.send_control('c').unwrap();
    chat.exp_string(", stopped").unwrap();
    chat.exp_string("> ").unwrap();
    // What was written until then is the answer.
    chat.send_line("/tokens").unwrap();
    chat.exp_string("tokens in 1 turn").unwrap();
    chat.send_line("/quit").unwrap();
    assert_succeeded(&chat);
    assert!(!data.path().join("slowburn/chat-history").exists());
}
