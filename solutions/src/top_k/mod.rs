//! 02 Top-k

pub mod draw;
pub mod keep_top_k;
pub mod lopsided_draw;
pub mod renormalise;
