//! 17 Beyond one machine

pub mod bounded_hash;
pub mod health;
pub mod herd;
pub mod prefix_router;
pub mod retry_elsewhere;
