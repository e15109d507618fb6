//! Whether a story equals the book's, and where it first differs.

use crate::parts::{End, Parts};
use crate::router;
use crate::served::{self, Answered, Found, SETTINGS};
use crate::story::{LAST_LINE_SHOWN, Story};
use crate::vocabulary::Vocabulary;

/// What a story has to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    pub prompt: Vec<u32>,
    pub ids: Vec<u32>,
    pub end: End,
    pub streamed: String,
    pub text: String,
}

impl Expected {
    /// The ids of *First light*, and what the book's parts make of them. A test of the crate compares
    /// the file with what the crate writes.
    pub fn first_light(vocabulary: &Vocabulary) -> Self {
        let all = ids(include_str!("../first-light.txt"));
        let (prompt, ids) = all.split_at(PROMPT);
        let story = Self::of_ids(vocabulary, prompt, ids, End::Eos);
        Self { streamed: story.streamed + LAST_LINE_SHOWN, ..story }
    }

    /// The texts of [`several`](crate::several), as the crate writes each of them alone. The same test
    /// compares them.
    pub fn several(vocabulary: &Vocabulary) -> Vec<Self> {
        let text = |line: &str| {
            let (prompt, written) = line.split_once(" | ").unwrap_or((line, ""));
            Self::of_ids(vocabulary, &ids(prompt), &ids(written), End::Length)
        };
        include_str!("../several.txt").lines().map(text).collect()
    }

    fn of_ids(vocabulary: &Vocabulary, prompt: &[u32], ids: &[u32], end: End) -> Self {
        let book = Parts::of_the_book();
        let text = |ids: &[u32]| vocabulary.text(&book, ids);
        Self {
            prompt: prompt.to_vec(),
            ids: ids.to_vec(),
            end,
            streamed: text(ids),
            text: text(&[prompt, ids].concat()),
        }
    }
}

impl From<Story> for Expected {
    fn from(story: Story) -> Self {
        let Story { prompt, ids, end, streamed, text, .. } = story;
        Self { prompt, ids, end, streamed, text }
    }
}

/// How many of them are the prompt's.
const PROMPT: usize = 5;

fn ids(text: &str) -> Vec<u32> {
    text.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

/// The first difference between two stories.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    Same,
    /// The prompt has other ids.
    Prompt {
        found: Vec<u32>,
        expected: Vec<u32>,
    },
    /// The token at this place, counted from 1, is another, or there is none.
    Token {
        number: usize,
        found: Option<u32>,
        expected: Option<u32>,
    },
    /// The ids are the same, and the reason why they end is another.
    End {
        found: End,
        expected: End,
    },
    /// The ids are the same, and the text that came through the stream is another.
    Streamed {
        found: String,
        expected: String,
    },
    /// So is the text that was made of all ids at the end.
    Text {
        found: String,
        expected: String,
    },
}

/// Compares a story with the expected one, in the order in which it is made: the ids of the prompt,
/// the ids of the story, and then the texts.
pub fn verdict(story: &Story, expected: &Expected) -> Verdict {
    if story.prompt != expected.prompt {
        let (found, expected) = (story.prompt.clone(), expected.prompt.clone());
        return Verdict::Prompt { found, expected };
    }
    let longest = story.ids.len().max(expected.ids.len());
    let at = |ids: &[u32], i: usize| ids.get(i).copied();
    if let Some(i) = (0..longest).find(|&i| at(&story.ids, i) != at(&expected.ids, i)) {
        let (found, expected) = (at(&story.ids, i), at(&expected.ids, i));
        return Verdict::Token { number: i + 1, found, expected };
    }
    if story.end != expected.end {
        return Verdict::End { found: story.end, expected: expected.end };
    }
    let texts = |found: &str, expected: &str| (found.to_owned(), expected.to_owned());
    if story.streamed != expected.streamed {
        let (found, expected) = texts(&story.streamed, &expected.streamed);
        return Verdict::Streamed { found, expected };
    }
    if story.text != expected.text {
        let (found, expected) = texts(&story.text, &expected.text);
        return Verdict::Text { found, expected };
    }
    Verdict::Same
}

