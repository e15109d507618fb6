//! The last sequence takes the free place: the order is lost.

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
    for (sequence, &token) in running.iter_mut().zip(chosen) {
        if token != eos {
            sequence.output.push(token);
        }
    }
    let mut finished = Vec::new();
    for i in (0..running.len()).rev() {
        if chosen[i] == eos {
            finished.push((running.swap_remove(i), Reason::Eos));
        } else if running[i].output.len() == running[i].max_tokens {
            finished.push((running.swap_remove(i), Reason::Length));
        }
    }
    finished.reverse();
    finished
}
