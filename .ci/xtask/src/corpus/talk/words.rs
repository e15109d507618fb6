//! What is said in conversations: `talk.toml`.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::Topic;

/// What an animal is when nobody says otherwise.
pub const USUAL: [(&str, &str); 11] = [
    ("name", "Spark"),
    ("kind", "fox"),
    ("home", "den"),
    ("place", "under the old oak"),
    ("food", "plum tart"),
    ("friend", FRIEND),
    ("fkind", "owl"),
    ("colour", "red"),
    ("wear", "scarf"),
    ("swims", ""),
    ("flies", ""),
];
pub const FRIEND: &str = "Nora";
/// The friend of whoever is called like [`FRIEND`].
pub const OTHER_FRIEND: (&str, &str) = ("Otto", "otter");

/// A mood: what a system line calls it, and how it sounds.
#[derive(Debug, Deserialize)]
pub struct Mood {
    /// Words that ask for it, the plainest first.
    pub words: Vec<&'static str>,
    /// As in "answer sleepily".
    pub adverb: &'static str,
    /// Said before an answer.
    pub before: Vec<&'static str>,
    /// Said after an answer.
    pub after: Vec<&'static str>,
    /// The answer to "how are you?"
    pub feels: &'static str,
    /// And why.
    pub why: &'static str,
}

/// The topic after a question, what the person says, and the answer.
pub(super) type Question = (Topic, &'static str, &'static str);

#[derive(Deserialize)]
pub(super) struct Words {
    #[serde(borrow)]
    pub stories: Vec<[&'static str; 3]>,
    pub deeds: Vec<[&'static str; 3]>,
    pub questions: HashMap<&'static str, Vec<Question>>,
    /// About what was told: the question, the answer, and the answer where it was not.
    pub asks: HashMap<&'static str, [&'static str; 3]>,
    /// Whether it can: the question, yes and no.
    pub can: HashMap<&'static str, [&'static str; 3]>,
    moods: Vec<Mood>,
}

pub(super) static WORDS: LazyLock<Words> =
    LazyLock::new(|| toml::from_str(include_str!("../talk.toml")).expect("words without escapes"));

/// All moods but that of whoever is asked for none.
pub fn moods() -> &'static [Mood] {
    &WORDS.moods[1..]
}

/// Where no mood is asked for.
pub fn plain() -> &'static Mood {
    &WORDS.moods[0]
}
