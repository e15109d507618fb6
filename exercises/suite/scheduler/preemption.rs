use std::fmt::{Debug, Formatter};

use super::preemption::{Scheduler, Sequence};
use crate::support::{Case, Random};

/// (name, arrival, how many blocks)
type Short = (char, usize, usize);

/// A scheduler, shown with one line for each list.
#[derive(Clone, PartialEq)]
struct State(Scheduler);

impl Debug for State {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let Scheduler { running, paused, waiting, free } = &self.0;
        for (name, list) in [
            ("running", running),
            ("paused", paused),
            ("waiting", waiting),
        ] {
            write!(formatter, "\n    {name:<9}")?;
            for Sequence { name, arrival, tokens, computed, blocks } in list {
                write!(
                    formatter,
                    " [{name} {arrival}: blocks {blocks:?}, {computed} of {} tokens computed]",
                    tokens.len()
                )?;
            }
        }
        write!(formatter, "\n    free      {free:?}")
    }
}

/// A state after a call, and what the call returned.
#[derive(PartialEq)]
struct After(State, bool);

impl Debug for After {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?}; returned {}", self.0, self.1)
    }
}

/// Blocks are numbered from 10 on, in the order of running, paused and free. All positions of a block
/// are computed but the last. A sequence that waits has computed nothing.
fn state(running: &[Short], paused: &[Short], waiting: &[(char, usize)], free: u32) -> State {
    let mut next = 10;
    let mut sequences = |short: &[Short]| -> Vec<Sequence> {
        short
            .iter()
            .map(|&(name, arrival, blocks)| sequence(name, arrival, blocks, &mut next))
            .collect()
    };
    let (running, paused) = (sequences(running), sequences(paused));
    let waiting: Vec<Short> = waiting.iter().map(|&(name, arrival)| (name, arrival, 0)).collect();
    let waiting = sequences(&waiting);
    State(Scheduler {
        running,
        paused,
        waiting,
        free: (next..next + free).collect(),
    })
}

fn sequence(name: char, arrival: usize, blocks: usize, next: &mut u32) -> Sequence {
    let tokens =
        (0..4 * blocks.max(2)).map(|i| arrival.wrapping_mul(100).wrapping_add(i) as u32).collect();
    let first = *next;
    *next += blocks as u32;
    let computed = (4 * blocks).saturating_sub(1);
    Sequence {
        name,
        arrival,
        tokens,
        computed,
        blocks: (first..*next).collect(),
    }
}

/// Takes the blocks of the sequences with these names away, as it should be done.
fn expected(before: &State, preempted: &str) -> State {
    let State(mut state) = before.clone();
    let taken = |sequence: &mut Sequence, free: &mut Vec<u32>| {
        free.append(&mut sequence.blocks);
        sequence.computed = 0;
    };
    for sequence in &mut state.paused {
        if preempted.contains(sequence.name) {
            taken(sequence, &mut state.free);
        }
    }
    for mut sequence in std::mem::take(&mut state.running) {
        if preempted.contains(sequence.name) {
            taken(&mut sequence, &mut state.free);
            state.waiting.push(sequence);
        } else {
            state.running.push(sequence);
        }
    }
    state.waiting.sort_by_key(|sequence| sequence.arrival);
    state.free.sort_unstable();
    State(state)
}

/// `expected`: who has to give up its blocks, and whether there are enough then.
fn check(rule: &str, before: State, (name, count): (char, usize), expected: (&str, bool)) {
    let case = Case::rule(rule)
        .given("before", &before)
        .given("call", format!("make_room({name:?}, {count})"));
    let State(mut after) = before.clone();
    let enough = after.make_room(name, count);
    after.free.sort_unstable();
    let expected = After(self::expected(&before, expected.0), expected.1);
    case.equal(expected, After(State(after), enough));
}

