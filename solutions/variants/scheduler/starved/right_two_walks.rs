//! The walks of the stub in the other order, each with its own limit.

#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    pub name: char,
    pub unread: usize,
    pub remaining: usize,
}

pub fn step(running: &mut Vec<Sequence>, token_budget: usize) -> Vec<char> {
    let mut shares: Vec<usize> = running.iter().map(|s| usize::from(s.unread == 0)).collect();
    let decoding: usize = shares.iter().sum();
    let mut budget = if decoding < token_budget {
        token_budget - decoding
    } else {
        1
    };
    for (sequence, share) in running.iter().zip(&mut shares) {
        if sequence.unread > 0 {
            *share = sequence.unread.min(budget);
            budget -= *share;
        }
    }
    carry_out(running, &shares)
}

fn carry_out(running: &mut Vec<Sequence>, shares: &[usize]) -> Vec<char> {
    let mut got_token = Vec::new();
    for (sequence, &share) in running.iter_mut().zip(shares) {
        sequence.unread = sequence.unread.saturating_sub(share);
        if share > 0 && sequence.unread == 0 {
            sequence.remaining -= 1;
            got_token.push(sequence.name);
        }
    }
    running.retain(|sequence| sequence.remaining > 0);
    got_token
}
