//! `cargo xtask mutants`: bugs that others had, planted into the scheduler, must be found by its
//! test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// A bug: texts of a file, and what takes their places.
struct Mutant {
    name: &'static str,
    edits: &'static [Edit],
}

struct Edit {
    file: &'static str,
    from: &'static str,
    to: &'static str,
}

const MANAGER: &str = "kv/manager.rs";
const PREFIX: &str = "kv/prefix.rs";
const SCHEDULER: &str = "engine/scheduler.rs";

const MUTANTS: [Mutant; 12] = [
    Mutant {
        name: "a prefix hit on the whole prompt leaves no token to compute (nano-vllm #144)",
        edits: &[Edit {
            file: MANAGER,
            from: "while table.length + size < tokens.len()",
            to: "while table.length + size <= tokens.len()",
        }],
    },
    Mutant {
        name: "a block that was evicted can still be found",
        edits: &[
            Edit {
                file: PREFIX,
                from: "self.entries.remove(&block)",
                to: "self.entries.get(&block)",
            },
            Edit {
                file: PREFIX,
                from: "self.by_hash.remove(&entry.link.hash);",
                to: "let _ = entry;",
            },
        ],
    },
    Mutant {
        name: "a preempted sequence keeps its block table",
        edits: &[Edit {
            file: MANAGER,
            from: "let BlockTable { blocks, .. } = std::mem::take(table);",
            to: "let blocks = table.blocks.clone();",
        }],
    },
    Mutant {
        name: "prompts come before decodes",
        edits: &[Edit {
            file: SCHEDULER,
            from: "if self.sequences[&id].decodes() && self.is_running(id) {",
            to: "if self.sequences[&id].decodes() && self.is_running(id) && self.queued.is_empty() {",
        }],
    },
    Mutant {
        name: "a block is freed while others hold it",
        edits: &[Edit {
            file: MANAGER,
            from: "if *owners > 0 {",
            to: "if *owners > u32::MAX - 1 {",
        }],
    },
    Mutant {
        name: "a hash ignores the parent",
        edits: &[
            Edit {
                file: PREFIX,
                from: "(parent, tokens).hash(&mut hasher);",
                to: "(parent.min(0), tokens).hash(&mut hasher);",
            },
            Edit {
                file: PREFIX,
                from: "let is_hit = entry.parent == parent && *entry.tokens == *tokens;",
                to: "let is_hit = *entry.tokens == *tokens;",
            },
        ],
    },
    Mutant {
        name: "a hash collides, and the tokens are not compared",
        edits: &[
            Edit {
                file: PREFIX,
                from: "    hasher.finish()\n",
                to: "    hasher.finish() % 64\n",
            },
            Edit {
                file: PREFIX,
                from: "let is_hit = entry.parent == parent && *entry.tokens == *tokens;",
                to: "let is_hit = true;",
            },
        ],
    },
    Mutant {
        name: "a block in use stays on the list of those to evict",
        edits: &[Edit {
            file: PREFIX,
            from: "self.idle.remove(&since);",
            to: "let _ = since;",
        }],
    },
    Mutant {
        name: "a shared block is appended after one that is not full",
        edits: &[Edit {
            file: MANAGER,
            from: "if !table.length.is_multiple_of(size) || table.blocks.len() != table.length / size {",
            to: "if size == 0 {",
        }],
    },
    Mutant {
        name: "the oldest is preempted",
        edits: &[Edit {
            file: SCHEDULER,
            from: "self.running.last().copied().filter(|&last| last > id)",
            to: "self.running.first().copied().filter(|&last| last != id)",
        }],
    },
    Mutant {
        name: "a sequence that leaves keeps its blocks",
        edits: &[Edit {
            file: SCHEDULER,
            from: "self.sequences.remove(&id) {\n            self.blocks.release(&mut sequence.table);",
            to: "self.sequences.remove(&id) {\n            sequence.cached = 0;",
        }],
    },
    Mutant {
        name: "later sequences are admitted before the first in the queue",
        edits: &[Edit {
            file: SCHEDULER,
            from: "self.queued.first()",
            to: "self.queued.last()",
        }],
    },
];

