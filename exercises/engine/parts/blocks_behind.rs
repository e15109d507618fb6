use your_engine::Parts;

pub fn take_over(parts: &mut Parts) {
    parts.needed_blocks = super::blocks_behind::needed_blocks;
}
