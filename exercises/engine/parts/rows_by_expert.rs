use your_engine::Parts;

pub fn take_over(parts: &mut Parts) {
    parts.rows_by_expert =
        |x, routing, expert| super::rows_by_expert::rows_by_expert(x, routing, expert);
}
