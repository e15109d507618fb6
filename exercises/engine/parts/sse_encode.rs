use your_engine::Parts;

pub fn take_over(parts: &mut Parts) {
    parts.sse_event = super::sse_encode::event;
}
