use your_engine::Parts;
use your_engine::parts;

use super::health::{Check, Health, Thresholds, after_check, candidates};

pub fn take_over(parts: &mut Parts) {
    parts.after_check = |health, check, thresholds| {
        let check = match check {
            parts::Check::Passed => Check::Passed,
            parts::Check::Failed => Check::Failed,
            parts::Check::Draining => Check::Draining,
        };
        let parts::Thresholds { fall, rise } = thresholds;
        let Health { is_up, against } =
            after_check(believed(&health), check, Thresholds { fall, rise });
        parts::Health { is_up, against }
    };
    parts.candidates = |replicas| {
        let replicas: Vec<Health> = replicas.iter().map(believed).collect();
        candidates(&replicas)
    };
}

fn believed(health: &parts::Health) -> Health {
    Health { is_up: health.is_up, against: health.against }
}
