//! *14*: which tokens may come next under a regular expression, after a text so far.

use serde::{Deserialize, Serialize};
use slowburn::constrained::{Automaton, State};
use slowburn::grammar::Grammar;
use slowburn::model::Input;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::{softmax, statistics};

use crate::widget::{Result, Token, Widget, in_json};

/// How many tokens are listed.
const MOST: usize = 48;

pub struct Allowed {
    pretrained: &'static Pretrained,
    /// The logits, `[vocab]`, behind the latest text: an edit of the expression needs no pass.
    latest: Option<(Vec<u32>, Vec<f32>)>,
}

#[derive(Deserialize)]
struct Request {
    prompt: String,
    regex: String,
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    /// The text so far can be completed.
    Inside(Inside),
    /// It cannot.
    Outside(Outside),
}

#[derive(Serialize)]
struct Inside {
    states: usize,
    state: usize,
    may_end: bool,
    /// How many tokens may come next, the end of the text not among them.
    allowed: usize,
    vocab_size: usize,
    /// The share of the model's probability that they have, with the end of the text where it may end.
    share: f32,
    /// The most likely of them, with their probability among those allowed.
    likeliest: Vec<(Token, f32)>,
}

#[derive(Serialize)]
struct Outside {
    states: usize,
    /// The state before the byte that cannot be read, and how many bytes could be.
    state: usize,
    read: usize,
    /// The bytes that could be read there instead.
    instead: Vec<u8>,
}

impl Allowed {
    pub fn new(pretrained: &'static Pretrained) -> Self {
        Self { pretrained, latest: None }
    }

    fn look(&mut self, Request { prompt, regex, text }: &Request) -> Result<Answer> {
        let constraint = self.pretrained.constraint(&Grammar::Regex(regex.clone()))?;
        let automaton = constraint.automaton().ok_or("a regular expression is an automaton")?;
        let mut state = Automaton::START;
        for (read, byte) in text.bytes().enumerate() {
            let Some(next) = automaton.next(state, byte) else {
                return Ok(Answer::Outside(outside(automaton, state, read)));
            };
            state = next;
        }
        // What looks like the name of a special token is text, as the automaton has read it.
        let output = self.pretrained.tokenizer.encode_bare_text(text)?;
        let next = constraint.follow().next(&output)?;
        let ids = [self.pretrained.prompt_ids(prompt)?, output].concat();
        let logits = self.logits(ids)?;
        let mask = next.mask();
        let mut scores = logits.clone();
        mask.apply(&mut scores);
        let ranked = statistics::ranked(&softmax(&scores));
        let probabilities = softmax(&logits);
        let share = mask.ids().map(|id| probabilities[id as usize]).sum();
        let end_ids = &self.pretrained.model.config().eos_token_ids;
        let likeliest = ranked
            .iter()
            .take(MOST)
            .map(|&(id, probability)| (Token::new(self.pretrained, id), probability));
        Ok(Answer::Inside(Inside {
            states: automaton.states(),
            state: state.index(),
            may_end: automaton.accepts(state),
            allowed: mask.ids().filter(|id| !end_ids.contains(id)).count(),
            vocab_size: logits.len(),
            share,
            likeliest: likeliest.collect(),
        }))
    }

    /// The logits, `[vocab]`, behind these tokens.
    fn logits(&mut self, ids: Vec<u32>) -> Result<Vec<f32>> {
        if let Some((_, logits)) = self.latest.as_ref().filter(|(of, _)| *of == ids) {
            return Ok(logits.clone());
        }
        let rows = self.pretrained.model.forward(&mut [Input::whole(&ids)])?;
        let logits = rows.into_iter().next().ok_or("the model gave no logits")?;
        self.latest = Some((ids, logits.clone()));
        Ok(logits)
    }
}

fn outside(automaton: &Automaton, state: State, read: usize) -> Outside {
    let instead = (0..=255).filter(|&byte| automaton.next(state, byte).is_some());
    Outside {
        states: automaton.states(),
        state: state.index(),
        read,
        instead: instead.collect(),
    }
}

impl Widget for Allowed {
    fn answer(&mut self, request: &str) -> Result<String> {
        in_json(request, |request: Request| self.look(&request))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use slowburn::device::{self, DeviceChoice, Precision};

    use super::*;

    fn widget() -> Allowed {
        let device = device::open(DeviceChoice::Cpu).unwrap();
        let pretrained = Pretrained::bundled(&device, Precision::F32).unwrap();
        Allowed::new(Box::leak(Box::new(pretrained)))
    }

    fn ask(widget: &mut Allowed, regex: &str, text: &str) -> Value {
        let request = json!({ "prompt": "Once upon a time", "regex": regex, "text": text });
        serde_json::from_str(&widget.answer(&request.to_string()).unwrap()).unwrap()
    }

    #[test]
    fn what_is_listed_is_what_the_constraint_allows() {
        let mut widget = widget();
        let regex = r", there was a (cat|dog|fox)( called [A-Z][a-z]+)?\.?";
        for text in [
            ", there",
            ", there was a ",
            ", there was a dog",
            ", there was a cat.",
        ] {
            let inside = ask(&mut widget, regex, text)["inside"].clone();
            let constraint =
                widget.pretrained.constraint(&Grammar::Regex(regex.to_owned())).unwrap();
            let output = widget.pretrained.tokenizer.encode_bare(text).unwrap();
            let next = constraint.follow().next(&output).unwrap();
            let may_end = next.mask().contains(widget.pretrained.model.config().eos_token_ids[0]);
            assert_eq!(inside["may_end"], may_end);
            assert_eq!(inside["allowed"], next.mask().len() - usize::from(may_end));
            let listed = inside["likeliest"].as_array().unwrap();
            assert_eq!(listed.len(), next.mask().len().min(MOST));
            let id = |token: &Value| token[0]["id"].as_u64().unwrap() as u32;
            assert!(listed.iter().all(|token| next.mask().contains(id(token))));
            let sum: f64 = listed.iter().map(|token| token[1].as_f64().unwrap()).sum();
            assert!(sum > 0.9 && sum < 1.0001, "{sum}");
            assert!((0.0..1.0001).contains(&inside["share"].as_f64().unwrap()));
        }
        // What follows is the same whether the pass was new or is the latest.
        let first = ask(&mut widget, "( [a-z]+)+", " was a");
        assert_eq!(ask(&mut widget, "( [a-z]+)+", " was a"), first);
    }

    #[test]
    fn a_text_that_is_outside_says_where_and_a_wrong_expression_why() {
        let mut widget = widget();
        let outside = &ask(&mut widget, "(cat|cow)s?", "cup")["outside"];
        assert_eq!((&outside["read"], &outside["instead"]), (&json!(1), &json!([b'a', b'o'])));
        let after = &ask(&mut widget, "cat", "cats")["outside"];
        assert_eq!((&after["read"], &after["instead"]), (&json!(3), &json!([])));
        let request = json!({ "prompt": "", "regex": "a(b", "text": "" }).to_string();
        let refused = widget.answer(&request).unwrap_err().to_string();
        assert!(refused.contains("a `(` has no `)`"), "{refused}");
    }
}
