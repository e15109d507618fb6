//! The limit is asked for first: an end that comes at the last place is called a cut.

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
        if sequence.output.len() + 1 == sequence.max_tokens {
            if token != eos {
                sequence.output.push(token);
            }
            finished.push((sequence, Reason::Length));
        } else if token == eos {
            finished.push((sequence, Reason::Eos));
        } else {
            sequence.output.push(token);
            left.push(sequence);
        }
    }
    *running = left;
    finished
}
