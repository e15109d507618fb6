//! A piece that ends like the first of the pair is joined too.

pub fn merge(word: &str, merges: &[(&str, &str)]) -> Vec<String> {
    let characters = word.chars().map(String::from).collect();
    merges.iter().fold(characters, join)
}

fn join(pieces: Vec<String>, &(left, right): &(&str, &str)) -> Vec<String> {
    let mut joined = Vec::with_capacity(pieces.len());
    let mut rest = pieces.into_iter().peekable();
    while let Some(mut piece) = rest.next() {
        if piece.ends_with(left)
            && let Some(next) = rest.next_if(|next| next == right)
        {
            piece += &next;
        }
        joined.push(piece);
    }
    joined
}
