//! Detects a text that repeats itself.

/// A block of tokens that a text repeats until its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repetition {
    /// Where the first copy begins.
    pub start: usize,
    /// How many tokens the block has.
    pub period: usize,
}

/// How many copies make a repetition: "very, very good" is none yet.
const COPIES: usize = 3;

/// The block that repeats at least three times at the end of `ids`, and where its first copy
/// begins. A partial copy at the end counts as part of the repetition. Of several such blocks, the
/// one whose copies begin first is taken, and of these the shortest.
// ANCHOR: repetition
pub fn repetition(ids: &[u32]) -> Option<Repetition> {
    let repeated = |period: usize| {
        // Every token from `start + period` on equals the one a period before.
        let same = |&at: &usize| ids[at] == ids[at - period];
        let repeated = (period..ids.len()).rev().take_while(same).count();
        let start = ids.len() - repeated - period;
        (repeated >= (COPIES - 1) * period).then_some(Repetition { start, period })
    };
    (1..=ids.len() / COPIES).filter_map(repeated).min_by_key(|found| found.start)
}
// ANCHOR_END: repetition

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_copy_and_the_shortest_block_are_found() {
        assert_eq!(repetition(&[9, 8, 1, 2, 1, 2, 1, 2]), Some(Repetition { start: 2, period: 2 }));
        // A partial last copy.
        assert_eq!(
            repetition(&[9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1]),
            Some(Repetition { start: 1, period: 3 })
        );
        assert_eq!(repetition(&[5, 5, 5, 5]), Some(Repetition { start: 0, period: 1 }));
        // The last three tokens also repeat, but the longer block begins first.
        assert_eq!(
            repetition(&[1, 2, 2, 2, 1, 2, 2, 2, 1, 2, 2, 2]),
            Some(Repetition { start: 0, period: 4 })
        );
    }

    #[test]
    fn two_copies_or_a_loop_that_was_left_are_none() {
        assert_eq!(repetition(&[]), None);
        assert_eq!(repetition(&[1, 2, 1, 2]), None);
        assert_eq!(repetition(&[1, 1, 1, 2]), None);
    }

    proptest! {
        #[test]
        fn a_block_told_three_times_is_found(
            before in prop::collection::vec(0u32..50, 0..10),
            block in prop::collection::vec(0u32..50, 1..8),
            copies in 3usize..6,
        ) {
            let ids: Vec<u32> = before.iter().chain(block.repeat(copies).iter()).copied().collect();
            let found = repetition(&ids).unwrap();
            prop_assert!(found.start <= before.len());
            for at in found.start + found.period..ids.len() {
                prop_assert_eq!(ids[at], ids[at - found.period]);
            }
        }
    }
}
