//! Whether a story is that of the book, and where it first differs.

use crate::parts::{End, Parts};
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
        let ids = include_str!("../first-light.txt").split_whitespace();
        let all: Vec<u32> = ids.filter_map(|id| id.parse().ok()).collect();
        let (prompt, ids) = all.split_at(PROMPT);
        let detokenize = Parts::of_the_book().detokenize;
        let text = |ids| detokenize(ids, &vocabulary.bytes(), vocabulary.special());
        Self {
            prompt: prompt.to_vec(),
            ids: ids.to_vec(),
            end: End::Eos,
            streamed: text(ids) + LAST_LINE_SHOWN,
            text: text(&all),
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

/// Compares a story with what it has to be, in the order in which it is made: the ids of the prompt,
/// those of the story, and then the texts.
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
