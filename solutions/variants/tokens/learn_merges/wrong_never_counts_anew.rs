//! The counts of the characters decide about all merges.

pub fn learn_merges(words: &[&str], count: usize) -> Vec<(String, String)> {
    let mut corpus: Vec<Vec<String>> =
        words.iter().map(|word| word.chars().map(String::from).collect()).collect();
    let mut merges: Vec<(String, String)> = Vec::new();
    let characters = corpus.clone();
    while merges.len() < count {
        let mut rest = characters.clone();
        for (left, right) in &merges {
            rest = rest.iter().flat_map(|word: &Vec<String>| cut(word, left, right)).collect();
        }
        let Some((left, right)) = most_frequent(&rest) else {
            break;
        };
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

/// The word without the pairs that were noted before.
fn cut(word: &[String], left: &str, right: &str) -> Vec<Vec<String>> {
    let mut parts = vec![Vec::new()];
    for (i, piece) in word.iter().enumerate() {
        if i > 0 && word[i - 1] == left && *piece == right {
            parts.push(Vec::new());
        }
        parts.last_mut().unwrap().push(piece.clone());
    }
    parts
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
