//! 17 Beyond one machine

pub mod bounded_hash;

#[cfg(test)]
#[path = "../../../exercises/suite/beyond/bounded_hash.rs"]
mod bounded_hash_tests;

pub mod prefix_router;

#[cfg(test)]
#[path = "../../../exercises/suite/beyond/prefix_router.rs"]
mod prefix_router_tests;

pub mod retry_elsewhere;

#[cfg(test)]
#[path = "../../../exercises/suite/beyond/retry_elsewhere.rs"]
mod retry_elsewhere_tests;

pub mod health;

#[cfg(test)]
#[path = "../../../exercises/suite/beyond/health.rs"]
mod health_tests;

pub mod herd;

#[cfg(test)]
#[path = "../../../exercises/suite/beyond/herd.rs"]
mod herd_tests;
