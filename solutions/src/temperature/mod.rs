//! 03 Temperature

pub mod at_temperature;
pub mod entropy;
pub mod one_word_story;
pub mod temperature_for;
