//! Turns events into text: templates with choices, and words that refer to characters.
//!
//! A template is plain text with four marks. `[a|b|c]` is one of its parts, each as likely
//! as the others. `{x}` is a variable, `{#key}` a word of a list, and `{x=template}` tells a
//! template and keeps the result as a variable. `{A}`, `{B}` and `{C}` are characters; what is
//! written depends on what was said just before. `^` makes the next letter a capital.

use super::choose::Chooser;
use super::lexicon;
use super::tidy::tidy;
use super::world::{Place, Who};

/// A story while it is being told.
#[derive(Debug)]
pub struct Tale {
    /// The source of all choices.
    pub ch: Chooser,
    /// The characters, in the order `A`, `B`, `C`.
    pub cast: Vec<Who>,
    /// Where and when the story goes on.
    pub place: Place,
    /// Whether `A` tells the story as "I".
    pub first_person: bool,
    /// Whether `A` is the one who helps.
    pub helper: bool,
    vars: Vec<(String, String)>,
    out: String,
    para: usize,
    at_end: bool,
}

impl Tale {
    /// An empty tale.
    pub fn new(ch: Chooser, cast: Vec<Who>, place: Place, first_person: bool) -> Self {
        Self {
            ch,
            cast,
            place,
            first_person,
            helper: false,
            vars: Vec::new(),
            out: String::new(),
            para: 0,
            at_end: false,
        }
    }

    /// Tells one template, as one or more sentences.
    pub fn say(&mut self, template: &str) {
        if self.out.len() > self.para {
            self.out.push(' ');
        }
        self.expand(template);
    }

    /// Starts a new paragraph.
    pub fn para(&mut self) {
        if self.out.len() > self.para {
            self.out.push_str("\n\n");
            self.para = self.out.len();
            for who in &mut self.cast {
                who.last = None;
            }
        }
    }

