//! 01 Greedy

pub mod argmax;
pub mod beam_step;
pub mod chunked_score;
pub mod log_probability;
pub mod loop_detector;
pub mod perplexity;
pub mod softmax;
