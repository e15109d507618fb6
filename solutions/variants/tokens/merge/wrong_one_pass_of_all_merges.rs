//! One pass over the characters with all merges at once: no piece is made of pieces.

pub fn merge(word: &str, merges: &[(&str, &str)]) -> Vec<String> {
    let letters: Vec<String> = word.chars().map(String::from).collect();
    let mut pieces = Vec::new();
    let mut i = 0;
    while i < letters.len() {
        let pair = (i + 1 < letters.len())
            .then(|| (letters[i].as_str(), letters[i + 1].as_str()))
            .filter(|pair| merges.contains(pair));
        match pair {
            Some((left, right)) => pieces.push(format!("{left}{right}")),
            None => pieces.push(letters[i].clone()),
        }
        i += if pair.is_some() { 2 } else { 1 };
    }
    pieces
}
