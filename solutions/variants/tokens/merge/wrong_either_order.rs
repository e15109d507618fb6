//! The pieces of a pair are joined in either order.

pub fn merge(word: &str, merges: &[(&str, &str)]) -> Vec<String> {
    let characters = word.chars().map(String::from).collect();
    merges.iter().fold(characters, |p, m| join(join(p, m), &(m.1, m.0)))
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
