//! No way into a dead end: only states stay from which the text can still match.
//!
//! Why: a sampler sees one step ahead. If a token may be chosen that leads where nothing matches
//! any more, some text will choose it, and can then neither end nor go on. So you find dead ends in
//! advance, from the end: accepting states are live, and so is every state that leads to a live
//! one.
//!
//! What it costs: a walk over the table until nothing new is found, at most once for each state.
//! With a list of the states before each state it takes one step for each transition, as in the
//! crate.
//!
//! A common wrong turn: taking a state with a way on for a live state. It may lead round in a
//! circle.

/// The states of an automaton: for each state and each class of bytes, the state that follows.
pub type Table = Vec<Vec<Option<usize>>>;

/// Takes out of a table what leads into a dead end. A state is live if an accepting state can be reached
/// from it, in any number of steps. An accepting state is live.
pub fn prune_states(table: &Table, accepting: &[bool]) -> Table {
    let mut live = accepting.to_vec();
    loop {
        let mut found = false;
        for (state, row) in table.iter().enumerate() {
            if !live[state] && row.iter().flatten().any(|&to| live[to]) {
                live[state] = true;
                found = true;
            }
        }
        if !found {
            break;
        }
    }
    let kept = |to: &Option<usize>| to.filter(|&to| live[to]);
    table.iter().map(|row| row.iter().map(kept).collect()).collect()
}
