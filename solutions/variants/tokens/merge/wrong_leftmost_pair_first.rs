//! The leftmost pair that any merge joins, whatever its rank.

pub fn merge(word: &str, merges: &[(&str, &str)]) -> Vec<String> {
    let mut pieces: Vec<String> = word.chars().map(String::from).collect();
    while let Some(i) =
        (1..pieces.len()).find(|&i| merges.contains(&(pieces[i - 1].as_str(), pieces[i].as_str())))
    {
        let right = pieces.remove(i);
        pieces[i - 1] += &right;
    }
    pieces
}
