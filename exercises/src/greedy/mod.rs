//! 01 Greedy

mod softmax;

#[path = "../../suite/greedy/softmax.rs"]
mod softmax_tests;

mod argmax;

#[path = "../../suite/greedy/argmax.rs"]
mod argmax_tests;

mod log_probability;

#[path = "../../suite/greedy/log_probability.rs"]
mod log_probability_tests;

mod perplexity;

#[path = "../../suite/greedy/perplexity.rs"]
mod perplexity_tests;

mod loop_detector;

#[path = "../../suite/greedy/loop_detector.rs"]
mod loop_detector_tests;

mod beam_step;

#[path = "../../suite/greedy/beam_step.rs"]
mod beam_step_tests;

mod chunked_score;

#[path = "../../suite/greedy/chunked_score.rs"]
mod chunked_score_tests;
