use super::last_rows::{Layout, last_rows};
use crate::support::{Case, Random};

fn check(rule: &str, layout: Layout, lengths: &[usize], expected: &[usize]) {
    let case = Case::rule(rule).given("layout", layout).given("lengths", lengths);
    case.equal(expected.to_vec(), last_rows(layout, lengths));
}

#[test]
fn one_prompt_ends_in_its_last_row() {
    for layout in [Layout::PaddedRight, Layout::PaddedLeft, Layout::EndToEnd] {
        check("one prompt alone has no padding in any layout", layout, &[1], &[0]);
        check("one prompt alone has no padding in any layout", layout, &[4], &[3]);
    }
}

#[test]
fn with_padding_on_the_right_the_length_says_where() {
    let rule = "a line begins at its number times the width, and its text ends before the padding";
    check(rule, Layout::PaddedRight, &[2, 3], &[1, 5]);
    check(rule, Layout::PaddedRight, &[5, 2, 3], &[4, 6, 12]);
    check(rule, Layout::PaddedRight, &[1, 1, 4], &[0, 4, 11]);
}

#[test]
fn with_padding_on_the_left_it_is_the_last_column() {
    let rule = "with padding on the left all texts end in the last column";
    check(rule, Layout::PaddedLeft, &[2, 3], &[2, 5]);
    check(rule, Layout::PaddedLeft, &[5, 2, 3], &[4, 9, 14]);
}

#[test]
fn end_to_end_the_lengths_are_summed_up() {
    let rule = "end to end a text begins in the row behind the last one of the text before it";
    check(rule, Layout::EndToEnd, &[2, 3], &[1, 4]);
    check(rule, Layout::EndToEnd, &[5, 2, 3], &[4, 6, 9]);
    check(rule, Layout::EndToEnd, &[1, 1, 1, 1], &[0, 1, 2, 3]);
}

#[test]
fn no_prompts_have_no_rows() {
    for layout in [Layout::PaddedRight, Layout::PaddedLeft, Layout::EndToEnd] {
        check("without prompts there are no rows", layout, &[], &[]);
    }
}

#[test]
fn the_rows_hold_the_last_tokens() {
    let mut random = Random::new(0);
    for batch in 1..8 {
        let lengths: Vec<usize> = (0..batch).map(|_| 1 + random.below(5)).collect();
        let width = *lengths.iter().max().expect("there is a prompt");
        for layout in [Layout::PaddedRight, Layout::PaddedLeft, Layout::EndToEnd] {
            // Each row holds the number of its prompt and whether it is the last of its text.
            let mut rows = Vec::new();
            for (prompt, &length) in lengths.iter().enumerate() {
                let text = (0..length).map(|i| Some((prompt, i + 1 == length)));
                let padding = vec![None; width - length];
                match layout {
                    Layout::PaddedRight => rows.extend(text.chain(padding)),
                    Layout::PaddedLeft => rows.extend(padding.into_iter().chain(text)),
                    Layout::EndToEnd => rows.extend(text),
                }
            }
            let case = Case::rule("in the row of a prompt lies the last token of its text")
                .given("layout", layout)
                .given("lengths", &lengths);
            let last = |prompt: usize| rows.iter().position(|&row| row == Some((prompt, true)));
            let expected: Vec<usize> = (0..batch).filter_map(last).collect();
            case.equal(expected, last_rows(layout, &lengths));
        }
    }
}
