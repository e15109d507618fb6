//! No way into a dead end.

/// The states of an automaton: for each state and each class of bytes, the state that follows.
pub type Table = Vec<Vec<Option<usize>>>;

/// A text that has run into a dead end can never be completed, and by then it is too late to turn
/// back. So remove the ways into dead ends from the table beforehand. A state is live if an
/// accepting state can be reached from it, in any number of steps. An accepting state is live.
///
/// - A transition to a live state stays. A transition to any other becomes `None`.
/// - States keep their numbers, and rows their lengths.
/// - `accepting[state]` is whether the text may end there.
///
/// ```text
/// state  a    b                       a    b
/// 0      1    2       accepting 3     1    None     from 2, only 2 can be reached
/// 1      3    2                       3    None
/// 2      2    2                       None None
/// 3      None None                    None None
/// ```
pub fn prune_states(table: &Table, accepting: &[bool]) -> Table {
    todo!()
}
