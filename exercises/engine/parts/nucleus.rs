use your_engine::Parts;

pub fn take_over(parts: &mut Parts) {
    parts.nucleus = super::nucleus::nucleus;
}
