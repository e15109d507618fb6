//! Merges that make longer pieces are applied first.

pub fn merge(word: &str, merges: &[(&str, &str)]) -> Vec<String> {
    let mut merges = merges.to_vec();
    merges.sort_by_key(|(left, right)| std::cmp::Reverse(left.len() + right.len()));
    let mut pieces: Vec<String> = word.chars().map(String::from).collect();
    for _ in 0..merges.len() {
        pieces = merges.iter().fold(pieces, join);
    }
    pieces
}

fn join(pieces: Vec<String>, &(left, right): &(&str, &str)) -> Vec<String> {
    let mut joined = Vec::with_capacity(pieces.len());
    let mut rest = pieces.into_iter().peekable();
    while let Some(mut piece) = rest.next() {
        if piece == left
            && let Some(next) = rest.next_if(|next| next == right)
        {
            piece += &next;
        }
        joined.push(piece);
    }
    joined
}
