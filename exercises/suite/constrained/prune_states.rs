use super::prune_states::{Table, prune_states};
use crate::support::{Case, Random};

fn check(rule: &str, table: &Table, accepting: &[bool], expected: &Table) {
    let case = Case::rule(rule).given("table", table).given("accepting", accepting);
    case.equal(expected.clone(), prune_states(table, accepting));
}

/// Tables as they are written in the task: -1 is no state.
fn table(rows: &[&[i32]]) -> Table {
    let row = |row: &&[i32]| row.iter().map(|&to| usize::try_from(to).ok()).collect();
    rows.iter().map(row).collect()
}

#[test]
fn the_example_of_the_task() {
    let before = table(&[&[1, 2], &[3, 2], &[2, 2], &[-1, -1]]);
    let after = table(&[&[1, -1], &[3, -1], &[-1, -1], &[-1, -1]]);
    check(
        "the example above the function: transitions to states from which an accepting one can be reached stay, and no others",
        &before,
        &[false, false, false, true],
        &after,
    );
}

#[test]
fn a_circle_without_an_end_is_a_dead_end() {
    let rule = "a state with a way on may never come to an end";
    let before = table(&[&[1, 3], &[2, -1], &[1, 2], &[-1, -1]]);
    let after = table(&[&[-1, 3], &[-1, -1], &[-1, -1], &[-1, -1]]);
    check(rule, &before, &[false, false, false, true], &after);
    let rule = "a circle with a way out stays";
    let before = table(&[&[1, -1], &[0, 2], &[-1, -1]]);
    check(rule, &before, &[false, false, true], &before);
}

#[test]
fn an_accepting_state_is_live() {
    let rule = "an accepting state is live, whatever follows it";
    let before = table(&[&[0, 1], &[1, 1]]);
    check(rule, &before, &[true, false], &table(&[&[0, -1], &[-1, -1]]));
    let rule = "the text may go on behind an accepting state";
    let before = table(&[&[1, -1], &[0, -1]]);
    check(rule, &before, &[true, false], &before);
    let rule = "if nothing accepts, nothing stays";
    check(rule, &before, &[false, false], &table(&[&[-1, -1], &[-1, -1]]));
    check("an automaton may have one state", &table(&[&[0]]), &[true], &table(&[&[0]]));
    check("a table may be empty", &table(&[]), &[], &table(&[]));
}

#[test]
fn the_way_to_the_end_may_be_long() {
    let rule = "in any number of steps";
    let states = 200;
    for up in [true, false] {
        // One step at a time to the last state, or to the first.
        let to = |state: usize| if up { state + 1 } else { state.wrapping_sub(1) };
        let row = |state: usize| vec![Some(to(state)).filter(|&to| to < states)];
        let before: Table = (0..states).map(row).collect();
        let end = if up { states - 1 } else { 0 };
        let accepting: Vec<bool> = (0..states).map(|state| state == end).collect();
        check(rule, &before, &accepting, &before);
    }
}

#[test]
fn any_automaton() {
    let mut random = Random::new(16);
    for _ in 0..1000 {
        let states = 1 + random.below(8);
        let classes = 1 + random.below(3);
        let mut before: Table = Vec::new();
        for _ in 0..states {
            let mut row = Vec::new();
            for _ in 0..classes {
                let to = random.below(states * 2);
                row.push(Some(to).filter(|&to| to < states));
            }
            before.push(row);
        }
        let accepting: Vec<bool> = (0..states).map(|_| random.below(5) == 0).collect();
        // Forwards from each state.
        let is_live = |start: usize| {
            let mut seen = vec![start];
            let mut at = 0;
            while at < seen.len() {
                for &to in before[seen[at]].iter().flatten() {
                    if !seen.contains(&to) {
                        seen.push(to);
                    }
                }
                at += 1;
            }
            seen.iter().any(|&state| accepting[state])
        };
        let keep = |to: &Option<usize>| to.filter(|&to| is_live(to));
        let after: Table = before.iter().map(|row| row.iter().map(keep).collect()).collect();
        check("transitions to live states stay, and no other", &before, &accepting, &after);
    }
}
