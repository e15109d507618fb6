//! Tokens first, then the ended sequences are removed from the back, where nothing shifts.

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
    let mut reasons = Vec::new();
    for (i, sequence) in running.iter_mut().enumerate() {
        let is_end = chosen[i] == eos;
        if !is_end {
            sequence.output.push(chosen[i]);
        }
        let is_full = sequence.output.len() >= sequence.max_tokens;
        reasons.push(match (is_end, is_full) {
            (true, _) => Some(Reason::Eos),
            (false, true) => Some(Reason::Length),
            (false, false) => None,
        });
    }
    let mut finished = Vec::new();
    for i in (0..running.len()).rev() {
        if let Some(reason) = reasons[i] {
            finished.insert(0, (running.remove(i), reason));
        }
    }
    finished
}
