use your_engine::Parts;

use super::at_temperature::at_temperature;

pub fn take_over(parts: &mut Parts) {
    parts.at_temperature = |logits, temperature| {
        at_temperature(logits, temperature).map_err(|refused| format!("{refused:?}"))
    };
}
