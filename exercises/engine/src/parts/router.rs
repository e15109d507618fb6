//! What the parts of a router take and return. The types have the same fields as in the exercises.

/// What a check of a replica found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    Passed,
    Failed,
    Draining,
}

/// How many checks in a row change what is believed.
#[derive(Debug, Clone, Copy)]
pub struct Thresholds {
    pub fall: u32,
    pub rise: u32,
}

/// What is believed about a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    pub is_up: bool,
    pub against: u32,
}

/// What is known of a replica: its open requests, and the prompts that it got.
#[derive(Debug, Clone, Default)]
pub struct Replica {
    pub open: usize,
    pub sent: Vec<Vec<u32>>,
}

/// How a hit is weighed against a queue.
#[derive(Debug, Clone, Copy)]
pub struct Weights {
    pub block: usize,
    pub imbalance: usize,
}

/// How an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    NotConnected,
    Status(u16),
    Broken,
}

/// What comes after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Retry(usize),
    Answer(u16),
    EndWithError,
}

/// An allowance for retries, in tenths of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub tenths: u32,
}
