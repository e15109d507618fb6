//! Those that have ended are sorted by name.

#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    pub name: char,
    pub output: Vec<u32>,
    pub max_tokens: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    Eos,
    Length,
}

pub fn take_step(running: &mut Vec<Sequence>, chosen: &[u32], eos: u32) -> Vec<(Sequence, Reason)> {
    let mut finished = Vec::new();
    let mut left = Vec::new();
    for (mut sequence, &token) in std::mem::take(running).into_iter().zip(chosen) {
        if token == eos {
            finished.push((sequence, Reason::Eos));
            continue;
        }
        sequence.output.push(token);
        if sequence.output.len() == sequence.max_tokens {
            finished.push((sequence, Reason::Length));
            continue;
        }
        left.push(sequence);
    }
    *running = left;
    finished.sort_by_key(|(s, _): &(Sequence, Reason)| s.name);
    finished
}
