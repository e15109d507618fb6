//! A health check that does not flap.
//!
//! Why: a replica that computes a long step, or a packet that is lost, fails one check. If that
//! took the replica out, its load would go to the others, whose checks would then be late too. So a
//! suspicion needs several checks in a row, in both directions. That a replica drains is no
//! suspicion: it has told you so.
//!
//! What it costs: time. With checks every second, a dead replica gets requests for `fall` seconds.
//! The router should look at how requests end as well: a refused connection proves more than a
//! failed check.
//!
//! A common wrong turn: counting failed checks and forgetting to reset the count. Then a replica
//! that fails one check in an hour is down after three hours.

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

/// What is believed after one more check.
pub fn after_check(health: Health, check: Check, thresholds: Thresholds) -> Health {
    let agrees = match check {
        Check::Draining => return Health { is_up: false, against: 0 },
        Check::Passed => health.is_up,
        Check::Failed => !health.is_up,
    };
    if agrees {
        return Health { against: 0, ..health };
    }
    let threshold = if health.is_up {
        thresholds.fall
    } else {
        thresholds.rise
    };
    let against = health.against + 1;
    if against >= threshold {
        Health { is_up: !health.is_up, against: 0 }
    } else {
        Health { against, ..health }
    }
}

/// The replicas that requests go to, in ascending order.
pub fn candidates(replicas: &[Health]) -> Vec<usize> {
    let up: Vec<usize> = (0..replicas.len()).filter(|&index| replicas[index].is_up).collect();
    if 2 * up.len() < replicas.len() {
        (0..replicas.len()).collect()
    } else {
        up
    }
}