#[test]
fn the_example_of_the_task() {
    let rule = "the example above the function: paused ones give up their blocks first, then younger running ones, the youngest first, and never an older one";
    let running = [('A', 0, 2), ('B', 1, 1), ('D', 3, 1)];
    let before = state(&running, &[('C', 2, 1)], &[('E', 4)], 0);
    check(rule, before, ('B', 2), ("CD", true));
    let running = [('A', 0, 2), ('B', 1, 1)];
    let before = state(&running, &[('C', 2, 0)], &[('D', 3), ('E', 4)], 2);
    check(rule, before, ('B', 3), ("", false));
}

#[test]
fn who_finds_enough_preempts_nobody() {
    let rule = "enough blocks are free: nothing changes";
    let running = [('A', 0, 2), ('B', 1, 1)];
    let before = state(&running, &[('C', 2, 1)], &[('D', 3)], 2);
    check(rule, before.clone(), ('A', 2), ("", true));
    check(rule, before.clone(), ('B', 1), ("", true));
    check(rule, before, ('B', 0), ("", true));
}

#[test]
fn paused_ones_come_first_and_the_youngest_of_them() {
    let running = [('A', 0, 1), ('F', 5, 3)];
    let paused = [('B', 1, 1), ('C', 2, 1), ('D', 3, 1)];
    let before = state(&running, &paused, &[], 0);
    let rule =
        "the youngest paused sequence gives up its blocks first, and no more of them than it takes";
    check(rule, before.clone(), ('A', 1), ("D", true));
    check(rule, before.clone(), ('A', 2), ("DC", true));
    check(rule, before.clone(), ('A', 3), ("DCB", true));
    check(rule, before.clone(), ('A', 4), ("DCBF", true));
    let rule = "a paused sequence gives up its blocks, even if it is older than the one in need";
    check(rule, before, ('F', 3), ("DCB", true));
    let rule = "a paused sequence that holds no block is passed over";
    let before = state(&running, &[('B', 1, 1), ('C', 2, 0)], &[], 0);
    check(rule, before, ('A', 1), ("B", true));
    let rule = "how many blocks it holds does not matter, but its age";
    let before = state(&running, &[('B', 1, 4), ('C', 2, 1)], &[], 0);
    check(rule, before.clone(), ('A', 1), ("C", true));
    check(rule, before, ('A', 2), ("CB", true));
}

#[test]
fn of_the_running_ones_the_youngest_is_preempted() {
    let rule = "the youngest running sequence is preempted, and no more of them than it takes";
    let running = [('A', 0, 1), ('B', 1, 5), ('C', 2, 1), ('D', 3, 2)];
    let before = state(&running, &[], &[], 0);
    check(rule, before.clone(), ('A', 1), ("D", true));
    check(rule, before.clone(), ('A', 2), ("D", true));
    check(rule, before.clone(), ('A', 3), ("DC", true));
    check(rule, before.clone(), ('A', 4), ("DCB", true));
    check(rule, before, ('C', 2), ("D", true));
    let rule = "what is free already counts";
    let before = state(&running, &[], &[], 2);
    check(rule, before.clone(), ('A', 4), ("D", true));
    check(rule, before, ('A', 5), ("DC", true));
}

#[test]
fn nobody_older_is_preempted() {
    let rule =
        "the one in need is the youngest that runs: none is preempted, and it keeps its blocks";
    let running = [('A', 0, 4), ('B', 1, 1)];
    check(rule, state(&running, &[], &[], 0), ('B', 1), ("", false));
    check(rule, state(&running, &[], &[('C', 2)], 1), ('B', 3), ("", false));
    let rule =
        "the ones younger than the sequence in need were not enough: no older one is preempted";
    let running = [('A', 0, 9), ('B', 1, 1), ('C', 2, 1)];
    check(rule, state(&running, &[], &[], 0), ('B', 2), ("C", false));
    let rule = "the paused ones gave up theirs, and it was not enough";
    let before = state(&running[..2], &[('D', 3, 1)], &[], 0);
    check(rule, before, ('B', 2), ("D", false));
    let rule = "the oldest is alone, and there are not enough blocks for it";
    check(rule, state(&running[..1], &[], &[], 0), ('A', 2), ("", false));
}

