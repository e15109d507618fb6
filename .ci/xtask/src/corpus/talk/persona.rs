//! Who answers, and the system line that says it.

use super::Talk;
use super::words::{self, Mood, WORDS, moods, plain};
use crate::corpus::lexicon::{KINDS, pairs};

impl Talk {
    /// Draws what is true, and the line that says it.
    pub(super) fn system(&mut self) -> Option<String> {
        let line = self.line();
        self.other_facts();
        line
    }

    fn line(&mut self) -> Option<String> {
        let kind_of_line = self.tale.ch.index(&[30, 42, 16, 7, 5]);
        let mood: &'static Mood = match kind_of_line {
            1 if self.tale.ch.chance(70) => self.tale.ch.pick(moods()),
            2 => self.tale.ch.pick(moods()),
            3 if self.tale.ch.chance(40) => self.tale.ch.pick(moods()),
            _ => plain(),
        };
        self.mood = mood;
        for (name, value) in words::USUAL {
            self.tale.set(name, value);
        }
        let word = match &mood.words[..] {
            [] => String::new(),
            words => format!("{} ", self.tale.ch.pick(words)),
        };
        self.tale.set("moody", &word);
        let line = match kind_of_line {
            0 => return None,
            1 => self.whole_line(),
            2 => self.mood_line(),
            3 => {
                self.draw_kind();
                self.expand("[You are|Be|Act as|Answer as|Talk like] a {moody}{kind}.")
            }
            _ => {
                let line = self.pick("other_lines");
                self.expand(line)
            }
        };
        let mut line = crate::corpus::tidy::tidy(&line);
        if self.tale.ch.chance(8) {
            line = line.to_lowercase();
            // What is typed in small letters is repeated so.
            for name in ["name", "friend"] {
                let value = self.tale.get(name).to_lowercase();
                let is_told = line.split(|c: char| !c.is_alphabetic()).any(|word| word == value);
                if is_told {
                    self.tale.set(name, &value);
                }
            }
        }
        if self.tale.ch.chance(8) {
            line.truncate(line.trim_end_matches('.').len());
        }
        Some(line)
    }

    /// What no line says.
    fn other_facts(&mut self) {
        for (name, key) in [("fplace", "place"), ("smell", "smell")] {
            let value = self.pick(key);
            self.tale.set(name, value);
        }
        for name in ["snack", "fsnack"] {
            self.tale.set(name, "[berries|nuts|pears|warm milk|honey|apples]");
        }
        let [deed, why, goes] = *self.tale.ch.pick(&WORDS.deeds);
        self.tale.set("deed", deed);
        self.tale.set("why", why);
        self.tale.set("goes", goes);
    }

    fn draw_kind(&mut self) {
        let (kind, home) = if self.tale.ch.chance(65) {
            let animals: Vec<_> =
                KINDS.iter().filter(|kind| !["girl", "boy"].contains(&kind.noun)).collect();
            let kind = self.tale.ch.pick(&animals);
            self.tale.set("swims", if kind.swims { "yes" } else { "" });
            self.tale.set("flies", if kind.flies { "yes" } else { "" });
            (kind.noun, kind.home)
        } else {
            *self.tale.ch.pick(&pairs("other_kinds"))
        };
        self.tale.set("kind", kind);
        self.tale.set("home", home);
    }

    fn mood_line(&mut self) -> String {
        let adverb = self.mood.adverb;
        self.tale.set("adverb", adverb);
        self.expand(
            "[You are {moody}[today|now|].|Be {moody}.|Be {moody}.|[Answer|Speak|Talk|Reply] {adverb}.|You [feel|sound] {moody}.|{moody}]",
        )
        .replace(" .", ".")
    }

    fn whole_line(&mut self) -> String {
        self.draw_kind();
        let name = match self.tale.ch.index(&[50, 50]) {
            0 => self.first_name().to_owned(),
            _ => self.some_name(),
        };
        self.tale.set("name", &name);
        if name == words::FRIEND {
            let (friend, kind) = words::OTHER_FRIEND;
            self.tale.set("friend", friend);
            self.tale.set("fkind", kind);
        }
        let mut line = if self.tale.ch.chance(80) {
            self.expand(
                "[You are {name}, a {moody}{kind}|You are {name} the {moody}{kind}|Your name is {name}. You are a {moody}{kind}|You are a {moody}{kind} [called|named] {name}|[Be|Play] {name}, a {moody}{kind}].",
            )
        } else {
            let adverb = self.mood.adverb;
            self.tale.set("adverb", adverb);
            let how = match self.mood.words[..] {
                [] => "",
                _ => " [Be {moody}|You are {moody}|Answer {adverb}].",
            };
            self.expand(&format!("You are {{name}}[, a| the] {{kind}}.{how}")).replace(" .", ".")
        };
        if self.tale.ch.chance(60) {
            let place = if self.tale.ch.chance(65) {
                self.pick("place")
            } else {
                self.pick("other_places")
            };
            self.tale.set("place", place);
            line += &self.expand(" [You live|You live|Your home is] {place}.");
        }
        if self.tale.ch.chance(25) {
            let food = if self.tale.ch.chance(60) {
                self.pick("food")
            } else {
                self.pick("likes")
            };
            self.tale.set("food", food);
            line += &self.expand(" You [like|love] {food}.");
        }
        if self.tale.ch.chance(25) {
            let name = self.some_name();
            let kind = self.tale.ch.pick(&KINDS).noun;
            self.tale.set("friend", &name);
            self.tale.set("fkind", kind);
            line += &self.expand(
                " [Your [best|] friend is {friend} the {fkind}|You have a friend, {friend} the {fkind}].",
            );
        }
        if self.tale.ch.chance(20) {
            for (name, key) in [("colour", "colour"), ("wear", "wear")] {
                let value = self.pick(key);
                self.tale.set(name, value);
            }
            line += &self.expand(" You [wear|have] a {colour} {wear}.");
        }
        line
    }
}
