//! 03 Temperature

mod at_temperature;

#[path = "../../suite/temperature/at_temperature.rs"]
mod at_temperature_tests;

mod entropy;

#[path = "../../suite/temperature/entropy.rs"]
mod entropy_tests;

mod one_word_story;

#[path = "../../suite/temperature/one_word_story.rs"]
mod one_word_story_tests;

mod temperature_for;

#[path = "../../suite/temperature/temperature_for.rs"]
mod temperature_for_tests;
