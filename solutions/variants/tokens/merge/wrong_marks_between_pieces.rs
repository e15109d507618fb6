//! Rows as text, with a NUL between pieces: a NUL in the word itself is lost.

pub fn merge(word: &str, merges: &[(&str, &str)]) -> Vec<String> {
    let mut row = String::from("\0");
    for character in word.chars() {
        row.extend([character, '\0']);
    }
    for (left, right) in merges {
        let pair = format!("\0{left}\0{right}\0");
        while row.contains(&pair) {
            row = row.replacen(&pair, &format!("\0{left}{right}\0"), 1);
        }
    }
    row.split('\0').filter(|piece| !piece.is_empty()).map(String::from).collect()
}
