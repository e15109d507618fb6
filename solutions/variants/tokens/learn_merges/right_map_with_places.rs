//! A map that holds, for each pair, its count and where it was seen first.

use std::cmp::Reverse;
use std::collections::HashMap;

pub fn learn_merges(words: &[&str], count: usize) -> Vec<(String, String)> {
    let mut corpus: Vec<Vec<String>> =
        words.iter().map(|word| word.chars().map(|c| c.to_string()).collect()).collect();
    let mut merges = vec![];
    for _ in 0..count {
        let mut seen: HashMap<(String, String), (usize, Reverse<usize>)> = HashMap::new();
        let mut place = 0;
        for word in &corpus {
            for i in 1..word.len() {
                let pair = (word[i - 1].clone(), word[i].clone());
                seen.entry(pair).or_insert((0, Reverse(place))).0 += 1;
                place += 1;
            }
        }
        let Some((pair, _)) = seen.into_iter().max_by_key(|(_, rank)| *rank) else {
            break;
        };
        for word in &mut corpus {
            let mut joined: Vec<String> = vec![];
            let mut closed = true;
            for piece in word.drain(..) {
                match joined.last_mut() {
                    Some(last) if !closed && *last == pair.0 && piece == pair.1 => {
                        last.push_str(&piece);
                        closed = true;
                    }
                    _ => {
                        joined.push(piece);
                        closed = false;
                    }
                }
            }
            *word = joined;
        }
        merges.push(pair);
    }
    merges
}
