//! 01 Greedy

pub mod softmax;

#[cfg(test)]
#[path = "../../../exercises/suite/greedy/softmax.rs"]
mod softmax_tests;

pub mod argmax;

#[cfg(test)]
#[path = "../../../exercises/suite/greedy/argmax.rs"]
mod argmax_tests;

pub mod log_probability;

#[cfg(test)]
#[path = "../../../exercises/suite/greedy/log_probability.rs"]
mod log_probability_tests;

pub mod perplexity;

#[cfg(test)]
#[path = "../../../exercises/suite/greedy/perplexity.rs"]
mod perplexity_tests;

pub mod loop_detector;

#[cfg(test)]
#[path = "../../../exercises/suite/greedy/loop_detector.rs"]
mod loop_detector_tests;

pub mod beam_step;

#[cfg(test)]
#[path = "../../../exercises/suite/greedy/beam_step.rs"]
mod beam_step_tests;

pub mod chunked_score;

#[cfg(test)]
#[path = "../../../exercises/suite/greedy/chunked_score.rs"]
mod chunked_score_tests;
