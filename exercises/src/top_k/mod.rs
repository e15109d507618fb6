//! 02 Top-k

mod renormalise;

#[path = "../../suite/top_k/renormalise.rs"]
mod renormalise_tests;

mod keep_top_k;

#[path = "../../suite/top_k/keep_top_k.rs"]
mod keep_top_k_tests;

mod draw;

#[path = "../../suite/top_k/draw.rs"]
mod draw_tests;

mod lopsided_draw;

#[path = "../../suite/top_k/lopsided_draw.rs"]
mod lopsided_draw_tests;
