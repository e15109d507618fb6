use your_engine::Parts;

use super::prune_states::prune_states;

pub fn take_over(parts: &mut Parts) {
    parts.prune_states = prune_states;
}
