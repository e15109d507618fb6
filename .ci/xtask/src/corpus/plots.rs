//! The plots, as scripts: `plots.txt` has them, and says what its lines mean.

use std::iter::Peekable;
use std::str::Lines;
use std::sync::LazyLock;

use super::choose::Chooser;
use super::lexicon::list;
use super::tell::{Tale, index};
use super::world::{place, who};

/// A plot, or a part that plots have in common.
#[derive(Debug)]
pub struct Plot {
    pub name: &'static str,
    /// How often it is told, beside the others. A part is not told alone.
    pub weight: u32,
    steps: Vec<Step>,
}

/// A line with the lines and blocks that belong to it.
#[derive(Debug)]
struct Step {
    percent: Option<u32>,
    /// `say`, `para`, or what follows `@`.
    word: &'static str,
    /// What follows the word, then the alternatives. Of blocks, their conditions.
    texts: Vec<&'static str>,
    blocks: Vec<Vec<Step>>,
}

static SCRIPTS: LazyLock<Vec<Plot>> = LazyLock::new(|| {
    let scripts = include_str!("plots.txt").split("\n= ").skip(1);
    scripts
        .map(|script| {
            let (head, lines) = script.split_once('\n').unwrap_or((script, ""));
            let (name, weight) = head.split_once(", ").unwrap_or((head, "0"));
            let mut lines = lines.trim_end().lines().peekable();
            Plot { name, weight: parsed(weight), steps: block(&mut lines) }
        })
        .collect()
});

/// All plots.
pub static PLOTS: LazyLock<Vec<&'static Plot>> =
    LazyLock::new(|| SCRIPTS.iter().filter(|plot| plot.weight > 0).collect());

/// The steps up to the end of a block.
fn block(lines: &mut Peekable<Lines<'static>>) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    while let Some(line) = lines.next_if(|line| !is_end(line)) {
        let line = line.trim_start();
        if line.starts_with('#') {
            continue;
        }
        if let Some(text) = line.strip_prefix("| ") {
            steps.last_mut().expect("a line before it").texts.push(text);
            continue;
        }
        let (percent, line) = percent(line).map_or((None, line), |(n, rest)| (Some(n), rest));
        let (word, text) = match line.strip_prefix('@') {
            Some(line) => line.split_once(' ').unwrap_or((line, "")),
            None if line.is_empty() => ("para", ""),
            None => ("say", line),
        };
        let (mut texts, mut blocks) = (vec![text], Vec::new());
        if matches!(word, "if" | "either") {
            loop {
                blocks.push(block(lines));
                match lines.next().map(str::trim_start).and_then(|line| line.strip_prefix("@or")) {
                    Some(condition) => texts.push(condition.trim_start()),
                    None => break,
                }
            }
        }
        steps.push(Step { percent, word, texts, blocks });
    }
    steps
}

fn is_end(line: &str) -> bool {
    let word = line.split_whitespace().next();
    matches!(word, Some("@or" | "@end"))
}

fn parsed(weight: &str) -> u32 {
    weight.parse().expect("a weight")
}

/// `55% text` in its parts.
fn percent(line: &str) -> Option<(u32, &str)> {
    let (percent, rest) = line.split_once('%')?;
    Some((percent.parse().ok()?, rest.trim_start()))
}

impl Plot {
    /// Tells the plot from begin to end.
    pub fn tell(&'static self, mut ch: Chooser) -> Tale {
        let first_person = ch.chance(8);
        let cast = self.steps.iter().find(|step| step.word == "cast").expect("a cast");
        let [first, second, weathers, times] =
            cast.texts[0].split(" / ").collect::<Vec<_>>()[..].try_into().expect("its four parts");
        let a = who(&mut ch, &[], first);
        let mut b = who(&mut ch, std::slice::from_ref(&a), second);
        b.friend = ch.chance(50);
        let place = place(&mut ch, &words(weathers), &words(times));
        let mut tale = Tale::new(ch, vec![a, b], place, first_person);
        tale.run(&self.steps);
        tale
    }
}

