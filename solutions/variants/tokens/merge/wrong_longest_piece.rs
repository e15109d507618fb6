//! From the left, the longest piece that any merge makes.

pub fn merge(word: &str, merges: &[(&str, &str)]) -> Vec<String> {
    let known: Vec<String> = merges.iter().map(|(a, b)| format!("{a}{b}")).collect();
    let mut pieces = Vec::new();
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let fits = known.iter().filter(|piece| rest.starts_with(piece.as_str()));
        let length = fits.map(|piece| piece.len()).max().unwrap_or(first.len_utf8());
        pieces.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    pieces
}
