use your_engine::Parts;

pub fn take_over(parts: &mut Parts) {
    parts.window_mask = super::window_mask::window_mask;
}
