//! 04 Top-p

pub mod nucleus;

#[cfg(test)]
#[path = "../../../exercises/suite/top_p/nucleus.rs"]
mod nucleus_tests;

pub mod min_p;

#[cfg(test)]
#[path = "../../../exercises/suite/top_p/min_p.rs"]
mod min_p_tests;

pub mod typical;

#[cfg(test)]
#[path = "../../../exercises/suite/top_p/typical.rs"]
mod typical_tests;

pub mod repetition_penalty;

#[cfg(test)]
#[path = "../../../exercises/suite/top_p/repetition_penalty.rs"]
mod repetition_penalty_tests;

pub mod sampler_order;

#[cfg(test)]
#[path = "../../../exercises/suite/top_p/sampler_order.rs"]
mod sampler_order_tests;

pub mod shuffled_nucleus;

#[cfg(test)]
#[path = "../../../exercises/suite/top_p/shuffled_nucleus.rs"]
mod shuffled_nucleus_tests;
