//! How people type: without capitals, without marks, with mistakes.

use super::Talk;

impl Talk {
    /// A text as somebody types it. Words that were told stay as they are, since they will be repeated.
    pub(super) fn typed(&mut self, text: &str) -> String {
        let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for (mark, tight) in [(" ?", "?"), (" .", "."), (" ,", ","), (" !", "!")] {
            text = text.replace(mark, tight);
        }
        text = text.trim_start_matches([',', ' ']).to_owned();
        text = match self.lower {
            true => text.to_lowercase(),
            false => capital(&text),
        };
        match self.tale.ch.index(&[55, 30, 5, 10]) {
            0 => {}
            1 => text.truncate(text.trim_end_matches(['?', '.', '!']).len()),
            2 => text = format!("{}!", text.trim_end_matches(['.', '!'])),
            _ => text = text.replace('\'', ""),
        }
        if self.tale.ch.chance(7) {
            text = self.mistyped(&text);
        }
        text
    }

    /// One letter of a word is missing, twice there, or changed places with the next.
    fn mistyped(&mut self, text: &str) -> String {
        let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let at = self.tale.ch.below(words.len());
        let kept = |word: &str| {
            let bare = word.trim_end_matches(['?', '.', '!', ',']);
            self.told.iter().any(|name| self.tale.get(name).split(' ').any(|told| told == bare))
        };
        let word = &words[at];
        if word.len() < 4 || !word.is_ascii() || kept(word) {
            return text.to_owned();
        }
        let i = 1 + self.tale.ch.below(word.len() - 2);
        let (before, after) = word.split_at(i);
        words[at] = match self.tale.ch.below(3) {
            0 => format!("{before}{}", &after[1..]),
            1 => format!("{before}{}{after}", &after[..1]),
            _ if after.len() > 1 => {
                format!("{before}{}{}{}", &after[1..2], &after[..1], &after[2..])
            }
            _ => word.clone(),
        };
        words.join(" ")
    }
}

/// The text with its first letter large, and `i` as people write it.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
