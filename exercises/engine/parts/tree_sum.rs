use your_engine::Parts;

pub fn take_over(parts: &mut Parts) {
    parts.tree_sum = super::tree_sum::sum;
}
