use your_engine::Parts;

use super::bounded_hash::bounded_hash;

pub fn take_over(parts: &mut Parts) {
    parts.bounded_hash = bounded_hash;
}
