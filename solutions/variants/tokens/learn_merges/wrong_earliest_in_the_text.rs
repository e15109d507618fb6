//! Of equals, the pair whose letters come first in the text is taken, also where they are one
//! piece already.

pub fn learn_merges(words: &[&str], count: usize) -> Vec<(String, String)> {
    let mut corpus: Vec<Vec<String>> =
        words.iter().map(|word| word.chars().map(String::from).collect()).collect();
    let mut merges = Vec::new();
    let text = words.concat();
    while merges.len() < count {
        let Some((left, right)) = most_frequent(&corpus, &text) else {
            break;
        };
        for word in &mut corpus {
            join(word, &left, &right);
        }
        merges.push((left, right));
    }
    merges
}

fn most_frequent(corpus: &[Vec<String>], text: &str) -> Option<(String, String)> {
    let mut counts: Vec<(&[String], usize)> = Vec::new();
    for pair in corpus.iter().flat_map(|word| word.windows(2)) {
        match counts.iter_mut().find(|(known, _)| *known == pair) {
            Some((_, count)) => *count += 1,
            None => counts.push((pair, 1)),
        }
    }
    counts.sort_by_key(|(pair, _)| text.find(&pair.concat()));
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
