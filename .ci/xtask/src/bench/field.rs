//! Finds and starts the contenders.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::candle::{self, Candle, locked_version};
use super::contender::{Contender, Engine, Peer, Program};
use super::dtype::Dtype;
use super::ours::Ours;
use super::process::Process;
use super::python;

/// The peers installed on this machine.
pub struct Field {
    peers: Vec<Found>,
    /// The peers that are not installed, with reasons.
    left_out: Vec<String>,
    threads: usize,
    /// A folder for large files of the peers.
    scratch: PathBuf,
}

/// A peer and its start command.
struct Found {
    peer: Peer,
    name: String,
    start: Start,
}

enum Start {
    Candle(Candle),
    Python {
        python: String,
        script: &'static str,
    },
}

impl Field {
    /// Looks for the `wanted` peers; missing ones are left out.
    pub fn gather(wanted: &[Peer], python: &str, threads: usize) -> Result<Self> {
        let scratch = candle::target();
        fs::create_dir_all(&scratch)
            .with_context(|| format!("cannot make {}", scratch.display()))?;
        let mut field = Self { peers: Vec::new(), left_out: Vec::new(), threads, scratch };
        for &peer in wanted {
            match find(peer, python) {
                Ok((name, start)) => field.peers.push(Found { peer, name, start }),
                Err(reason) => field.left_out.push(format!("{} ({reason})", label(peer))),
            }
        }
        Ok(field)
    }

    /// The versions of Slow Burn and of the peers, and the peers that were left out.
    pub fn describe(&self) -> String {
        let lock = include_str!("../../../../Cargo.lock");
        let version = locked_version(lock, "slowburn").unwrap_or("of an unknown version");
        let mut names = vec![format!("Slow Burn {version}")];
        names.extend(self.peers.iter().map(|found| found.name.clone()));
        let mut text = names.join(", ");
        if !self.left_out.is_empty() {
            text += &format!("\nLeft out: {}", self.left_out.join("; "));
        }
        text
    }

    /// Slow Burn with each of the loaded models, and each peer with the same types.
    pub fn contenders<'a>(&self, folder: &Path, ours: &'a [Ours]) -> Vec<Contender<'a>> {
        let mut contenders = Vec::new();
        for ours in ours {
            contenders.push(slow_burn(ours, 1));
            let knows = |found: &&Found| match ours.dtype {
                // Compared with the peers of the same weights.
                Dtype::Bf16Rounded | Dtype::Int8Rounded | Dtype::Int4Rounded => false,
                dtype => found.peer == Peer::LlamaCpp || !dtype.is_quantized(),
            };
            for found in self.peers.iter().filter(knows) {
                let command = found.command(folder, ours.dtype, self.threads, &self.scratch);
                match Process::start(command) {
                    Ok(process) => contenders.push(Contender {
                        engine: Engine::Peer(found.peer),
                        name: found.name.clone(),
                        dtype: ours.dtype,
                        sequences: 1,
                        program: Program::Elsewhere(process),
                    }),
                    Err(error) => println!("Left out: {} ({error})", found.name),
                }
            }
        }
        contenders
    }
}

impl Found {
    fn command(
        &self,
        folder: &Path,
        dtype: Dtype,
        threads: usize,
        scratch: &Path,
    ) -> std::process::Command {
        match &self.start {
            Start::Candle(candle) => candle.program(folder, dtype, threads),
            Start::Python { python, script } => {
                python::program((python, script), folder, dtype, threads, scratch)
            }
        }
    }
}

/// Adds Slow Burn with a batch of `sequences`.
pub fn add_batches<'a>(contenders: &mut Vec<Contender<'a>>, ours: &'a [Ours], sequences: usize) {
    contenders.extend(ours.iter().map(|ours| slow_burn(ours, sequences)));
}

pub fn remove_batches(contenders: &mut Vec<Contender<'_>>) {
    contenders.retain(|contender| contender.engine != Engine::Batch);
}

fn slow_burn(ours: &Ours, sequences: usize) -> Contender<'_> {
    let (engine, name) = match sequences {
        1 => (Engine::Alone, "Slow Burn".to_owned()),
        _ => (Engine::Batch, format!("Slow Burn, {sequences} at once")),
    };
    Contender {
        engine,
        name,
        dtype: ours.dtype,
        sequences,
        program: Program::Here(ours),
    }
}

/// The name and the start command of a peer, or why it is missing.
fn find(peer: Peer, python: &str) -> Result<(String, Start), String> {
    let script = match peer {
        Peer::Candle => {
            let candle = Candle::build().map_err(|error| format!("{error:#}"))?;
            return Ok((candle.name.clone(), Start::Candle(candle)));
        }
        Peer::LlamaCpp => "llama_cpp_peer.py",
        Peer::Transformers => "transformers_peer.py",
    };
    let name = python::name(python, script)?;
    Ok((name, Start::Python { python: python.to_owned(), script }))
}

fn label(peer: Peer) -> &'static str {
    match peer {
        Peer::LlamaCpp => "llama.cpp",
        Peer::Candle => "candle",
        Peer::Transformers => "transformers",
    }
}
