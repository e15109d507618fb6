use your_engine::Parts;

use super::chunked_prefill::chunked_prefill;

pub fn take_over(parts: &mut Parts) {
    parts.chunked_prefill =
        |prompt, cached, chunk, forward| chunked_prefill(prompt, cached, chunk, forward);
}
