//! The way of the libraries: again and again the pair with the lowest rank, the leftmost of them.

pub fn merge(word: &str, merges: &[(&str, &str)]) -> Vec<String> {
    let mut pieces: Vec<String> = word.chars().map(String::from).collect();
    loop {
        let rank = |i: usize| {
            let pair = (pieces[i].as_str(), pieces[i + 1].as_str());
            merges.iter().position(|merge| *merge == pair)
        };
        let places = 0..pieces.len().saturating_sub(1);
        let Some((_, i)) = places.filter_map(|i| Some((rank(i)?, i))).min() else {
            return pieces;
        };
        let right = pieces.remove(i + 1);
        pieces[i] += &right;
    }
}
