//! 02 Top-k

pub mod renormalise;

#[cfg(test)]
#[path = "../../../exercises/suite/top_k/renormalise.rs"]
mod renormalise_tests;

pub mod keep_top_k;

#[cfg(test)]
#[path = "../../../exercises/suite/top_k/keep_top_k.rs"]
mod keep_top_k_tests;

pub mod draw;

#[cfg(test)]
#[path = "../../../exercises/suite/top_k/draw.rs"]
mod draw_tests;

pub mod lopsided_draw;

#[cfg(test)]
#[path = "../../../exercises/suite/top_k/lopsided_draw.rs"]
mod lopsided_draw_tests;
