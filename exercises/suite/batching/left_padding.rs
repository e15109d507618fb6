use super::left_padding::left_pad;
use crate::support::{Case, Random};

/// The rows of a mask: 1 for hidden, 0 for not.
fn rows(mask: &[Vec<bool>]) -> String {
    let row = |row: &Vec<bool>| row.iter().map(|&hidden| if hidden { '1' } else { '0' }).collect();
    mask.iter().map(row).collect::<Vec<String>>().join(" ")
}

fn case(rule: &str, prompts: &[Vec<u32>]) -> Case {
    Case::rule(rule).given("prompts", prompts).given("pad", 0)
}

#[test]
fn all_prompts_end_in_the_last_column() {
    let prompts = [vec![5, 6, 7], vec![8], vec![9, 4]];
    let case = case("padding stands before a prompt, up to the length of the longest", &prompts);
    let expected = vec![vec![5, 6, 7], vec![0, 0, 8], vec![0, 9, 4]];
    case.equal(expected, left_pad(&prompts, 0).ids);
}

#[test]
fn positions_do_not_count_padding() {
    let prompts = [vec![5, 6, 7], vec![8], vec![9, 4]];
    let case = case("the first token of each text has the position 0, and padding too", &prompts);
    let expected = vec![vec![0, 1, 2], vec![0, 0, 0], vec![0, 0, 1]];
    case.equal(expected, left_pad(&prompts, 0).positions);
}

#[test]
fn without_padding_the_mask_is_causal() {
    for (prompt, expected) in [(vec![5], "0"), (vec![5, 6, 7], "011 001 000")] {
        let prompts = [prompt];
        let case = case(
            "a token sees itself and what came before it (1 is true, which means hidden)",
            &prompts,
        );
        case.equal(expected, &rows(&left_pad(&prompts, 0).hidden[0]));
    }
}

#[test]
fn tokens_see_no_padding() {
    for (prompt, expected) in [(vec![8], "110"), (vec![9, 4], "101 100")] {
        let prompts = [vec![5, 6, 7], prompt.clone()];
        let case = case(
            "a token sees itself and the tokens of its text before it, and no padding: rows of \
             the second text's tokens (1 is hidden)",
            &prompts,
        );
        case.equal(expected, &rows(&left_pad(&prompts, 0).hidden[1][3 - prompt.len()..]));
    }
}

#[test]
fn padding_sees_itself() {
    let prompts = [vec![5, 6, 7], vec![8]];
    let case = case(
        "padding sees itself and nothing else, so that no row is hidden whole: rows of the second \
         text's padding (1 is hidden)",
        &prompts,
    );
    case.equal("011 101", &rows(&left_pad(&prompts, 0).hidden[1][..2]));
}

#[test]
fn a_token_with_the_id_of_the_pad_is_no_padding() {
    let prompts = [vec![5, 6, 7], vec![0, 4]];
    let case = case(
        "padding is where it stands, not which id it has: rows of the second text's tokens (1 is \
         hidden)",
        &prompts,
    );
    let padded = left_pad(&prompts, 0);
    case.equal(vec![0, 0, 4], padded.ids[1].clone());
    case.equal("101 100", &rows(&padded.hidden[1][1..]));
}

#[test]
fn the_pad_may_be_any_id() {
    let prompts = [vec![5, 6, 7], vec![9, 4]];
    let case =
        Case::rule("padding holds the id of the pad").given("prompts", &prompts).given("pad", 9);
    let padded = left_pad(&prompts, 9);
    case.equal(vec![vec![5, 6, 7], vec![9, 9, 4]], padded.ids);
    case.equal("011 101 100", &rows(&padded.hidden[1]));
    case.equal(vec![vec![0, 1, 2], vec![0, 0, 1]], padded.positions);
}

#[test]
fn much_padding() {
    let prompts = [vec![1, 2, 3, 4, 5], vec![8, 9]];
    let case = case(
        "padding sees itself and nothing else, a text itself alone (1 is hidden)",
        &prompts,
    );
    let padded = left_pad(&prompts, 0);
    case.equal("01111 10111 11011 11101 11100", &rows(&padded.hidden[1]));
    case.equal(vec![0, 0, 0, 0, 1], padded.positions[1].clone());
}

#[test]
fn no_prompts_give_no_rows() {
    let case = case("without prompts all lists are empty", &[]);
    let padded = left_pad(&[], 0);
    case.equal((0, 0, 0), (padded.ids.len(), padded.positions.len(), padded.hidden.len()));
}

#[test]
fn every_text_sees_what_it_would_see_alone() {
    let mut random = Random::new(0);
    for batch in 1..6 {
        let prompt = |_| {
            let length = 1 + random.below(6);
            (0..length).map(|_| random.below(3) as u32).collect()
        };
        let prompts: Vec<Vec<u32>> = (0..batch).map(prompt).collect();
        let case = case("cut out its columns, and a text is as if it were alone", &prompts);
        let padded = left_pad(&prompts, 0);
        for (row, prompt) in prompts.iter().enumerate() {
            let first = padded.ids[row].len() - prompt.len();
            let mask: Vec<Vec<bool>> =
                padded.hidden[row][first..].iter().map(|row| row[first..].to_vec()).collect();
            let alone: Vec<Vec<bool>> =
                (0..prompt.len()).map(|i| (0..prompt.len()).map(|j| j > i).collect()).collect();
            case.equal(prompt.clone(), padded.ids[row][first..].to_vec());
            case.equal(
                (0..prompt.len()).collect::<Vec<_>>(),
                padded.positions[row][first..].to_vec(),
            );
            case.equal(rows(&alone), rows(&mask));
        }
    }
}
