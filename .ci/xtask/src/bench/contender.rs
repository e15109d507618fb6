//! The engines that are measured: Slow Burn, alone and in a batch, and its peers.

use anyhow::Result;
use clap::ValueEnum;

use super::dtype::Dtype;
use super::measured::{Measured, Workload};
use super::ours::Ours;
use super::process::Process;

/// Another engine, which runs in a process of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    #[value(name = "llama.cpp")]
    LlamaCpp,
    Candle,
    Transformers,
}

/// The engine of a contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Slow Burn, with one sequence.
    Alone,
    /// Slow Burn, with several sequences at once.
    Batch,
    Peer(Peer),
}

/// An engine in one configuration.
pub struct Contender<'a> {
    pub engine: Engine,
    /// The name in tables.
    pub name: String,
    /// The type of the stored weights, keys and values.
    pub dtype: Dtype,
    /// The batch size.
    pub sequences: usize,
    pub program: Program<'a>,
}

pub enum Program<'a> {
    Here(&'a Ours),
    Elsewhere(Process),
}

impl Contender<'_> {
    pub fn generate(&mut self, workload: &Workload) -> Result<Measured> {
        match &mut self.program {
            Program::Here(ours) if self.sequences == 1 => ours.alone(workload),
            Program::Here(ours) => ours.batch(workload, self.sequences),
            Program::Elsewhere(process) => process.generate(workload),
        }
    }
}
