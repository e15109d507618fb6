//! Spaces, articles and capitals.

/// Whether "an" goes before this word.
pub fn takes_an(word: &str) -> bool {
    let w = word.to_ascii_lowercase();
    let vowel = w.starts_with(['a', 'e', 'i', 'o', 'u']) || w.starts_with("hour");
    vowel && !w.starts_with("one") && !w.starts_with("use") && !w.starts_with("uni")
}

/// Whether this says who spoke the quote before it.
fn is_tag(rest: &[char]) -> bool {
    const VERBS: &[&str] = &[
        "said",
        "asked",
        "cried",
        "called",
        "whispered",
        "added",
        "shouted",
    ];
    let start: String = rest.iter().take(40).collect();
    let mut words = start.split([' ', '\n', ',', '.']).filter(|w| !w.is_empty());
    let first = words.next().unwrap_or_default();
    let pronoun = ["he", "she", "I", "it", "they", "we"].contains(&first);
    VERBS.contains(&first) || pronoun && words.take(2).any(|w| VERBS.contains(&w))
}

/// Puts spaces, articles and capitals right.
pub fn tidy(raw: &str) -> String {
    let mut s = raw.replace("  ", " ").replace(" \n", "\n").trim_end().to_string();
    for (from, to) in [
        (",.", "."),
        (",,", ","),
        (",!", "!"),
        (",?", "?"),
        (" ,", ","),
        (" .", "."),
    ] {
        s = s.replace(from, to);
    }
    let mut words: Vec<String> = s.split(' ').map(str::to_string).collect();
    for i in 0..words.len() - 1 {
        let bare = words[i].rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        if (bare == "a" || bare == "A") && takes_an(&words[i + 1]) {
            words[i].push('n');
        }
    }
    let mut done = String::with_capacity(s.len());
    let (mut up, mut quote) = (true, false);
    let text = words.join(" ");
    let chars: Vec<char> = text.chars().collect();
    for (i, &c) in chars.iter().enumerate() {
        match c {
            '^' => {
                up = true;
                continue;
            }
            '\n' => {
                up = true;
                quote = false;
            }
            '"' => {
                quote = !quote;
                let ended = i > 0 && matches!(chars[i - 1], '.' | '!' | '?');
                up = quote || ended && !is_tag(&chars[i + 1..]);
            }
            '.' | '!' | '?' => up = true,
            _ if c.is_ascii_alphanumeric() => {
                done.push(if up { c.to_ascii_uppercase() } else { c });
                up = false;
                continue;
            }
            _ => {}
        }
        done.push(c);
    }
    done
}
