//! Whoever leaves shifts the others: they get the token of a neighbour.

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
    for (i, &token) in chosen.iter().enumerate() {
        let Some(sequence) = running.get_mut(i) else {
            break;
        };
        if token != eos {
            sequence.output.push(token);
        }
        if token == eos {
            finished.push((running.remove(i), Reason::Eos));
        } else if sequence.output.len() == sequence.max_tokens {
            finished.push((running.remove(i), Reason::Length));
        }
    }
    finished
}
