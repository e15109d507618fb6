//! Results that are never rounded, in lines, so that the first that differs can be said.

use std::ops::Range;

use crate::guesses::Truncated;
use crate::parts::{
    Budget, Checked, Health, Holder, Holders, NextAttempt, NextTokens, Place, States, Table,
    TileKind, TrieNode, Work,
};

/// What is said of a result.
pub trait Lines {
    fn lines(&self) -> Vec<String>;
}

/// A token.
impl Lines for usize {
    fn lines(&self) -> Vec<String> {
        vec![self.to_string()]
    }
}

/// An event.
impl Lines for Option<String> {
    fn lines(&self) -> Vec<String> {
        vec![format!("{self:?}")]
    }
}

/// Blocks.
impl Lines for Vec<u32> {
    fn lines(&self) -> Vec<String> {
        vec![format!("{self:?}")]
    }
}

/// The places of rows.
impl Lines for Option<Vec<u32>> {
    fn lines(&self) -> Vec<String> {
        vec![format!("{self:?}")]
    }
}

/// The blocks that a window needs.
impl Lines for Range<usize> {
    fn lines(&self) -> Vec<String> {
        vec![format!("{self:?}")]
    }
}

/// The tiles that a window looks at.
impl Lines for Vec<(usize, TileKind)> {
    fn lines(&self) -> Vec<String> {
        self.iter().map(|(number, kind)| format!("tile {number} {kind:?}")).collect()
    }
}

/// A plan.
impl Lines for Vec<Work> {
    fn lines(&self) -> Vec<String> {
        let work = |work: &Work| {
            let logits = if work.wants_logits { ", logits" } else { "" };
            format!("{} {}{logits}", work.name, work.tokens)
        };
        self.iter().map(work).collect()
    }
}

impl Lines for Vec<Option<Place>> {
    fn lines(&self) -> Vec<String> {
        let place = |place: &Option<Place>| match place {
            Some(Place { block, offset }) => format!("block {block} offset {offset}"),
            None => "None".to_owned(),
        };
        self.iter().map(place).collect()
    }
}

/// Who holds what, and whether there is room.
impl Lines for (Holders, bool) {
    fn lines(&self) -> Vec<String> {
        let (Holders { running, paused, waiting, free }, has_room) = self;
        let mut lines = Vec::new();
        for (list, holders) in [
            ("running", running),
            ("paused", paused),
            ("waiting", waiting),
        ] {
            for Holder { name, tokens, computed, blocks, .. } in holders {
                let tokens = tokens.len();
                lines.push(format!(
                    "{name} {list}, {computed} of {tokens} tokens, blocks {blocks:?}"
                ));
            }
        }
        lines.push(format!("free {free:?}"));
        lines.push(format!("{has_room}"));
        lines
    }
}

/// What a check of guesses leaves.
impl Lines for Checked {
    fn lines(&self) -> Vec<String> {
        let Self { gained, kept_rows } = self;
        vec![
            format!("gained {gained:?}"),
            format!("{kept_rows} rows are kept"),
        ]
    }
}

/// What a truncation leaves.
impl Lines for Truncated {
    fn lines(&self) -> Vec<String> {
        let Self { held, table: Table { blocks, length }, freed } = self;
        let (count, last) = (blocks.len(), blocks.last());
        let mut lines = vec![
            format!("{length} positions in {count} blocks, the last {last:?}"),
            format!("free now {freed:?}"),
        ];
        for (id, block) in held.blocks.iter().enumerate() {
            lines.push(format!("block {id}: {} owners, {} filled", block.owners, block.filled));
        }
        lines
    }
}

/// The states of an automaton.
impl Lines for States {
    fn lines(&self) -> Vec<String> {
        self.iter().map(|row| format!("{row:?}")).collect()
    }
}

/// A trie: the nodes that have tokens, and those without children.
impl Lines for TrieNode {
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut open = vec![(Vec::new(), self)];
        while let Some((bytes, node)) = open.pop() {
            if !node.tokens.is_empty() || node.children.is_empty() {
                let text = String::from_utf8_lossy(&bytes);
                lines.push(format!("{text:?} with the tokens {:?}", node.tokens));
            }
            for (&byte, child) in node.children.iter().rev() {
                open.push(([bytes.as_slice(), &[byte]].concat(), child));
            }
        }
        lines
    }
}

/// Of the tokens to choose from, one in a line.
impl Lines for NextTokens {
    fn lines(&self) -> Vec<String> {
        match self {
            Self::Choose(tokens) => tokens.iter().map(u32::to_string).collect(),
            Self::End => vec!["End".to_owned()],
            Self::Stuck => vec!["Stuck".to_owned()],
        }
    }
}

/// Replicas.
impl Lines for Vec<usize> {
    fn lines(&self) -> Vec<String> {
        vec![format!("{self:?}")]
    }
}

/// What is believed of a replica.
impl Lines for Health {
    fn lines(&self) -> Vec<String> {
        let is = if self.is_up { "up" } else { "down" };
        vec![format!("{is}, against {}", self.against)]
    }
}

/// What comes after a failure, and what is left for more.
impl Lines for (NextAttempt, Budget) {
    fn lines(&self) -> Vec<String> {
        let (next, Budget { tenths }) = self;
        vec![format!("{next:?}, {tenths} tenths left")]
    }
}
