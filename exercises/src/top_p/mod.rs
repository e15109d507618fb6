//! 04 Top-p

mod nucleus;

#[path = "../../suite/top_p/nucleus.rs"]
mod nucleus_tests;

mod min_p;

#[path = "../../suite/top_p/min_p.rs"]
mod min_p_tests;

mod typical;

#[path = "../../suite/top_p/typical.rs"]
mod typical_tests;

mod repetition_penalty;

#[path = "../../suite/top_p/repetition_penalty.rs"]
mod repetition_penalty_tests;

mod sampler_order;

#[path = "../../suite/top_p/sampler_order.rs"]
mod sampler_order_tests;

mod shuffled_nucleus;

#[path = "../../suite/top_p/shuffled_nucleus.rs"]
mod shuffled_nucleus_tests;
