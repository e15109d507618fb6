//! Merges from scores.

use std::cmp::Reverse;
use std::collections::HashSet;

/// The longest token that merges may make, in bytes: each place in it is tried.
const LONGEST: usize = 256;

/// The pairs of tokens that are merged, the first ones first.
///
/// SentencePiece merges the pair whose token has the highest score. So each way to split a token
/// into two others is a merge of that token's score. Where scores are equal, the longer first part
/// comes first, as in the converter of Hugging Face's transformers.
///
/// # Errors
/// A token that is too long to be tried at each place.
pub(super) fn merges_by_score<'a>(
    pieces: impl Iterator<Item = (&'a str, f32)> + Clone,
) -> Result<Vec<(&'a str, &'a str)>, String> {
    let known: HashSet<&str> = pieces.clone().map(|(token, _)| token).collect();
    let mut merges = Vec::new();
    for (token, score) in pieces {
        if token.len() > LONGEST {
            let length = token.len();
            return Err(format!(
                "tokens of up to {LONGEST} bytes, while one that is made by merges has {length}"
            ));
        }
        let places = token.char_indices().skip(1);
        let splits = places.map(|(place, _)| token.split_at(place));
        let known = splits.filter(|(left, right)| known.contains(left) && known.contains(right));
        merges.extend(known.map(|pair| (pair, score)));
    }
    let length = |text: &str| Reverse(text.chars().count());
    merges.sort_by(|((left_a, right_a), a), ((left_b, right_b), b)| {
        let lengths = |left: &str, right: &str| (length(left), length(right));
        b.total_cmp(a).then_with(|| lengths(left_a, right_a).cmp(&lengths(left_b, right_b)))
    });
    Ok(merges.into_iter().map(|(pair, _)| pair).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn higher_scores_first_then_longer_beginnings() {
        let pieces = [
            ("a", -9.0),
            ("b", -9.0),
            ("ab", -2.0),
            ("ba", -1.0),
            ("aba", -3.0),
            ("é", -9.0),
            ("éa", -0.5),
        ];
        let merges = merges_by_score(pieces.into_iter()).unwrap();
        assert_eq!(merges, [("é", "a"), ("b", "a"), ("a", "b"), ("ab", "a"), ("a", "ba")]);
    }

    #[test]
    fn a_token_that_is_too_long() {
        let long = "x".repeat(LONGEST + 1);
        let error = merges_by_score([(long.as_str(), 0.0)].into_iter()).unwrap_err();
        assert!(error.contains("257"), "{error}");
    }
}
