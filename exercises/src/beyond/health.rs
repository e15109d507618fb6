//! A health check that does not flap.

/// What a check of a replica found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    Passed,
    /// No answer in time, or a wrong one.
    Failed,
    /// The replica reports that it is shutting down.
    Draining,
}

/// How many checks in a row change what the router believes about a replica. Both are at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// Failed checks until it is down.
    pub fall: u32,
    /// Passed checks until it is up again.
    pub rise: u32,
}

/// What the router believes about a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    pub is_up: bool,
    /// How many checks in a row have contradicted that.
    pub against: u32,
}

/// A single lost packet is no reason to take a replica out, and a single lucky answer none to take
/// it back. What does the router believe after one more check?
///
/// - A replica that is up goes down after `fall` failed checks in a row, and one that is down comes
///   up after `rise` passed checks in a row. This is **hysteresis**: one check alone changes
///   nothing, unless its threshold is 1.
/// - A check that agrees with what is believed sets `against` to 0. So does each change.
/// - A replica that reports that it is draining is down at once.
///
/// ```text
/// fall 3, rise 2
///
/// up, against 1     Failed      up, against 2
/// up, against 2     Failed      down, against 0
/// up, against 2     Passed      up, against 0
/// down, against 1   Passed      up, against 0
/// up, against 0     Draining    down, against 0
/// ```
pub fn after_check(health: Health, check: Check, thresholds: Thresholds) -> Health {
    todo!()
}

/// To which replicas do requests go? Return them in ascending order.
///
/// - The replicas that are up.
/// - But if fewer than half of all replicas are up, all of them: **panic mode**. It is more likely
///   that the checks are wrong than that so many replicas died at once, and if they are right, the
///   few that are left would not survive the load of all.
pub fn candidates(replicas: &[Health]) -> Vec<usize> {
    todo!()
}
