use your_engine::Parts;

pub fn take_over(parts: &mut Parts) {
    parts.merge = super::merge::merge;
}
