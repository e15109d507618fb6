//! In each word, a pair is joined at its first place only.

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
            return;
        }
        i += 1;
    }
}
