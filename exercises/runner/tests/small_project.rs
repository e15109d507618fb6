//! A project with two exercises, where a file passes if it holds the word `right`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

pub const STUB: &str = "//! A stub.\n\npub fn f() {\n    todo!()\n}\n";

/// Cargo, as far as the runner needs it: it names the test binary, or says what does not compile.
const CARGO: &str = r#"#!/bin/sh
echo "$*" >> builds
[ "$1" != rustc ] || echo "yours: $YOUR_ENGINE" >> builds
package=$(echo "$*" | sed 's/.* -p \([^ ]*\).*/\1/')
for file in exercises/src/*/*.rs; do
    if [ "$1" = test ] && grep -q broken "$file"; then
        echo '{"reason":"compiler-message","target":{"name":"'$package'"},"message":{"level":"error","rendered":"error: broken here","spans":[{"is_primary":true,"file_name":"'$file'"}]}}'
        exit 101
    fi
done
echo '{"executable":"'$PWD'/engine","profile":{"test":false},"target":{"name":"'$package'"}}'
echo '{"executable":"'$PWD'/tests","profile":{"test":true},"target":{"name":"'$package'"}}'
"#;

/// A test binary of two tests for each exercise: the first always passes.
const TESTS: &str = r#"#!/bin/sh
echo "$1" >> runs
module=$1
file=exercises/src/$(echo "$module" | sed 's|::|/|; s|_tests::|.rs|')
if grep -q crash "$file"; then
    echo "test ${module}first ... ok"
    if grep -q late "$file"; then echo "test ${module}second ... FAILED"; fi
    echo "stack overflow" >&2
    exit 134
fi
if grep -q hungry "$file"; then
    echo "test ${module}first ... ok"
    echo "memory allocation of 4294967296 bytes failed" >&2
    kill -ABRT $$
fi
echo "test ${module}first ... ok"
if grep -q limits "$file"; then
    echo "test ${module}limit_great ... FAILED"
    if grep -q right "$file"; then
        echo "test ${module}second ... ok
---- ${module}limit_great stdout ----

rule: no sum overflows

failures:"
        exit 101
    fi
    echo "---- ${module}limit_great stdout ----

rule: no sum overflows
"
elif grep -q right "$file"; then
    echo "test ${module}second ... ok"
    exit 0
fi
echo "test ${module}second ... FAILED
failures:

---- ${module}second stdout ----

thread '${module}second' (1) panicked at exercises/src/x/../../suite/x/y.rs:3:4:

rule: it is right
given:
  x = 1
expected:
  2
found:
  3

note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace

failures:
    ${module}second

test result: FAILED. 1 passed; 1 failed
"
exit 101
"#;

/// An engine whose story is not the book's while `rope` holds the word `odd`. While it holds
/// `refused`, there is none.
const ENGINE: &str = r#"#!/bin/sh
echo "a story" "$@"
if grep -q endless exercises/src/model/rope.rs; then kill -ABRT $$; fi
if grep -q odd exercises/src/model/rope.rs; then exit 1; fi
if grep -q refused exercises/src/model/rope.rs; then
    echo "error: the prompt is too long" >&2
    exit 2
fi
"#;

fn entry(name: &str, chapter: &str, flags: &str) -> String {
    format!(
        "[[exercise]]\nname = {name:?}\nchapter = {chapter:?}\ntitle = \"About {name}\"\nlevel = 1\nminutes = 10\n{flags}\nhints = ['first', 'second', 'third']\n"
    )
}

pub struct SmallProject(TempDir);

impl SmallProject {
    pub fn new() -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        let manifest = entry("ties", "top_k", "short_path = true")
            + &entry("cools", "temperature", "short_path = false");
        project.write("exercises/info.toml", &manifest);
        for path in ["top_k/ties.rs", "temperature/cools.rs"] {
            project.write(&format!("exercises/src/{path}"), STUB);
            project.write(&format!("exercises/suite/{path}"), "// tests\n");
            let answer = "//! Why: it is right.\n\npub fn f() {}\n";
            project.write(&format!("solutions/src/{path}"), answer);
        }
        project.script("cargo", CARGO);
        project.script("tests", TESTS);
        project
    }

    /// A project with three parts of the engine, of which the second needs tensors.
    pub fn with_an_engine() -> Self {
        let project = Self::new();
        let (mut before, mut after) = (String::new(), String::new());
        for (chapter, name, tensors) in [
            ("model", "split_heads", true),
            ("model", "rope", false),
            ("top_p", "nucleus", false),
        ] {
            // Chapters follow the book.
            let manifest = if chapter == "model" {
                &mut before
            } else {
                &mut after
            };
            let flags = format!("short_path = true\ntensors = {tensors}");
            *manifest += &entry(name, chapter, &flags);
            project.write(&format!("exercises/src/{chapter}/{name}.rs"), STUB);
            project.write(&format!("exercises/suite/{chapter}/{name}.rs"), "// tests\n");
        }
        let between = project.read("exercises/info.toml");
        project.write("exercises/info.toml", &(before + &between + &after));
        project.write(
            "book/src/figures/engine-parts.svg",
            "<svg class=\"fig\"><tspan data-part=\"rope\">rope</tspan></svg>\n",
        );
        project.write("book/figures.css", ".fig { width: 100%; }\n");
        project.script("engine", ENGINE);
        project
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// Which tests were run, one filter a line.
    pub fn runs(&self) -> String {
        fs::read_to_string(self.path("runs")).unwrap_or_default()
    }

    /// The arguments that cargo was called with, a line for each time.
    pub fn builds(&self) -> String {
        fs::read_to_string(self.path("builds")).unwrap_or_default()
    }

    /// Adds a line to the entry of `ties`.
    pub fn add_to_ties(&self, line: &str) {
        let manifest = self.read("exercises/info.toml");
        self.write(
            "exercises/info.toml",
            &manifest.replacen("level", &format!("{line}\nlevel"), 1),
        );
    }

    pub fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"];
        let output = Command::new("git")
            .args(identity)
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// Runs the runner. Returns whether it succeeded, and all that it printed.
    pub fn run(&self, arguments: &[&str]) -> (bool, String) {
        self.run_in("exercises", arguments)
    }

    pub fn run_in(&self, folder: &str, arguments: &[&str]) -> (bool, String) {
        let output = self.command(folder, arguments).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    }

    /// The runner, as it would be started in this folder of the project.
    pub fn command(&self, folder: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_exercises"));
        command
            .args(arguments)
            .current_dir(self.path(folder))
            .env("CARGO", self.path("cargo"))
            .env_remove("NO_COLOR");
        command
    }

    fn script(&self, path: &str, text: &str) {
        self.write(path, text);
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(0o755)).unwrap();
    }
}
