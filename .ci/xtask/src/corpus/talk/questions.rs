//! What the person asks or tells, and what the animal answers.

use super::words::WORDS;
use super::{Pending, Talk, Topic};
use crate::corpus::lexicon::KINDS;

impl Talk {
    /// One of the questions of that name.
    fn question(&mut self, name: &str) {
        let all = &WORDS.questions[name];
        let (topic, user, answer) = all[self.tale.ch.below(all.len())];
        let answer = answer.replace("<feels>", self.mood.feels).replace("<why>", self.mood.why);
        self.say(topic, user, &answer);
    }

    /// A question that needs no earlier one.
    pub(super) fn fresh(&mut self, number: usize) {
        let told = |name: &str, many: u32, few: u32| if self.is_told(name) { many } else { few };
        let all = [
            (if number == 0 { 30 } else { 2 }, "greeting"),
            (16, "who"),
            (9, "kind"),
            (9, "home"),
            (9, "food"),
            (8, "friend"),
            (6, "wear"),
            (8, "doing"),
            (7, "feeling"),
            (8, "story"),
            (told("user", 1, 9), "tells_name"),
            (told("user", 16, 4), "user"),
            (told("like", 2, 8), "tells_like"),
            (told("like", 15, 3), "like"),
            (told("town", 1, 4), "tells_town"),
            (told("town", 9, 2), "town"),
            (told("age", 1, 4), "tells_age"),
            (told("age", 9, 2), "age"),
            (told("pet", 1, 4), "tells_pet"),
            (told("pet", 9, 2), "pet"),
            (told("best", 1, 4), "tells_best"),
            (told("best", 9, 2), "best"),
            (5, "play"),
            (15, "outside"),
            (12, "small_talk"),
            (8, "body"),
        ];
        let name = all[self.tale.ch.index(&all.map(|(weight, _)| weight))].1;
        self.ask(name);
    }

    /// Questions whose answers are to be found in what was said. In these a model learns to look.
    pub(super) fn drill(&mut self) {
        let all = [
            "echo", "who", "kind", "home", "food", "friend", "user", "like",
        ];
        let name = match all[self.tale.ch.index(&[30, 10, 5, 8, 5, 6, 14, 12])] {
            "user" if !self.is_told("user") => "tells_name",
            "like" if !self.is_told("like") => "tells_like",
            name => name,
        };
        self.ask(name);
    }

    /// Draws what a question of that name is about, and asks it.
    pub(super) fn ask(&mut self, name: &str) {
        match name {
            "echo" => self.draw_echo(),
            "greeting" | "goodbye" if self.is_told("user") => {
                return self.question(&format!("{name}_by_name"));
            }
            "kind" if !self.tale.ch.chance(45) => return self.is_kind(),
            "story" | "says_yes_to_story" => return self.tell_story(name),
            "tells_name" | "says_name" => {
                let value = self.some_name();
                self.tell("user", &value);
            }
            "tells_like" | "says_like" => {
                let value = match self.tale.ch.index(&[80, 20]) {
                    0 => self.pick("likes").to_owned(),
                    _ => format!("{}s", self.made_up(false)),
                };
                self.tell("like", &value);
            }
            "tells_town" => {
                let value = match self.tale.ch.index(&[60, 40]) {
                    0 => self.pick("towns").to_owned(),
                    _ => self.made_up(true),
                };
                self.tell("town", &value);
            }
            "tells_age" => {
                let value = (3 + self.tale.ch.below(80)).to_string();
                self.tell("age", &value);
            }
            "tells_pet" => {
                let (pet, name) = (self.pick("pets"), self.some_name());
                self.tell("pet", pet);
                self.tell("petname", &name);
            }
            "tells_best" => {
                let value = self.pick("colour");
                self.tell("best", value);
            }
            "outside" => return self.outside(),
            "body" => return self.body(),
            _ if WORDS.asks.contains_key(name) => return self.asks(name),
            _ => {}
        }
        self.question(name);
    }

