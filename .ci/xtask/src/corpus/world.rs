//! The cast, the place and the scenes that many plots share.

use super::choose::Chooser;
use super::lexicon::{HE, KINDS, Kind, SHE, TRAITS, list};
use super::tell::Tale;

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
    pub trait_: &'static (&'static str, &'static str),
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

/// Chooses a character that `fits` and shares no kind and no first letter with `others`.
pub fn who(ch: &mut Chooser, others: &[Who], fits: impl Fn(&Kind) -> bool) -> Who {
    let kinds: Vec<&'static Kind> =
        KINDS.iter().filter(|k| fits(k) && others.iter().all(|o| o.kind.noun != k.noun)).collect();
    let kind = *ch.pick(&kinds);
    let he = match kind.noun {
        "girl" => false,
        "boy" => true,
        _ => match others.first() {
            Some(first) => first.he != ch.chance(90),
            None => ch.chance(50),
        },
    };
    let names: Vec<&'static str> = (if he { HE } else { SHE })
        .iter()
        .copied()
        .filter(|n| others.iter().all(|o| o.name[..1] != n[..1]))
        .collect();
    let name = *ch.pick(&names);
    let trait_ = ch.pick(TRAITS);
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

/// Weather for stories out of doors.
pub const FAIR: &[&str] = &[
    "sunny", "windy", "cloudy", "warm", "bright", "cool", "fresh", "quiet",
];
/// Any weather that does not matter to the plot.
pub const ANY: &[&str] = &[
    "sunny", "windy", "rainy", "foggy", "cold", "warm", "cloudy", "grey",
];
/// The times from which a story can go on until dusk.
pub const DAY: &[&str] = &["morning", "afternoon"];

impl Tale {
    /// Begins the story. `act` says what the first character was doing, as in
    /// "was picking plums".
    pub fn open(&mut self, act: &str) {
        self.begin(act);
        if self.ch.chance(35) {
            self.looks("A");
        }
        if self.ch.chance(75) {
            self.scene();
        }
    }

    fn begin(&mut self, act: &str) {
        let (weather, time, spot) = (self.place.weather, self.place.time, self.place.spot);
        for (name, value) in [("weather", weather), ("time", time), ("spot", spot)] {
            self.set(name, value);
        }
        self.set("act", act);
        if self.first_person {
            self.open_as_i();
            return;
        }
        match self.ch.index(&[24, 18, 12, 10, 10, 8, 8]) {
            0 => {
                self.one(&[
                    "Once upon a time, there was {+A}.",
                    "Once upon a time, {+A} lived {#land}.",
                    "Once upon a time {#land}, there lived {+A}.",
                ]);
                self.trait_line(50);
                self.say("[One|On a|Early one] {weather} {time}, {A} {act} {spot}.");
            }
            1 => {
                self.say("One {weather} {time}, {+A} {act} {spot}.");
                self.trait_line(35);
            }
            2 => {
                self.say("{#land} lived {+A}.");
                self.trait_line(60);
                self.say("On a {weather} {time}, {A} {act} {spot}.");
            }
            3 => self.open_as_known(),
            4 => {
                self.say("{+A} {act} {spot}. It was a {weather} {time}, and [nothing had gone wrong yet|all was still|there was plenty of time|the day felt new].");
            }
            5 => {
                self.say("There was once {+A} who lived {#land}.");
                self.trait_line(50);
                self.say("[Late one|One|Early one] {weather} {time}, {A} {act} {spot}.");
            }
            _ => {
                self.say("It was a {weather} {time}, and {+A} {act} {spot}.");
                self.trait_line(40);
            }
        }
    }

    fn open_as_known(&mut self) {
        let known = format!(
            "Everyone in [the village|the valley|the wood|the meadow] knew {} the {}, because ",
            self.cast[0].name, self.cast[0].kind.noun
        );
        self.say(&known);
        self.cast[0].known = true;
        self.trait_clause();
        self.say("One {weather} {time}, {A} {act} {spot}.");
    }

    fn open_as_i(&mut self) {
        let (name, adj, noun) = {
            let a = &self.cast[0];
            (a.name, a.adj, a.kind.noun)
        };
        let text = match self.ch.below(3) {
            0 => format!("My name is {name} and I am a {adj} {noun}."),
            1 => format!(
                "I am {name}, a {adj} {noun}, and [this is what happened to me|I have a story to tell]."
            ),
            _ => format!("My name is {name}. I am a {adj} {noun}, and I live {{#land}}."),
        };
        self.cast[0].known = true;
        self.say(&text);
        self.say("[One|Last week, one|On a] {weather} {time}, I {act} {spot}.");
    }

    fn trait_line(&mut self, percent: u32) {
        if !self.ch.chance(percent) {
            return;
        }
        match self.ch.below(3) {
            0 => {
                let adj = self.cast[0].trait_.0;
                let lead = if adj == self.cast[0].adj {
                    "[Everyone said|People said] that"
                } else {
                    "{A} was {A:trait}, and"
                };
                self.say(lead);
                self.trait_clause();
            }
            1 => {
                self.say("Everyone knew that");
                self.trait_clause();
            }
            _ => self.one(&[
                "{A} lived in a {A:home} with a [{#colour}|crooked|little|round] door.",
                "More than anything, {A} [liked|loved] {#food}.",
                "{A's} [home|{A:home}] was full of [old|{#colour}|little|odd] [things|books|pots|cups].",
            ]),
        }
    }

    fn trait_clause(&mut self) {
        let clause = self.cast[0].trait_.1;
        let clause = clause.replace("~s", "{A:his}").replace('~', "{A:he}");
        self.say(&format!("{clause}."));
    }

    /// The helper asks for something first, and gets it.
    pub fn favour(&mut self) {
        match self.ch.below(4) {
            0 => {
                let verb = *self.ch.pick(&["sweep", "wash", "paint"]);
                let thing = *self.ch.pick(&["step", "door", "window", "floor"]);
                self.set("ask1", &format!("help me {verb} my {thing}"));
                let past = match verb {
                    "sweep" => "swept",
                    "wash" => "washed",
                    _ => "painted",
                };
                self.set("did", &format!("{past} the {thing} until it [shone|looked new]"));
            }
            1 => {
                let what = *self.ch.pick(&["apples", "pears", "plums", "nuts", "berries"]);
                self.set("ask1", &format!("help me pick [some|a bag of|a few] {what}"));
                self.set("did", &format!("picked {what} until the [bag|basket] was full"));
            }
            2 => {
                let what = *self.ch.pick(&["logs", "pots", "turnips", "bricks"]);
                self.set("ask1", &format!("help me carry these {what}"));
                self.set(
                    "did",
                    &format!("carried the {what} [inside|up the lane|to the shed], one by one"),
                );
            }
            _ => {
                self.set("ask1", "[sing me a song|tell me a joke|tell me a story]");
                let did = match self.get("ask1") {
                    "sing me a song" => {
                        "sang a song about [a {#colour} {#treasure}|the moon|rain and {#food}]"
                    }
                    "tell me a joke" => {
                        "told a joke about [a turnip|a {#colour} {#treasure}|the moon]"
                    }
                    _ => "told a story about [a lost king|the moon|a {#colour} {#treasure}]",
                };
                self.set("did", did);
            }
        }
        self.say("\"[I will help you|I can help|I know what to do], but first you must {ask1},\" {B!said}. [So|That was fair, so] {A} {did}[, and {B} [laughed|smiled|nodded]|].");
    }
}
