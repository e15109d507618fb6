//! 17 Beyond one machine

mod bounded_hash;

#[path = "../../suite/beyond/bounded_hash.rs"]
mod bounded_hash_tests;

mod prefix_router;

#[path = "../../suite/beyond/prefix_router.rs"]
mod prefix_router_tests;

mod retry_elsewhere;

#[path = "../../suite/beyond/retry_elsewhere.rs"]
mod retry_elsewhere_tests;

mod health;

#[path = "../../suite/beyond/health.rs"]
mod health_tests;

mod herd;

#[path = "../../suite/beyond/herd.rs"]
mod herd_tests;
