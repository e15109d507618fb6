//! `watch` goes on to the next exercise when one is saved and passes.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use crate::small_project::SmallProject;

struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(project: &SmallProject) -> Self {
        let mut command = project.command("exercises", &["watch"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in stdout.lines() {
                sender.send(line.unwrap()).unwrap();
            }
        });
        Self { child, lines }
    }

    /// Waits for a line that holds `part`.
    fn expect(&self, part: &str) {
        let mut before = String::new();
        while let Ok(line) = self.lines.recv_timeout(Duration::from_secs(60)) {
            before += &line;
            before.push('\n');
            if line.contains(part) {
                return;
            }
        }
        panic!("no line with {part:?} came, but\n{before}");
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // It has ended where all exercises pass.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_saved_file_is_checked_and_the_next_one_is_named() {
    let project = SmallProject::new();
    let mut watching = Watching::start(&project);
    watching.expect("Next: About ties");
    watching.expect("✗ ties: 1 of 2 tests fail");
    // Another exercise than the next one.
    project.write("exercises/src/temperature/cools.rs", "broken");
    watching.expect("error: broken here");
    project.write("exercises/src/temperature/cools.rs", "right");
    watching.expect("✓ cools passes");
    watching.expect("Next: About ties");
    project.write("exercises/src/top_k/ties.rs", "right");
    watching.expect("✓ ties passes");
    watching.expect("All exercises pass");
    assert!(watching.child.wait().unwrap().success());
}
