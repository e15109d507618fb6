use your_engine::Parts;

pub fn take_over(parts: &mut Parts) {
    parts.grouped_query_attention = super::grouped_query_attention::grouped_query_attention;
}
