use your_engine::Parts;
use your_engine::parts::{Holder, Holders};

use super::preemption::{Scheduler, Sequence};

pub fn take_over(parts: &mut Parts) {
    parts.preemption = |holders, name, count| {
        let Holders { running, paused, waiting, free } = holders.clone();
        let [running, paused, waiting] = [running, paused, waiting]
            .map(|texts| -> Vec<Sequence> { texts.into_iter().map(sequence).collect() });
        let mut scheduler = Scheduler { running, paused, waiting, free };
        let has_room = scheduler.make_room(name, count);
        let Scheduler { running, paused, waiting, free } = scheduler;
        let [running, paused, waiting] = [running, paused, waiting]
            .map(|texts| -> Vec<Holder> { texts.into_iter().map(holder).collect() });
        (Holders { running, paused, waiting, free }, has_room)
    };
}

fn sequence(holder: Holder) -> Sequence {
    let Holder { name, arrival, tokens, computed, blocks } = holder;
    Sequence { name, arrival, tokens, computed, blocks }
}

fn holder(sequence: Sequence) -> Holder {
    let Sequence { name, arrival, tokens, computed, blocks } = sequence;
    Holder { name, arrival, tokens, computed, blocks }
}