/// The words of a line, or of a list.
fn words(text: &'static str) -> Vec<&'static str> {
    text.strip_prefix('#').map_or_else(|| text.split(' ').collect(), |key| list(key).to_vec())
}

impl Tale {
    fn run(&mut self, steps: &'static [Step]) {
        for step in steps {
            let Step { percent, word, texts, blocks } = step;
            if percent.is_some_and(|percent| !self.ch.chance(percent)) {
                continue;
            }
            match *word {
                "cast" => {}
                "para" => self.para(),
                "either" => {
                    let weights = self.filled(texts[0]);
                    let weights: Vec<u32> = weights.split_whitespace().map(parsed).collect();
                    let at = match weights[..] {
                        [] => self.ch.below(blocks.len()),
                        _ => self.ch.index(&weights),
                    };
                    self.run(&blocks[at]);
                }
                "if" => {
                    if let Some(at) = texts.iter().position(|condition| self.holds(condition)) {
                        self.run(&blocks[at]);
                    }
                }
                "ending" if self.ch.chance(55) => self.tell_one(&texts[1..]),
                "ending" => self.act("ending", ""),
                "rows" => self.set_row(texts),
                "set" => {
                    let (name, first) = texts[0].split_once(' ').expect("a name and a template");
                    let all: Vec<&str> =
                        [first].into_iter().chain(texts[1..].iter().copied()).collect();
                    let template = *self.ch.pick(&all);
                    self.set(name, &self.filled(template));
                }
                "say" => self.tell_one(texts),
                word => {
                    let text = *self.ch.pick(texts);
                    self.act(word, text);
                }
            }
        }
    }

    fn tell_one(&mut self, texts: &[&str]) {
        let text = *self.ch.pick(texts);
        self.say(&self.filled(text));
    }

    fn act(&mut self, word: &str, text: &'static str) {
        match word {
            "open" => {
                let (weather, time, spot) = (self.place.weather, self.place.time, self.place.spot);
                for (name, value) in [("weather", weather), ("time", time), ("spot", spot)] {
                    self.set(name, value);
                }
                self.set("act", text);
                let likes = self.cast[0].trait_.1.replace("~s", "{A:his}").replace('~', "{A:he}");
                self.set("<trait>", &likes);
            }
            "third" => {
                let mut c = who(&mut self.ch, &self.cast, text);
                c.friend = self.ch.chance(30);
                return self.cast.push(c);
            }
            "helper" => return self.helper = true,
            "friend" | "stranger" => return self.cast[index(text)].friend = word == "friend",
            "known" => return self.cast[index(text)].known = true,
            "spot" => return self.place.spot = text,
            "weather" => return self.place.weather = text,
            "looks" => self.set("<x>", text),
            _ => {}
        }
        let part = SCRIPTS.iter().find(|part| part.name == word);
        self.run(&part.unwrap_or_else(|| panic!("no part goes by the name {word}")).steps);
    }

    /// Sets variables by one of the rows, the first of which has their names.
    fn set_row(&mut self, rows: &[&'static str]) {
        let rows_that_fit: Vec<&str> = rows[1..]
            .iter()
            .filter_map(|row| match row.strip_prefix("if ").and_then(|row| row.split_once(": ")) {
                Some((condition, row)) => self.holds(condition).then_some(row),
                None => Some(row),
            })
            .collect();
        let row = *self.ch.pick(&rows_that_fit);
        for (name, value) in rows[0].split(' ').zip(row.split(" / ")) {
            self.set(name, value);
        }
    }

    /// The template with `<name>` replaced by the template of that name.
    fn filled(&self, template: &str) -> String {
        let mut filled = template.to_owned();
        while let Some(begin) = filled.find('<') {
            let end = begin + filled[begin..].find('>').expect("a closing mark");
            let value = self.get(&filled[begin..=end]).to_owned();
            filled.replace_range(begin..=end, &value);
        }
        filled
    }

    fn holds(&mut self, condition: &str) -> bool {
        if let Some((percent, rest)) = percent(condition) {
            return self.ch.chance(percent) && self.holds(rest);
        }
        if let Some(rest) = condition.strip_prefix("not ") {
            return !self.holds(rest);
        }
        let (name, values) = condition.split_once(' ').unwrap_or((condition, ""));
        let is_one = |value: &str| values.split('|').any(|one| one == value);
        match name {
            "" => true,
            "first" => self.first_person,
            "helper" => self.helper,
            "A" | "B" | "C" => {
                let who = &self.cast[index(name)];
                match values {
                    "looks so" => who.adj == who.trait_.0,
                    kind => who.kind.fits(kind),
                }
            }
            "spot" => values.split('|').any(|part| self.place.spot.contains(part)),
            "weather" => is_one(self.place.weather),
            "time" => is_one(self.place.time),
            name => is_one(self.get(name)),
        }
    }
}
