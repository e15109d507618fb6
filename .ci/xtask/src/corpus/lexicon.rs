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
    pub goes: &'static [&'static str],
}

/// `body` is `f` where it flies, `s` where it swims, and `fs` where it does both.
const fn kind(
    noun: &'static str,
    home: &'static str,
    size: u8,
    body: &str,
    goes: &'static [&'static str],
) -> Kind {
    let body = body.as_bytes();
    let (flies, swims) = (matches!(body, [b'f', ..]), matches!(body, [.., b's']));
    Kind { noun, home, size, flies, swims, goes }
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

/// All kinds of characters.
pub const KINDS: &[Kind] = &[
    kind("fox", "den", 2, "", &["trotted", "ran", "crept"]),
    kind("rabbit", "burrow", 1, "", &["hopped", "bounced", "ran"]),
    kind("girl", "cottage", 2, "", &["walked", "ran", "skipped"]),
    kind("boy", "cottage", 2, "", &["walked", "ran", "skipped"]),
    kind("mouse", "hole", 1, "", &["scurried", "ran", "crept"]),
    kind("bear", "cave", 3, "", &["plodded", "walked", "strolled"]),
    kind("owl", "nest", 1, "f", &["flew", "glided", "flapped"]),
    kind("hedgehog", "burrow", 1, "", &["scurried", "walked", "pattered"]),
    kind("otter", "den", 2, "s", &["ran", "bounced", "trotted"]),
    kind("duck", "nest", 1, "fs", &["waddled", "flapped", "walked"]),
    kind("goat", "shed", 3, "", &["trotted", "skipped", "strolled"]),
    kind("squirrel", "nest", 1, "", &["scurried", "bounced", "ran"]),
    kind("badger", "burrow", 2, "", &["plodded", "walked", "trotted"]),
    kind("cat", "cottage", 2, "", &["padded", "crept", "strolled"]),
    kind("dog", "kennel", 2, "s", &["trotted", "ran", "padded"]),
    kind("frog", "pond", 1, "s", &["hopped", "bounced", "leaped"]),
];

/// Names that go with "he".
pub const HE: &[&str] = &[
    "Pip", "Bram", "Otto", "Milo", "Finn", "Hugo", "Leo", "Sam", "Rufus", "Wilf",
];

/// Names that go with "she".
pub const SHE: &[&str] = &[
    "Tilly", "Nora", "Ada", "Clara", "Dora", "Greta", "Ida", "Juno", "Kiki", "Zara",
];

/// A trait: the adjective, and what others know of it. `~` stands for "he" or "she".
pub const TRAITS: &[(&str, &str)] = &[
    ("curious", "~ asked [a hundred|ten] questions [every day|before breakfast]"),
    ("shy", "~ [blushed|hid] whenever anyone [said hello|came near]"),
    ("cheerful", "~ [hummed|sang|whistled] from morning until night"),
    ("stubborn", "~ never [changed ~s mind|gave up], even when it rained"),
    ("kind", "~ always had [a warm word|time|a crumb to spare] for others"),
    ("brave", "~ had once [crossed the dark wood|chased away a storm cloud] alone"),
    ("clumsy", "~ [tripped over|bumped into] [everything|every root and stone]"),
    ("clever", "~ could [count to a thousand|fix nearly anything|read the clouds]"),
    ("sleepy", "~ could fall asleep [standing up|in the middle of lunch]"),
    ("careful", "~ looked [twice|three times] before every step"),
    ("messy", "there was always [jam|mud|honey] on ~s chin"),
    ("proud", "~ liked to tell [everyone|the whole village] how well ~ could sing"),
    ("hungry", "~ [never missed a meal|ate two breakfasts|dreamed of pies]"),
    ("gentle", "~ never stepped on [a flower|an ant]"),
];

/// The lists of `words.toml`.
static LISTS: LazyLock<HashMap<String, Vec<&str>>> = LazyLock::new(|| {
    toml::from_str(include_str!("words.toml")).expect("lists of strings without escapes")
});

/// The list that goes by `key` in a template.
pub fn list(key: &str) -> &'static [&'static str] {
    LISTS.get(key).unwrap_or_else(|| panic!("no list goes by the name {key}"))
}
