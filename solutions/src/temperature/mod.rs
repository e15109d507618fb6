//! 03 Temperature

pub mod at_temperature;

#[cfg(test)]
#[path = "../../../exercises/suite/temperature/at_temperature.rs"]
mod at_temperature_tests;

pub mod entropy;

#[cfg(test)]
#[path = "../../../exercises/suite/temperature/entropy.rs"]
mod entropy_tests;

pub mod one_word_story;

#[cfg(test)]
#[path = "../../../exercises/suite/temperature/one_word_story.rs"]
mod one_word_story_tests;

pub mod temperature_for;

#[cfg(test)]
#[path = "../../../exercises/suite/temperature/temperature_for.rs"]
mod temperature_for_tests;
