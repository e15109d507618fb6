use your_engine::Parts;
use your_engine::parts::{self, Planned};

use super::one_step::{Limits, Sequence, plan};

pub fn take_over(parts: &mut Parts) {
    parts.one_step = |running, waiting, limits| {
        let [running, waiting] = [running, waiting].map(|texts| -> Vec<Sequence> {
            let sequence = |text: &Planned| Sequence {
                name: text.name,
                prompt: text.prompt,
                computed: text.computed,
            };
            texts.iter().map(sequence).collect()
        });
        let parts::Limits { token_budget, max_running, free_blocks } = limits;
        let limits = Limits { token_budget, max_running, free_blocks };
        let work = plan(&running, &waiting, limits).into_iter().map(|work| parts::Work {
            name: work.name,
            tokens: work.tokens,
            wants_logits: work.wants_logits,
        });
        work.collect()
    };
}