impl Verdict {
    /// What differs, in a sentence or two.
    pub fn in_words(&self, vocabulary: &Vocabulary) -> String {
        let token = |id: &Option<u32>| match id {
            None => "nothing".to_owned(),
            Some(id) => {
                format!("{id} {:?}", String::from_utf8_lossy(vocabulary.bytes_of(*id)))
            }
        };
        match self {
            Self::Same => "All is as in the book.".into(),
            Self::Prompt { found, expected } => {
                format!("The prompt has other ids: {found:?} instead of {expected:?}.")
            }
            Self::Token { number, found, expected } => format!(
                "The first token that differs is number {number}: {} instead of {}.",
                token(found),
                token(expected)
            ),
            Self::End { found, expected } => {
                format!("The ids are right. The story ended for {found:?} instead of {expected:?}.")
            }
            Self::Streamed { found, expected } => {
                format!("The ids are right. {}", difference("that was streamed", found, expected))
            }
            Self::Text { found, expected } => {
                format!("The ids are right. {}", difference("of all ids", found, expected))
            }
        }
    }
}

/// The first text of a batch that differs, counted from 1.
pub fn of_several(stories: &[Story], expected: &[Expected]) -> Option<(usize, Verdict)> {
    let verdicts = (1..).zip(stories.iter().zip(expected).map(|(a, b)| verdict(a, b)));
    verdicts.into_iter().find(|(_, verdict)| *verdict != Verdict::Same)
}

/// What is not as it must be when several texts were asked for over HTTP: the answers first, and then the
/// texts.
pub fn of_served(found: &Found, expected: &[Expected]) -> Option<String> {
    let all = Answered { status: 200, retry_after: None };
    let asked = served::requests().into_iter().map(|asked| (asked.for_texts, asked.expected));
    let asked = asked.chain([(SETTINGS.slots, all)]);
    for ((number, (texts, expected)), found) in (1..).zip(asked).zip(&found.answered) {
        if *found != expected {
            return Some(format!(
                "Request {number}, for {texts} of {} texts, was answered with {found} instead of {expected}.",
                SETTINGS.slots
            ));
        }
    }
    for ((number, found), expected) in (1..).zip(&found.texts).zip(expected) {
        match found {
            Err(wrong) => return Some(format!("The events of text {number} are wrong: {wrong}.")),
            Ok(text) if *text != expected.streamed => {
                let which = format!("{number} over HTTP");
                return Some(difference(&which, text, &expected.streamed));
            }
            Ok(_) => {}
        }
    }
    (found.free != SETTINGS.slots).then(|| {
        format!("All texts have ended, and {} of {} slots are free.", found.free, SETTINGS.slots)
    })
}

/// What is not the book's when requests went to several engines: where they went first, and then the texts.
pub fn of_routed(found: &router::Found, expected: &router::Found) -> Option<String> {
    let routed = (1..).zip(found.routed.iter().zip(&expected.routed));
    for (number, (found, expected)) in routed {
        if found != expected {
            return Some(format!(
                "Request {number} went to replica {found}, instead of {expected}."
            ));
        }
    }
    let texts = (1..).zip(found.texts.iter().zip(&expected.texts));
    for (number, (found, expected)) in texts {
        match (found, expected) {
            (Some(Err(wrong)), _) => {
                return Some(format!("The events of request {number} are wrong: {wrong}."));
            }
            (Some(Ok(found)), Some(Ok(expected))) if found != expected => {
                return Some(difference(&format!("of request {number}"), found, expected));
            }
            _ => {}
        }
    }
    None
}

/// Where two texts part.
fn difference(which: &str, found: &str, expected: &str) -> String {
    let same = found.chars().zip(expected.chars()).take_while(|(a, b)| a == b).count();
    let from = |text: &str| text.chars().skip(same).take(12).collect::<String>();
    format!(
        "The text {which} differs from character {} on: {:?} instead of {:?}.",
        same + 1,
        from(found),
        from(expected)
    )
}
