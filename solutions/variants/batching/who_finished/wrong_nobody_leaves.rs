//! Who has ended is reported and stays in the batch.

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
    for (sequence, &token) in running.iter_mut().zip(chosen) {
        if token == eos {
            finished.push((sequence.clone(), Reason::Eos));
            continue;
        }
        sequence.output.push(token);
        if sequence.output.len() == sequence.max_tokens {
            finished.push((sequence.clone(), Reason::Length));
        }
    }
    finished
}
