//! Results that are never rounded, in lines, so that the first that differs can be said.

use crate::parts::{Holder, Holders, Place, Work};

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
