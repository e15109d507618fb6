//! Little conversations of the small world: a person asks, an animal answers.
//!
//! What is true in a conversation is drawn before it begins: who answers, where it lives, what it likes,
//! and its mood. A system line says some of that, and the rest is as it always is. What the person
//! tells is remembered, so later answers follow from earlier lines.
//!
//! The bundled model spark was trained on these.

mod persona;
mod questions;
#[cfg(test)]
mod tests;
mod typing;
pub mod words;

use std::collections::HashSet;

use rayon::prelude::*;
use serde::Deserialize;

use super::choose::Chooser;
use super::lexicon::list;
use super::tell::Tale;
use super::tidy::tidy;
use super::world::Place;
use super::{hash, mix};
use words::{Mood, plain};

/// The most words of a conversation.
const MAX_WORDS: usize = 300;

/// A conversation that ends with an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialogue {
    /// Who answers, and how.
    pub system: Option<String>,
    /// What is asked and answered.
    pub turns: Vec<Turn>,
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub user: String,
    pub answer: String,
}

impl Dialogue {
    /// All that is said, with its role.
    pub fn messages(&self) -> Vec<(&'static str, &str)> {
        let system = self.system.iter().map(|text| ("system", text.as_str()));
        let turns = self.turns.iter().flat_map(|turn| {
            [
                ("user", turn.user.as_str()),
                ("assistant", turn.answer.as_str()),
            ]
        });
        system.chain(turns).collect()
    }
}

/// How many conversations are drawn at the same time.
const TOGETHER: usize = 1024;

/// Distinct conversations without end.
pub fn dialogues(seed: u64) -> impl Iterator<Item = Dialogue> {
    let mut seen = HashSet::new();
    (0..)
        .step_by(TOGETHER)
        .flat_map(move |first| {
            let all = (first..first + TOGETHER as u64).into_par_iter();
            all.map(|i| dialogue(Chooser::new(mix(seed, i)))).collect::<Vec<_>>()
        })
        .filter(move |dialogue| seen.insert(hash(&format!("{dialogue:?}"))))
}

fn dialogue(ch: Chooser) -> Dialogue {
    let mut talk = Talk::new(ch);
    let system = talk.system();
    let turns = match talk.tale.ch.index(&[8, 12, 14, 14, 12, 10, 10, 8, 6, 6]) {
        9 => 20,
        few => few + 1,
    };
    for turn in 0..turns {
        let words = |turn: &Turn| {
            turn.user.split_whitespace().count() + turn.answer.split_whitespace().count()
        };
        if talk.turns.iter().map(words).sum::<usize>() > MAX_WORDS {
            break;
        }
        talk.turn(turn, turn + 1 == turns);
    }
    Dialogue { system, turns: talk.turns }
}

/// What the last answer was about, so that the next question need not say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Topic {
    Nothing,
    Me,
    Home,
    Food,
    Friend,
    Wear,
    Doing,
    Feeling,
    /// A story, and how many of its parts are told.
    Story(usize),
    Play,
    Outside,
    ToldName,
    ToldLike,
    ToldTown,
    ToldAge,
    ToldSad,
}

/// A question that the animal has asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pending {
    Name,
    Like,
    Story,
    Play,
}

/// A conversation that goes on.
struct Talk {
    /// Its variables are what is true.
    tale: Tale,
    mood: &'static Mood,
    /// What the person has told: the names of variables.
    told: Vec<&'static str>,
    topic: Topic,
    pending: Option<Pending>,
    /// Whether the person types no capitals.
    lower: bool,
    /// Whether nearly all questions are about what was said before.
    drills: bool,
    turns: Vec<Turn>,
}

impl Talk {
    fn new(ch: Chooser) -> Self {
        let place = Place { weather: "sunny", time: "morning", spot: "" };
        let mut tale = Tale::new(ch, Vec::new(), place, false);
        let lower = tale.ch.chance(50);
        let drills = tale.ch.chance(60);
        Self {
            tale,
            mood: plain(),
            told: Vec::new(),
            topic: Topic::Nothing,
            pending: None,
            lower,
            drills,
            turns: Vec::new(),
        }
    }

