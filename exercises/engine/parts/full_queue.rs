use std::time::Duration;

use your_engine::Parts;
use your_engine::parts;

use super::full_queue::{Queue, Refusal, Slots};

pub fn take_over(parts: &mut Parts) {
    parts.queue = |capacity| Box::new(Queue::new(capacity));
}

impl parts::Queue for Queue {
    fn free(&self) -> usize {
        Queue::free(self)
    }

    fn admit(
        &self,
        sequences: usize,
        per_slot: Duration,
    ) -> Result<Box<dyn parts::Slots>, parts::Refusal> {
        match Queue::admit(self, sequences, per_slot) {
            Ok(slots) => Ok(Box::new(slots)),
            Err(Refusal::Full { retry_after }) => Err(parts::Refusal::Full { retry_after }),
            Err(Refusal::TooLarge) => Err(parts::Refusal::TooLarge),
        }
    }
}

impl parts::Slots for Slots {
    fn end_one(&mut self) {
        Slots::end_one(self);
    }
}