    /// Draws words to say again.
    fn draw_echo(&mut self) {
        let mut words = String::new();
        for _ in 0..2 + self.tale.ch.below(5) {
            let word = match self.tale.ch.index(&[40, 30, 30]) {
                0 => self.made_up(false),
                1 => self.pick("names").to_owned(),
                _ => self.pick("likes").to_owned(),
            };
            words = format!("{words} {word}");
        }
        self.tell("echo", words.trim_start());
    }

    /// Whether it is of a kind, which it is or not.
    fn is_kind(&mut self) {
        let kind = self.tale.get("kind").to_owned();
        let other = match self.tale.ch.chance(45) {
            true => kind.clone(),
            false => self.tale.ch.pick(&KINDS).noun.to_owned(),
        };
        self.tale.set("other", &other);
        self.question(if other == kind {
            "is_kind"
        } else {
            "is_no_kind"
        });
    }

    /// A question about what the person has told, or not yet.
    fn asks(&mut self, name: &str) {
        let [user, answer, what] = WORDS.asks[name];
        if self.is_told(name) {
            return self.say(Topic::Nothing, user, answer);
        }
        self.tale.set("what", what);
        self.say(
            Topic::Nothing,
            user,
            "[I do not know {what}. You have not told me.|You have not told me {what} yet.]",
        );
    }

    pub(super) fn outside(&mut self) {
        let topic = self.pick("outside");
        let (n, m) = (self.tale.ch.below(100), self.tale.ch.below(2000));
        let word = self.made_up(false);
        for (name, value) in [("n", &n.to_string()), ("m", &m.to_string()), ("w", &word)] {
            self.tale.set(name, value);
        }
        self.tale.set("o", topic);
        let question = self.pick("questions");
        let (topic, _, answer) = WORDS.questions["outside"][0];
        self.say(topic, question, answer);
    }

    fn body(&mut self) {
        let what = ["flies", "swims", "does"][self.tale.ch.below(3)];
        let [user, yes, no] = WORDS.can[what];
        let can = what == "does" || self.tale.get(what) == "yes";
        self.say(Topic::Nothing, user, if can { yes } else { no });
    }

    /// The person answers what the animal has asked.
    pub(super) fn reply(&mut self, pending: Pending) {
        let says_yes = self.tale.ch.chance(65);
        self.ask(match pending {
            Pending::Name => "says_name",
            Pending::Like => "says_like",
            Pending::Story if says_yes => "says_yes_to_story",
            Pending::Play if says_yes => "says_yes_to_play",
            Pending::Story | Pending::Play => "says_no",
        });
    }

    /// Tells the first part of a story.
    fn tell_story(&mut self, question: &str) {
        let name = self.first_name();
        let kind = self.tale.ch.pick(&KINDS).noun;
        self.tale.set("sname", name);
        self.tale.set("skind", kind);
        for (variable, key) in [
            ("scol", "colour"),
            ("sthing", "smalltreasure"),
            ("splace", "place"),
        ] {
            let value = self.pick(key);
            self.tale.set(variable, value);
        }
        let parts = self.tale.ch.pick(&WORDS.stories);
        for (variable, part) in ["part1", "part2", "part3"].into_iter().zip(parts) {
            self.tale.set(variable, part);
        }
        let (_, user, answer) = WORDS.questions[question][0];
        self.say(Topic::Story(1), user, answer);
    }

    /// A question that goes on with the topic.
    pub(super) fn follow(&mut self, topic: Topic) {
        match topic {
            Topic::Nothing => self.fresh(1),
            Topic::Story(told) => self.go_on(told),
            topic => self.question(&format!("{topic:?}")),
        }
    }

    /// The story goes on, or is asked about.
    fn go_on(&mut self, told: usize) {
        if self.tale.ch.chance(60) {
            let (over, user, end) = WORDS.questions["goes_on"][0];
            let (next, answer) = match told {
                1 => (Topic::Story(2), "{part2}"),
                2 => (Topic::Story(3), "{part3}"),
                _ => (over, end),
            };
            return self.say(next, user, answer);
        }
        let all = &WORDS.questions["of_story"];
        let (_, user, answer) = all[self.tale.ch.below(all.len())];
        self.say(Topic::Story(told), user, answer);
    }
}