    /// Sets a variable to an expanded template without telling it, and `<name>` to the template.
    pub fn set(&mut self, name: &str, template: &str) {
        if name.starts_with('<') {
            return self.vars.push((name.to_string(), template.to_string()));
        }
        let start = self.out.len();
        self.expand(template);
        let value = self.out.split_off(start);
        self.vars.push((name.to_string(), value));
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> &str {
        let found = self.vars.iter().rev().find(|(n, _)| n == name);
        found.map_or_else(|| panic!("no variable {name}"), |(_, v)| v.as_str())
    }

    /// The text, with capitals and articles put right.
    pub fn finish(self) -> (String, f64) {
        (tidy(&self.out), self.ch.bits())
    }

    fn expand(&mut self, t: &str) {
        let b = t.as_bytes();
        let mut i = 0;
        while i < b.len() {
            match b[i] {
                b'[' => {
                    let end = close(t, i, b'[', b']');
                    let part = self.part(&t[i + 1..end]);
                    self.expand(part);
                    i = end + 1;
                }
                b'{' => {
                    let end = close(t, i, b'{', b'}');
                    self.at_end = t[end + 1..].starts_with('.');
                    self.mark(&t[i + 1..end]);
                    i = end + 1;
                }
                _ => {
                    let next = t[i..].find(['[', '{']).map_or(t.len(), |n| i + n);
                    self.out.push_str(&t[i..next]);
                    i = next;
                }
            }
        }
    }

    /// Chooses one part of `a|b|c`.
    fn part<'t>(&mut self, inner: &'t str) -> &'t str {
        let mut parts = Vec::new();
        let (mut depth, mut start) = (0, 0);
        for (i, c) in inner.bytes().chain([b'|']).enumerate() {
            match c {
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth -= 1,
                b'|' if depth == 0 => {
                    parts.push(&inner[start..i]);
                    start = i + 1;
                }
                _ => {}
            }
        }
        parts[self.ch.index(&vec![1; parts.len()])]
    }

    fn mark(&mut self, m: &str) {
        let first = m.as_bytes()[0];
        if let Some(key) = m.strip_prefix('#') {
            let word = *self.ch.pick(lexicon::list(key));
            self.expand(word);
        } else if let Some(name) = m.strip_prefix('+') {
            self.introduce(index(name));
        } else if let Some((name, template)) = m.split_once('=') {
            self.set(name, template);
            self.mark(name);
        } else if m.starts_with("AB") {
            self.both(m.trim_start_matches("AB"));
        } else if first.is_ascii_uppercase() {
            let (who, how) = m.split_at(1);
            self.refer(index(who), how);
        } else {
            let value = self.get(m).to_string();
            self.out.push_str(&value);
        }
    }

    fn in_quote(&self) -> bool {
        self.out[self.para..].matches('"').count() % 2 == 1
    }

    /// The number of the sentence that is being told, within its paragraph.
    fn sentence(&self) -> usize {
        let text = &self.out[self.para..];
        text.matches(". ").count()
            + text.matches(".\" ").count()
            + text.matches("! ").count()
            + text.matches("? ").count()
    }

    /// Whether "he" or "she" would be understood as this character.
    fn pronoun_is_clear(&self, x: usize) -> bool {
        let now = self.sentence();
        let near = |who: &Who| who.last.is_some_and(|s| s + 1 >= now);
        near(&self.cast[x])
            && self
                .cast
                .iter()
                .enumerate()
                .all(|(y, who)| y == x || who.he != self.cast[x].he || !near(who) || self.is_me(y))
    }

    fn is_me(&self, x: usize) -> bool {
        self.first_person && x == 0
    }

    fn touch(&mut self, x: usize) {
        let now = self.sentence();
        self.cast[x].last = Some(now);
    }

    fn introduce(&mut self, x: usize) {
        let friend = x > 0 && self.cast[x].friend && self.cast[0].known;
        let who = self.cast[x].clone();
        let (name, noun) = (who.name, who.kind.noun);
        let adj = self.described(&who);
        if friend {
            self.refer(0, "'s");
            self.out.push_str(" friend ");
            let text = match self.ch.below(2) {
                0 => format!("{name} the {noun}"),
                _ => format!("{name}, a {adj} {noun},"),
            };
            self.out.push_str(&text);
        } else {
            let text = match self.ch.index(&[5, 5, 2, 2, 1]) {
                0 => format!("a {adj} {noun} named {name}"),
                1 => format!("a {adj} {noun} called {name}"),
                2 => format!("{name} the {noun}"),
                3 => format!("{name}, a {adj} {noun},"),
                _ => format!("a {noun} named {name}"),
            };
            self.out.push_str(&text);
        }
        self.cast[x].known = true;
        self.touch(x);
    }

    /// The adjective of an introduction, sometimes with a word before it.
    fn described(&mut self, who: &Who) -> String {
        let sized = matches!(who.adj, "small" | "little" | "tiny" | "young");
        let plain = matches!(who.adj, "grey" | "brown" | "spotty" | "young");
        let before: Vec<&str> = ["", "young", "little", "small", "very", "rather"]
            .into_iter()
            .filter(|&w| match w {
                "little" | "small" => !sized && who.kind.size < 3,
                "young" => !sized,
                "very" | "rather" => !plain && !sized,
                _ => true,
            })
            .collect();
        let word = *self.ch.pick(&before);
        [word, who.adj].join(if word.is_empty() { "" } else { " " })
    }

    /// The word that goes with a character: one for "he", for "she" or for "I".
    fn pronoun(&self, x: usize, [he, she, i]: [&'static str; 3]) -> &'static str {
        if self.is_me(x) {
            i
        } else if self.cast[x].he {
            he
        } else {
            she
        }
    }

    fn refer(&mut self, x: usize, how: &str) {
        if let Some(verb) = how.strip_prefix('!') {
            return self.speaker(x, verb);
        }
        let who = self.cast[x].clone();
        let fixed = match how {
            ":he" => self.pronoun(x, ["he", "she", "I"]),
            ":him" => self.pronoun(x, ["him", "her", "me"]),
            ":his" => self.pronoun(x, ["his", "her", "my"]),
            ":self" => self.pronoun(x, ["himself", "herself", "myself"]),
            ":k" => who.kind.noun,
            ":home" => who.kind.home,
            ":n" => who.name,
            ":trait" => who.trait_.0,
            ":adj" => who.adj,
            ":goes" => *self.ch.pick(&who.kind.goes),
            _ => return self.mention(x, how),
        };
        if matches!(how, ":he" | ":him" | ":his") {
            self.touch(x);
        }
        self.out.push_str(fixed);
    }

    /// Who says something: the verb, with a pronoun or a name.
    fn speaker(&mut self, x: usize, verb: &str) {
        let known = self.cast[x].known;
        if self.is_me(x) || known && self.pronoun_is_clear(x) && self.ch.chance(45) {
            self.out.push_str(self.pronoun(x, ["he", "she", "I"]));
            self.out.push(' ');
            self.out.push_str(verb);
            self.touch(x);
        } else {
            self.out.push_str(verb);
            self.out.push(' ');
            self.name(x, 6);
        }
        self.adverb(verb);
    }

    /// A pronoun where it is clear, or else a name.
    fn mention(&mut self, x: usize, how: &str) {
        let who = self.cast[x].clone();
        let word = match how {
            "" => self.pronoun(x, ["he", "she", "I"]),
            ":o" => self.pronoun(x, ["him", "her", "me"]),
            "'s" => self.pronoun(x, ["his", "her", "my"]),
            _ => panic!("no way {how} to refer to a character"),
        };
        if self.in_quote() {
            self.out.push_str(who.name);
            if !who.known {
                self.out.push_str(" the ");
                self.out.push_str(who.kind.noun);
                self.cast[x].known = true;
            }
        } else {
            let same = who.last == Some(self.sentence());
            let clear = who.known && self.pronoun_is_clear(x);
            if self.is_me(x) || clear && (same || self.ch.chance(60)) {
                self.out.push_str(word);
                return self.touch(x);
            }
            self.name(x, if how.is_empty() { 6 } else { 40 });
        }
        if how == "'s" {
            self.out.push_str("'s");
        }
    }

    /// Sometimes says how something was said.
    fn adverb(&mut self, verb: &str) {
        if self.at_end && matches!(verb, "said" | "asked") && self.ch.chance(20) {
            let how = *self.ch.pick(lexicon::list("how"));
            self.out.push(' ');
            self.out.push_str(how);
        }
    }

    /// The name, or "the small fox", or an introduction where there was none yet.
    ///
    /// `plain` is the weight of the name against 3 for the other two.
    fn name(&mut self, x: usize, plain: u32) {
        let who = self.cast[x].clone();
        if !who.known {
            let text = match self.ch.index(&[2, 1, 1]) {
                0 => format!("{} the {}", who.name, who.kind.noun),
                1 => format!("a {} {} named {}", who.adj, who.kind.noun, who.name),
                _ => format!("a {} {} called {}", who.adj, who.kind.noun, who.name),
            };
            self.out.push_str(&text);
            self.cast[x].known = true;
        } else {
            let how = self.ch.index(&[plain, 2, 1]);
            let text = match how {
                0 => who.name.to_string(),
                1 => format!("the {}", who.kind.noun),
                _ => format!("the {} {}", who.adj, who.kind.noun),
            };
            self.out.push_str(&text);
        }
        self.touch(x);
    }

    /// The first two characters together.
    fn both(&mut self, how: &str) {
        let me = self.first_person;
        let (a, b) = (self.cast[0].name, self.cast[1].name);
        let text = match (how, me) {
            (":they", false) => "they".to_string(),
            (":they", true) => "we".to_string(),
            (":them", false) => "them".to_string(),
            (":them", true) => "us".to_string(),
            ("", false) => match self.ch.index(&[3, 3, 1]) {
                0 => format!("{a} and {b}"),
                1 => "they".to_string(),
                _ => "the two friends".to_string(),
            },
            ("", true) => match self.ch.below(2) {
                0 => format!("{b} and I"),
                _ => "we".to_string(),
            },
            _ => panic!("no way {how} to refer to two characters"),
        };
        self.out.push_str(&text);
        if how.is_empty() {
            self.touch(0);
            self.touch(1);
        }
    }
}

pub fn index(name: &str) -> usize {
    match name.as_bytes().first() {
        Some(b'A') => 0,
        Some(b'B') => 1,
        Some(b'C') => 2,
        _ => panic!("no character goes by {name}"),
    }
}

fn close(t: &str, at: usize, open: u8, shut: u8) -> usize {
    let mut depth = 0;
    for (i, c) in t.bytes().enumerate().skip(at) {
        if c == open {
            depth += 1;
        } else if c == shut {
            depth -= 1;
            if depth == 0 {
                return i;
            }
        }
    }
    panic!("a mark is not closed in: {t}");
}
