//! Each prompt reads one token at least.

#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    pub name: char,
    pub unread: usize,
    pub remaining: usize,
}

pub fn step(running: &mut Vec<Sequence>, token_budget: usize) -> Vec<char> {
    let decoding = running.iter().filter(|sequence| sequence.unread == 0).count();
    // At least one token, so that a prompt is read however many decode.
    let mut left = token_budget.saturating_sub(decoding).max(1);
    let mut shares = Vec::new();
    for sequence in running.iter() {
        if sequence.unread == 0 {
            shares.push(1);
            continue;
        }
        let share = sequence.unread.min(left.max(1));
        left = left.saturating_sub(share);
        shares.push(share);
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
