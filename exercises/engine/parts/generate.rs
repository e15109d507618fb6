use your_engine::Parts;
use your_engine::parts;

use super::generate::{End, generate};

pub fn take_over(parts: &mut Parts) {
    parts.generate = |next, prompt, eos, max_tokens, context| {
        let (ids, end) = generate(next, prompt, eos, max_tokens, context);
        let end = match end {
            End::Eos => parts::End::Eos,
            End::Length => parts::End::Length,
            End::Context => parts::End::Context,
        };
        (ids, end)
    };
}
