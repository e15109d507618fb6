use your_engine::Parts;
use your_engine::parts;

use super::prefix_router::{Replica, Settings, prefix_router};

pub fn take_over(parts: &mut Parts) {
    parts.prefix_router = |replicas, prompt, weights| {
        let known = |replica: &parts::Replica| Replica {
            open: replica.open,
            sent: replica.sent.clone(),
        };
        let replicas: Vec<Replica> = replicas.iter().map(known).collect();
        let parts::Weights { block, imbalance } = weights;
        prefix_router(&replicas, prompt, Settings { block, imbalance })
    };
}
