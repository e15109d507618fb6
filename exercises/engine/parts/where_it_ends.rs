use your_engine::Parts;
use your_engine::parts;

use super::where_it_ends::{NextTokens, where_it_ends};

pub fn take_over(parts: &mut Parts) {
    parts.where_it_ends = |continuing, accepts, eos| match where_it_ends(continuing, accepts, eos) {
        NextTokens::Choose(tokens) => parts::NextTokens::Choose(tokens),
        NextTokens::End => parts::NextTokens::End,
        NextTokens::Stuck => parts::NextTokens::Stuck,
    };
}
