//! Places that overlap are joined from the right.

pub fn merge(word: &str, merges: &[(&str, &str)]) -> Vec<String> {
    let mut pieces: Vec<String> = word.chars().map(String::from).collect();
    for (left, right) in merges {
        let mut i = pieces.len();
        while i >= 2 {
            if pieces[i - 2] == *left && pieces[i - 1] == *right {
                let right = pieces.remove(i - 1);
                pieces[i - 2] += &right;
            }
            i -= 1;
            i = i.min(pieces.len());
        }
    }
    pieces
}
