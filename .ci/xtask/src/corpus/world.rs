//! The cast and the place.

use super::choose::Chooser;
use super::lexicon::{KINDS, Kind, TRAITS, Trait, list};

/// A character.
#[derive(Debug, Clone)]
pub struct Who {
    /// The given name.
    pub name: &'static str,
    /// Whether the name goes with "he".
    pub he: bool,
    /// The kind.
    pub kind: &'static Kind,
    /// An adjective, used at the introduction and later.
    pub adj: &'static str,
    /// What the character is like.
    pub trait_: Trait,
    /// Whether the first character knows this one already.
    pub friend: bool,
    /// Whether the reader has met this character.
    pub known: bool,
    /// The sentence of the last mention in this paragraph.
    pub last: Option<usize>,
}

/// Where and when the story goes on.
#[derive(Debug, Clone)]
pub struct Place {
    /// Words such as "sunny".
    pub weather: &'static str,
    /// "morning", "afternoon" or "evening".
    pub time: &'static str,
    /// Words such as "by the pond".
    pub spot: &'static str,
}

/// Chooses a character whose kind [fits](Kind::fits) and that shares no kind and no first letter with `others`.
pub fn who(ch: &mut Chooser, others: &[Who], fits: &str) -> Who {
    let kinds: Vec<&'static Kind> = KINDS
        .iter()
        .filter(|k| k.fits(fits) && others.iter().all(|o| o.kind.noun != k.noun))
        .collect();
    let kind = *ch.pick(&kinds);
    let he = match kind.noun {
        "girl" => false,
        "boy" => true,
        _ => match others.first() {
            Some(first) => first.he != ch.chance(90),
            None => ch.chance(50),
        },
    };
    let names: Vec<&'static str> = list(if he { "he" } else { "she" })
        .iter()
        .copied()
        .filter(|n| others.iter().all(|o| o.name[..1] != n[..1]))
        .collect();
    let name = *ch.pick(&names);
    let trait_ = *ch.pick(&TRAITS);
    let human = kind.noun == "girl" || kind.noun == "boy";
    let looks: Vec<&'static str> = list("looks")
        .iter()
        .copied()
        .filter(|&l| match l {
            "tiny" | "little" | "small" => kind.size < 3,
            "fluffy" => !human && !matches!(kind.noun, "frog" | "hedgehog"),
            "tall" => human || kind.size == 3,
            "spotty" | "round" | "grey" | "brown" => !human,
            _ => true,
        })
        .collect();
    let adj = if ch.chance(30) {
        trait_.0
    } else {
        *ch.pick(&looks)
    };
    Who {
        name,
        he,
        kind,
        adj,
        trait_,
        friend: false,
        known: false,
        last: None,
    }
}

/// Chooses weather among `weathers`, and a time and a place.
pub fn place(ch: &mut Chooser, weathers: &[&'static str], times: &[&'static str]) -> Place {
    Place {
        weather: weathers[ch.below(weathers.len())],
        time: times[ch.below(times.len())],
        spot: list("place")[ch.below(list("place").len())],
    }
}