    fn turn(&mut self, number: usize, is_last: bool) {
        if let Some(pending) = self.pending.take()
            && self.tale.ch.chance(75)
        {
            return self.reply(pending);
        }
        if is_last && number > 0 && self.tale.ch.chance(12) {
            return self.ask("goodbye");
        }
        if self.topic != Topic::Nothing && self.tale.ch.chance(40) {
            return self.follow(self.topic);
        }
        if self.drills {
            return self.drill();
        }
        self.fresh(number);
    }

    /// Makes a text of a template.
    fn expand(&mut self, template: &str) -> String {
        self.tale.set("_", template);
        self.tale.get("_").to_owned()
    }

    fn is_told(&self, name: &str) -> bool {
        self.told.contains(&name)
    }

    /// A question by its template, and the answer by its.
    fn say(&mut self, topic: Topic, user: &str, answer: &str) {
        let user = self.expand(user);
        self.say_typed(topic, &user, answer);
    }

    /// A question that is no template.
    fn say_typed(&mut self, topic: Topic, user: &str, answer: &str) {
        let user = self.typed(user);
        let answer = self.expand(answer);
        let mut answer = self.toned(&tidy(&answer));
        if let Some(question) = self.question_back(topic) {
            answer = format!("{answer} {question}");
        }
        self.topic = topic;
        self.turns.push(Turn { user, answer });
    }

    /// The answer in the mood that was asked for.
    fn toned(&mut self, answer: &str) -> String {
        let Mood { before, after, .. } = self.mood;
        if before.is_empty() {
            return answer.to_owned();
        }
        let how = self.tale.ch.index(&[40, 40, 20]);
        let mut parts = vec![answer];
        if how != 1 {
            parts.insert(0, *self.tale.ch.pick(before));
        }
        if how != 0 {
            parts.push(*self.tale.ch.pick(after));
        }
        parts.join(" ")
    }

    /// Sometimes the animal asks too.
    fn question_back(&mut self, topic: Topic) -> Option<&'static str> {
        if !self.mood.before.is_empty() || !self.tale.ch.chance(14) {
            return None;
        }
        let (pending, question) = match topic {
            Topic::Me if !self.is_told("user") => (Pending::Name, "What is your name?"),
            Topic::Food if !self.is_told("like") => (Pending::Like, "What do you like?"),
            Topic::Feeling => (Pending::Story, "Do you want to hear a story?"),
            Topic::Doing => (Pending::Play, "Do you want to play with me?"),
            _ => return None,
        };
        self.pending = Some(pending);
        Some(question)
    }

    /// The person tells something: the value as it will be typed.
    fn tell(&mut self, name: &'static str, value: &str) {
        let value = if self.lower {
            value.to_lowercase()
        } else {
            value.to_owned()
        };
        self.tale.set(name, &value);
        if !self.is_told(name) {
            self.told.push(name);
        }
    }

    /// A name of a person, some of which nobody has.
    fn some_name(&mut self) -> String {
        let from = self.tale.ch.index(&[45, 10, 45]);
        match from {
            0 => self.pick("names").to_owned(),
            1 => self.pick("she").to_owned(),
            _ => self.made_up(true),
        }
    }

    /// A word of two or three syllables.
    fn made_up(&mut self, is_name: bool) -> String {
        const FIRST: &[&str] = &[
            "b", "br", "c", "ch", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "kl", "l", "m",
            "n", "p", "pr", "qu", "r", "s", "sh", "st", "t", "tr", "v", "w", "y", "z", "", "th",
        ];
        const VOWEL: &[&str] = &[
            "a", "e", "i", "o", "u", "ee", "ai", "oo", "ia", "a", "e", "o",
        ];
        const LAST: &[&str] = &[
            "", "", "", "n", "l", "r", "s", "m", "x", "t", "ck", "nd", "lf",
        ];
        let ch = &mut self.tale.ch;
        let mut word = String::new();
        for _ in 0..1 + ch.index(&[15, 60, 25]) {
            word += *ch.pick(FIRST);
            word += *ch.pick(VOWEL);
        }
        word += *ch.pick(LAST);
        if is_name {
            word[..1].make_ascii_uppercase();
        }
        word
    }

    /// A name of the stories.
    fn first_name(&mut self) -> &'static str {
        let key = if self.tale.ch.chance(50) { "he" } else { "she" };
        self.pick(key)
    }

    fn pick(&mut self, key: &str) -> &'static str {
        let words = list(key);
        words[self.tale.ch.below(words.len())]
    }
}
