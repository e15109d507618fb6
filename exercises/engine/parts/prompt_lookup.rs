use your_engine::Parts;
use your_engine::parts;

use super::prompt_lookup::{Lookup, prompt_lookup};

pub fn take_over(parts: &mut Parts) {
    parts.prompt_lookup = |text, lookup| {
        let parts::Lookup { shortest, longest, most } = lookup;
        prompt_lookup(text, Lookup { shortest, longest, most })
    };
}
