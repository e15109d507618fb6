//! Each merge joins one place only.

pub fn merge(word: &str, merges: &[(&str, &str)]) -> Vec<String> {
    let mut pieces: Vec<String> = word.chars().map(String::from).collect();
    for (left, right) in merges {
        let place = pieces.windows(2).position(|pair| pair[0] == *left && pair[1] == *right);
        if let Some(i) = place {
            let right = pieces.remove(i + 1);
            pieces[i] += &right;
        }
    }
    pieces
}
