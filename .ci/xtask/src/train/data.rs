//! Packs stories into training rows of equal length.

use super::tokenizer::{ASSISTANT_ID, BEGIN_ID, END_ID};

/// Produces training rows from the stories, repeatedly.
pub struct Rows {
    stories: Vec<Vec<u32>>,
    next: usize,
}

impl Rows {
    pub fn new(stories: Vec<Vec<u32>>) -> Self {
        Self { stories, next: 0 }
    }

    /// The story at which the next row begins.
    pub fn next_story(&self) -> usize {
        self.next
    }

    pub fn seek(&mut self, story: usize) {
        self.next = story % self.stories.len();
    }

    /// `rows` rows of `length` inputs and their targets, which is `length + 1` tokens. Each row
    /// begins with a story, so that the row introduces all its characters; a story is cut off at
    /// the end of the row.
    pub fn take(&mut self, rows: usize, length: usize) -> Vec<Vec<u32>> {
        (0..rows).map(|_| self.row(length + 1)).collect()
    }

    fn row(&mut self, length: usize) -> Vec<u32> {
        let mut row = Vec::with_capacity(length);
        while row.len() < length {
            let story = &self.stories[self.next];
            let room = length - row.len();
            row.extend(&story[..story.len().min(room)]);
            self.next = (self.next + 1) % self.stories.len();
        }
        row
    }
}

// ANCHOR: targets
/// The targets of a row: all tokens but the first. In a conversation only answers are learned, with the
/// token that ends each; the others are replaced by the begin token, which no answer has.
pub fn targets(row: &[u32], talks: bool) -> Vec<u32> {
    if !talks {
        return row[1..].to_vec();
    }
    let mut answers = false;
    let mut target = |id: u32| {
        let learned = answers;
        match id {
            ASSISTANT_ID => answers = true,
            END_ID => answers = false,
            _ => {}
        }
        if learned { id } else { BEGIN_ID }
    };
    row[1..].iter().map(|&id| target(id)).collect()
}
// ANCHOR_END: targets

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::tokenizer::USER_ID;

    #[test]
    fn only_answers_are_learned() {
        let row = [
            BEGIN_ID,
            USER_ID,
            9,
            ASSISTANT_ID,
            7,
            8,
            END_ID,
            USER_ID,
            6,
            ASSISTANT_ID,
            5,
        ];
        assert_eq!(targets(&row, true), [0, 0, 0, 7, 8, END_ID, 0, 0, 0, 5]);
        assert_eq!(targets(&row, false), row[1..]);
    }

    #[test]
    fn rows_begin_with_a_story_and_have_one_length() {
        let mut rows = Rows::new(vec![vec![0, 5, 6, 1], vec![0, 7, 1], vec![0, 8, 9, 9, 1]]);
        let batch = rows.take(3, 5);
        assert_eq!(batch[0], [0, 5, 6, 1, 0, 7]);
        assert_eq!(batch[1], [0, 8, 9, 9, 1, 0]);
        assert_eq!(batch[2], [0, 7, 1, 0, 8, 9]);
        assert_eq!(rows.next_story(), 0);
    }
}