/// The crate that holds the scheduler alone: it needs no other part of the library.
const MANIFEST: &str = r#"[package]
name = "slowburn"
version = "0.0.0"
edition = "2024"

[dependencies]
rand_chacha = { version = "0.10", default-features = false }
serde = { version = "1", features = ["derive"] }

[workspace]

[profile.dev]
opt-level = 2
"#;

const LIBRARY: &str = "#![allow(dead_code)]\npub mod engine;\npub mod error;\npub mod kv;\n";

const ENGINE: &str = "mod config;\nmod event;\nmod plan;\nmod scheduler;\nmod sequence;\n\
    pub use config::*;\npub use event::*;\npub use plan::*;\npub use scheduler::*;\n";

const KV: &str = "mod manager;\nmod prefix;\npub use manager::*;\npub use prefix::PrefixStats;\n";

const ERROR: &str = "#[derive(Debug)]\npub enum Error {\n    KvPoolTooSmall { tokens: usize, capacity: usize },\n}\n\
    impl std::fmt::Display for Error {\n    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {\n        \
    let Self::KvPoolTooSmall { tokens, capacity } = self;\n        \
    write!(out, \"{tokens} tokens, room for {capacity}\")\n    }\n}\n\
    pub type Result<T> = std::result::Result<T, Error>;\n";

pub fn run() -> Result<()> {
    let folder = PathBuf::from("target/mutants");
    write_crate(&folder)?;
    ensure!(
        test(&folder)?,
        "the scheduler fails its own test: see cargo test --test scheduler"
    );
    for Mutant { name, edits } in &MUTANTS {
        write_crate(&folder)?;
        for edit in *edits {
            plant(&folder, edit).with_context(|| format!("mutant: {name}"))?;
        }
        ensure!(!test(&folder)?, "the test of the scheduler does not find this bug: {name}");
        println!("found: {name}");
    }
    Ok(())
}

fn write_crate(folder: &Path) -> Result<()> {
    let source = folder.join("src");
    for part in ["src/engine", "src/kv", "tests"] {
        fs::create_dir_all(folder.join(part))?;
    }
    fs::write(folder.join("Cargo.toml"), MANIFEST)?;
    // The versions that the project has: nothing is fetched.
    fs::copy("Cargo.lock", folder.join("Cargo.lock"))?;
    fs::write(source.join("lib.rs"), LIBRARY)?;
    fs::write(source.join("error.rs"), ERROR)?;
    fs::write(source.join("engine/mod.rs"), ENGINE)?;
    fs::write(source.join("kv/mod.rs"), KV)?;
    let engine = ["config", "event", "plan", "scheduler", "sequence"]
        .map(|name| format!("engine/{name}.rs"));
    for file in engine.into_iter().chain([MANAGER.to_owned(), PREFIX.to_owned()]) {
        fs::copy(Path::new("src").join(&file), source.join(&file)).with_context(|| file)?;
    }
    fs::copy("tests/scheduler.rs", folder.join("tests/scheduler.rs"))?;
    Ok(())
}

fn plant(folder: &Path, edit: &Edit) -> Result<()> {
    let path = folder.join("src").join(edit.file);
    let text = fs::read_to_string(&path)?;
    let places = text.matches(edit.from).count();
    ensure!(places == 1, "`{}` is in src/{} {places} times, not once", edit.from, edit.file);
    fs::write(&path, text.replace(edit.from, edit.to))?;
    Ok(())
}

/// Whether the random test passes. A mutant that does not compile is an error.
fn test(folder: &Path) -> Result<bool> {
    let cargo = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(folder).arg("test").args(["--test", "scheduler"]).args(args);
        command.env_remove("CARGO_TARGET_DIR");
        command.output().context("cannot start cargo")
    };
    let built = cargo(&["--no-run"])?;
    ensure!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Ok(cargo(&["random_events"])?.status.success())
}
