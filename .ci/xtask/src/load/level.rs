//! How much is asked of a server.

use std::fmt;

use anyhow::{Result, ensure};
use serde::Serialize;

/// A load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Requests per second, on a schedule (open loop).
    Rate(f64),
    /// Clients, each with one request at a time (closed loop).
    Clients(usize),
}

impl Level {
    /// Refuses a level at which nothing would come.
    pub fn check(&self) -> Result<()> {
        match *self {
            Self::Rate(rate) => {
                ensure!(rate > 0.0 && rate.is_finite(), "a rate is a number above 0, not {rate}");
            }
            Self::Clients(clients) => ensure!(clients > 0, "there is a client at least"),
        }
        Ok(())
    }

    /// The number, without its unit.
    pub fn value(self) -> f64 {
        match self {
            Self::Rate(rate) => rate,
            Self::Clients(clients) => clients as f64,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(rate) => write!(out, "{rate} per second"),
            Self::Clients(1) => write!(out, "1 client"),
            Self::Clients(clients) => write!(out, "{clients} clients"),
        }
    }
}
