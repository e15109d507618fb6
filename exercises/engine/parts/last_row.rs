use your_engine::Parts;

pub fn take_over(parts: &mut Parts) {
    parts.last_row = super::last_row::last_row;
}
