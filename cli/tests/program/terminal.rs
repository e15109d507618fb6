//! A conversation in a terminal.

use std::io::Read;
use std::process::Child;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use pty_process::Size;
use pty_process::blocking::{Command as InTerminal, Pty, open};

use super::*;

/// The program in a terminal, and what of its output was not looked at yet.
struct Terminal {
    pty: Pty,
    child: Child,
    output: String,
    /// Dropped at the end, so that nobody waits to end the program.
    _ends: Sender<()>,
}

impl Terminal {
    /// Starts the program, with this folder for its data.
    fn start(args: &[&str], data: &TempDir) -> Self {
        let (pty, end) = open().unwrap();
        pty.resize(Size::new(24, 80)).unwrap();
        let command = InTerminal::new(env!("CARGO_BIN_EXE_slowburn")).args(args);
        let command = command.env("XDG_DATA_HOME", data.path()).env("HOME", data.path());
        let command = command.env("TERM", "xterm").env("NO_COLOR", "1").env_remove("BURN_DEVICE");
        let child = command.spawn(end).unwrap();
        // What never comes ends the program, and with it the test.
        let (ends, ended) = mpsc::channel();
        let id = child.id().to_string();
        thread::spawn(move || {
            if ended.recv_timeout(Duration::from_secs(120)) == Err(mpsc::RecvTimeoutError::Timeout)
            {
                let _ = Command::new("kill").args(["-KILL", &id]).status();
            }
        });
        Self { pty, child, output: String::new(), _ends: ends }
    }

    fn send(&mut self, text: &str) {
        self.pty.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until this was written, behind what was waited for before.
    #[track_caller]
    fn expect(&mut self, expected: &str) {
        let mut bytes = [0; 4096];
        loop {
            if let Some(place) = self.output.find(expected) {
                self.output.drain(..place + expected.len());
                return;
            }
            match self.pty.read(&mut bytes) {
                Ok(count @ 1..) => self.output += &String::from_utf8_lossy(&bytes[..count]),
                _ => panic!("{expected:?} never came behind {:?}", self.output),
            }
        }
    }

    #[track_caller]
    fn succeed(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

#[test]
fn a_conversation_is_typed() {
    let data = tempfile::tempdir().unwrap();
    let mut chat = Terminal::start(&["chat"], &data);
    chat.expect("> ");
    chat.send("Once upon a time\r");
    chat.expect("prompt tokens from the cache");
    chat.expect("> ");
    // A command is completed, and the line before is in the history.
    chat.send("/tok\t");
    chat.expect("/tokens");
    chat.send("\r");
    chat.expect("tokens in 1 turn");
    chat.expect("> ");
    chat.send(CTRL_C);
    chat.expect("Ctrl-D or /quit ends the program");
    chat.expect("> ");
    chat.send(CTRL_D);
    chat.succeed();
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
    let mut chat = Terminal::start(&args, &data);
    chat.expect("> ");
    chat.send("Once upon a time there\r");
    chat.expect("time there");
    chat.expect("\n");
    chat.expect(" ");
    chat.send(CTRL_C);
    chat.expect(", stopped");
    chat.expect("> ");
    // What was written until then is the answer.
    chat.send("/tokens\r");
    chat.expect("tokens in 1 turn");
    chat.send("/quit\r");
    chat.succeed();
    assert!(!data.path().join("slowburn/chat-history").exists());
}
