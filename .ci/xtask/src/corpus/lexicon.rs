//! The words of the small world: names, kinds and lists to draw from.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A kind of character and what its body allows.
#[derive(Debug)]
pub struct Kind {
    /// The noun, singular.
    pub noun: &'static str,
    /// Where it lives.
    pub home: &'static str,
    /// 1 is small as a mouse, 2 as a fox, 3 as a bear.
    pub size: u8,
    /// Whether it flies.
    pub flies: bool,
    /// Whether it swims well by nature.
    pub swims: bool,
    /// Verbs for how it goes, past tense.
    pub goes: Vec<&'static str>,
}

impl Kind {
    /// Whether all of `words` are true of the kind: `any`, a noun, `flies`, `swims`, `tiny` or `big`;
    /// with a `-` before it, what must not be true.
    pub fn fits(&self, words: &str) -> bool {
        words.split(' ').all(|word| {
            let bare = word.trim_start_matches('-');
            let is = match bare {
                "any" => true,
                "flies" => self.flies,
                "swims" => self.swims,
                "tiny" => self.size == 1,
                "big" => self.size == 3,
                noun => self.noun == noun,
            };
            is == (bare == word)
        })
    }
}

/// All kinds of characters: `noun home size goes,goes,goes`, and `flies` or `swims` where it does.
pub static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let kind = |line: &&'static str| {
        let words: Vec<&str> = line.split(' ').collect();
        Kind {
            noun: words[0],
            home: words[1],
            size: words[2].parse().expect("a size"),
            goes: words[3].split(',').collect(),
            flies: words.contains(&"flies"),
            swims: words.contains(&"swims"),
        }
    };
    list("kinds").iter().map(kind).collect()
});

/// A trait: the adjective, and what others know of it. `~` stands for "he" or "she".
pub type Trait = (&'static str, &'static str);

/// All traits.
pub static TRAITS: LazyLock<Vec<Trait>> = LazyLock::new(|| pairs("traits"));

/// The pairs of a list of `first: second`.
pub fn pairs(key: &str) -> Vec<(&'static str, &'static str)> {
    list(key).iter().filter_map(|line| line.split_once(": ")).collect()
}

/// The lists of `words.toml`.
static LISTS: LazyLock<HashMap<String, Vec<&str>>> = LazyLock::new(|| {
    toml::from_str(include_str!("words.toml")).expect("lists of strings without escapes")
});

/// The list that goes by `key` in a template.
pub fn list(key: &str) -> &'static [&'static str] {
    LISTS.get(key).unwrap_or_else(|| panic!("no list goes by the name {key}"))
}
