//! Where a vocabulary comes from: merges are learned from a corpus.
//!
//! Why: a pair that occurs often is worth a token, because each occurrence then takes one token
//! less. But a merge creates new neighbours, so the counts of the step before are useless, and you
//! count again.
//!
//! What it costs: one pass over the corpus for each merge. Libraries keep the counts and change
//! only the pairs next to a place that was joined.
//!
//! A common wrong turn: `max_by_key` returns the last of several greatest. The rule wants the
//! first, so the pairs are searched from the back. A `HashMap` would have no order at all, and two
//! runs would learn two vocabularies.

/// Up to `count` merges: at each step the most frequent pair of neighbours within the words, and of
/// several the one that occurs first.
pub fn learn_merges(words: &[&str], count: usize) -> Vec<(String, String)> {
    let mut corpus: Vec<Vec<String>> =
        words.iter().map(|word| word.chars().map(String::from).collect()).collect();
    let mut merges = Vec::new();
    while merges.len() < count {
        let Some((left, right)) = most_frequent(&corpus) else {
            break;
        };
        for word in &mut corpus {
            join(word, &left, &right);
        }
        merges.push((left, right));
    }
    merges
}

fn most_frequent(corpus: &[Vec<String>]) -> Option<(String, String)> {
    let mut counts: Vec<(&[String], usize)> = Vec::new(); // in the order in which they occur
    for pair in corpus.iter().flat_map(|word| word.windows(2)) {
        match counts.iter_mut().find(|(known, _)| *known == pair) {
            Some((_, count)) => *count += 1,
            None => counts.push((pair, 1)),
        }
    }
    let (pair, _) = counts.iter().rev().max_by_key(|(_, count)| *count)?;
    Some((pair[0].clone(), pair[1].clone()))
}

fn join(word: &mut Vec<String>, left: &str, right: &str) {
    let mut i = 0;
    while i + 1 < word.len() {
        if word[i] == left && word[i + 1] == right {
            let end = word.remove(i + 1);
            word[i] += &end;
        }
        i += 1;
    }
}