#[test]
fn who_is_preempted_waits_at_its_old_place() {
    let rule = "waiting sequences stay in the order of arrival";
    let running = [('B', 1, 1), ('D', 3, 1), ('F', 5, 1)];
    let waiting = [('C', 2), ('E', 4), ('G', 6)];
    let before = state(&running, &[], &waiting, 0);
    check(rule, before.clone(), ('B', 1), ("F", true));
    check(rule, before, ('B', 2), ("FD", true));
    let rule = "all that wait are older";
    let before = state(&[('B', 5, 1), ('D', 7, 1)], &[], &[('A', 0), ('C', 2)], 0);
    check(rule, before, ('B', 1), ("D", true));
}

#[test]
fn blocks_are_given_up_whether_computed_or_not() {
    let rule = "blocks are taken for a whole prompt: one that holds some may have computed nothing";
    let before = || {
        let State(mut state) = state(&[('A', 0, 1)], &[('B', 1, 2), ('C', 2, 1)], &[], 0);
        state.paused[1].computed = 0;
        State(state)
    };
    check(rule, before(), ('A', 1), ("C", true));
    check(rule, before(), ('A', 3), ("BC", true));
    let State(mut state) = state(&[('A', 0, 1), ('B', 1, 2), ('C', 2, 1)], &[], &[], 0);
    state.running[2].computed = 0;
    check(rule, State(state), ('A', 1), ("C", true));
}

#[test]
fn age_is_the_time_of_arrival() {
    let rule = "the time of arrival decides, and not the name, nor how long a text is";
    let running = [('Z', 10, 3), ('M', 300, 1), ('A', usize::MAX, 4)];
    let paused = [('Y', 20, 1), ('B', 30, 2)];
    let waiting = [('X', 11), ('C', 5000)];
    let before = state(&running, &paused, &waiting, 0);
    check(rule, before.clone(), ('Z', 1), ("B", true));
    check(rule, before.clone(), ('Z', 4), ("BYA", true));
    check(rule, before.clone(), ('Z', 8), ("BYAM", true));
    check(rule, before.clone(), ('M', 7), ("BYA", true));
    check(rule, before, ('A', 4), ("BY", false));
}

#[test]
fn a_paused_one_stays_paused() {
    let rule = "its reader does not read: it gives up its blocks, and waits for nothing else";
    let before = state(&[('A', 0, 1)], &[('B', 1, 2)], &[('C', 2)], 0);
    check(rule, before, ('A', 1), ("B", true));
}

#[test]
fn any_state() {
    let mut random = Random::new(9);
    for _ in 0..200 {
        let (mut running, mut paused, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        let mut names: Vec<char> = ('A'..='I').collect();
        for arrival in 0..9 {
            let name = names.swap_remove(random.below(names.len()));
            match random.below(3) {
                0 => running.push((name, arrival, 1 + random.below(3))),
                1 => paused.push((name, arrival, random.below(3))),
                _ => waiting.push((name, arrival)),
            }
        }
        if running.is_empty() {
            continue;
        }
        let free = random.below(3);
        let (name, arrival, _) = running[random.below(running.len())];
        let count = random.below(8);
        let (mut has, mut preempted) = (free, String::new());
        let candidates = paused.iter().rev().chain(running.iter().rev().filter(|s| s.1 > arrival));
        for &(victim, _, blocks) in candidates {
            if has >= count {
                break;
            }
            if blocks > 0 {
                preempted.push(victim);
                has += blocks;
            }
        }
        let before = state(&running, &paused, &waiting, free as u32);
        check("a state at random", before, (name, count), (&preempted, has >= count));
    }
}
