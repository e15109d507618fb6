use your_engine::Parts;

pub fn take_over(parts: &mut Parts) {
    parts.detokenize = super::detokenize::detokenize;
}
