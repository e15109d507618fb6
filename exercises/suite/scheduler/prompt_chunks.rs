use super::prompt_chunks::{Chunk, prompt_chunks};
use crate::support::{Case, Random};

/// (start, tokens) of each chunk, and which of them want logits.
type Short = (Vec<(usize, usize)>, Vec<usize>);

fn run(prompt: usize, token_budget: usize, decodes: &[usize]) -> Short {
    let chunks = prompt_chunks(prompt, token_budget, decodes);
    let short = chunks.iter().map(|&Chunk { start, tokens, .. }| (start, tokens)).collect();
    let wanting = (0..chunks.len()).filter(|&i| chunks[i].wants_logits).collect();
    (short, wanting)
}

fn case(rule: &str, prompt: usize, token_budget: usize, decodes: &[usize]) -> Case {
    Case::rule(format!("{rule}: ((start, tokens) of each chunk, which of them want logits)"))
        .given("prompt", prompt)
        .given("token_budget", token_budget)
        .given("decodes", decodes)
}

/// `expected`: (start, tokens) of each chunk. The last wants logits.
fn check(
    rule: &str,
    (prompt, token_budget, decodes): (usize, usize, &[usize]),
    expected: &[(usize, usize)],
) {
    let case = case(rule, prompt, token_budget, decodes);
    let expected = (expected.to_vec(), vec![expected.len() - 1]);
    case.equal(expected, run(prompt, token_budget, decodes));
}

#[test]
fn the_example_of_the_task() {
    let expected = [(0, 3), (3, 1), (4, 2), (6, 4)];
    check(
        "the example above the function: a chunk is what the decodes leave of the budget, at least one token; the last wants logits",
        (10, 4, &[1, 4, 2]),
        &expected,
    );
}

#[test]
fn without_decodes_the_budget_is_the_chunk() {
    let rule = "each chunk takes the budget, and the last takes what is left of the prompt";
    check(rule, (7, 3, &[]), &[(0, 3), (3, 3), (6, 1)]);
    check(rule, (2, 3, &[]), &[(0, 2)]);
    check(rule, (1, 1, &[]), &[(0, 1)]);
    check(rule, (3, 1, &[]), &[(0, 1), (1, 1), (2, 1)]);
    let rule =
        "a prompt that ends with the budget has no chunk without tokens, and wants its logits";
    check(rule, (6, 3, &[]), &[(0, 3), (3, 3)]);
    check(rule, (3, 3, &[]), &[(0, 3)]);
}

#[test]
fn decodes_come_first() {
    let rule = "each decode takes a token of the budget";
    check(rule, (6, 4, &[2, 1]), &[(0, 2), (2, 3), (5, 1)]);
    check(rule, (4, 4, &[1]), &[(0, 3), (3, 1)]);
    let rule = "after the end of `decodes` the whole budget is left";
    check(rule, (9, 4, &[3]), &[(0, 1), (1, 4), (5, 4)]);
    let rule = "the decodes of steps behind the last chunk do not matter";
    check(rule, (2, 4, &[1, 2, 3]), &[(0, 2)]);
}

#[test]
fn a_prompt_goes_on_by_one_token_at_least() {
    let rule = "if the decodes leave nothing, the chunk has one token";
    check(rule, (5, 3, &[3, 4, 300]), &[(0, 1), (1, 1), (2, 1), (3, 2)]);
    check(rule, (2, 1, &[1, 1]), &[(0, 1), (1, 1)]);
    let rule = "if the decodes leave something, the chunk has that, and not one more";
    check(rule, (5, 3, &[2, 1]), &[(0, 1), (1, 2), (3, 2)]);
    let rule = "the last token may be one that came by that rule, and wants its logits";
    check(rule, (1, 2, &[2]), &[(0, 1)]);
}

#[test]
fn a_long_prompt_has_many_chunks() {
    let case = case("3000 tokens on a busy server: the steps that they take", 3000, 2, &[2; 2900]);
    let (chunks, wanting) = run(3000, 2, &[2; 2900]);
    case.equal(("chunks", 2950), ("chunks", chunks.len()));
    case.equal(vec![2949], wanting);
}

#[test]
fn every_token_is_in_one_chunk() {
    let mut random = Random::new(9);
    for _ in 0..60 {
        let (prompt, token_budget) = (1 + random.below(40), 1 + random.below(8));
        let decodes: Vec<usize> = (0..random.below(12)).map(|_| random.below(11)).collect();
        let case = case("each token once, in order", prompt, token_budget, &decodes);
        let (chunks, wanting) = run(prompt, token_budget, &decodes);
        case.equal(vec![chunks.len() - 1], wanting);
        let mut read = 0;
        for (step, &(start, tokens)) in chunks.iter().enumerate() {
            let decoding = decodes.get(step).copied().unwrap_or(0);
            let most = token_budget.saturating_sub(decoding).max(1);
            case.equal((step, (read, most.min(prompt - read))), (step, (start, tokens)));
            read += tokens;
        }
        case.equal(("tokens", prompt), ("tokens", read));
    }
}

#[test]
fn limit_numbers_may_be_however_great() {
    let rule = "no sum may overflow";
    let max = usize::MAX;
    check(rule, (3, max, &[max, max - 2]), &[(0, 1), (1, 2)]);
    check(rule, (100_000, max, &[]), &[(0, 100_000)]);
    check(rule, (100_000, max, &[max - 99_999]), &[(0, 99_999), (99_999, 1)]);
    check(rule, (5, (1 << 32) + 2, &[1 << 32]), &[(0, 2), (2, 3)]);
    check(rule, (70_000, 65_536, &[]), &[(0, 65_536), (65_536, 4464)]);
}
