use super::attend_to_cache::attend_to_cache;
use crate::support::{Case, Random, floats, tensor};

const TOLERANCE: f32 = 1e-5;

/// Batch, query heads, key/value heads, positions, size of a head.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    batch: usize,
    n_heads: usize,
    n_kv_heads: usize,
    length: usize,
    head_dim: usize,
}

fn check(rule: &str, sizes: Sizes, [query, keys, values]: [Vec<f32>; 3], expected: &[f32]) {
    let Sizes { batch, n_heads, n_kv_heads, length, head_dim } = sizes;
    let case = Case::rule(rule)
        .given("sizes", sizes)
        .given("query", &query)
        .given("keys", &keys)
        .given("values", &values);
    let cached = [batch, n_kv_heads, length, head_dim];
    let found = attend_to_cache(
        tensor(query, [batch, n_heads, 1, head_dim]),
        tensor(keys, cached),
        tensor(values, cached),
    );
    case.equal([batch, n_heads, 1, head_dim], found.dims());
    case.close(expected, &floats(found), TOLERANCE);
}

/// Attention over a whole text, for one head: queries, keys and values are `[length, head_dim]`,
/// and each position looks at itself and at what came before it.
fn whole_text(queries: &[f32], keys: &[f32], values: &[f32], head_dim: usize) -> Vec<Vec<f64>> {
    let rows = |numbers: &[f32]| -> Vec<Vec<f64>> {
        let wide: Vec<f64> = numbers.iter().copied().map(f64::from).collect();
        wide.chunks(head_dim).map(<[f64]>::to_vec).collect()
    };
    let (queries, keys, values) = (rows(queries), rows(keys), rows(values));
    let row = |(i, query): (usize, &Vec<f64>)| {
        let fit = |key: &Vec<f64>| {
            let dot: f64 = query.iter().zip(key).map(|(q, k)| q * k).sum();
            (dot / (head_dim as f64).sqrt()).exp()
        };
        let weights: Vec<f64> = keys[..=i].iter().map(fit).collect();
        let sum: f64 = weights.iter().sum();
        let mixed =
            |d: usize| weights.iter().zip(&values).map(|(w, v)| w * v[d]).sum::<f64>() / sum;
        (0..head_dim).map(mixed).collect()
    };
    queries.iter().enumerate().map(row).collect()
}

#[test]
fn one_position_gives_its_value() {
    let sizes = Sizes { batch: 1, n_heads: 1, n_kv_heads: 1, length: 1, head_dim: 2 };
    let input = [vec![1.0, 2.0], vec![3.0, -1.0], vec![5.0, 7.0]];
    check("one position alone has the weight 1", sizes, input, &[5.0, 7.0]);
}

#[test]
fn equal_keys_give_the_mean_of_all_values() {
    let sizes = Sizes { batch: 1, n_heads: 1, n_kv_heads: 1, length: 4, head_dim: 1 };
    let input = [vec![1.0], vec![0.5; 4], vec![1.0, 2.0, 3.0, 10.0]];
    check(
        "the softmax goes over the positions: equal scores share the weight, the newest token's own too",
        sizes,
        input,
        &[4.0],
    );
}

#[test]
fn scores_are_divided_by_the_root_of_the_head_size() {
    let sizes = Sizes { batch: 1, n_heads: 1, n_kv_heads: 1, length: 2, head_dim: 4 };
    let query = vec![1.0, 0.0, 0.0, 0.0];
    let keys = vec![4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let values = vec![1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    check(
        "the score is the dot product divided by the root of head_dim: here 4 / 2 and 0 / 2",
        sizes,
        [query, keys, values],
        &[0.880_797, 0.119_203, 0.0, 0.0],
    );
}

#[test]
fn neighbouring_query_heads_share_a_key_value_head() {
    let sizes = Sizes { batch: 1, n_heads: 4, n_kv_heads: 2, length: 1, head_dim: 1 };
    check(
        "4 query heads for 2 key/value heads: the first two read the first, the others the second",
        sizes,
        [vec![1.0; 4], vec![1.0; 2], vec![10.0, 20.0]],
        &[10.0, 10.0, 20.0, 20.0],
    );
}

#[test]
fn each_text_of_a_batch_reads_its_own_cache() {
    let sizes = Sizes { batch: 2, n_heads: 2, n_kv_heads: 1, length: 1, head_dim: 1 };
    check(
        "a batch of 2: the first query reads the first keys and values, the second the second",
        sizes,
        [vec![1.0; 4], vec![1.0; 2], vec![10.0, 20.0]],
        &[10.0, 10.0, 20.0, 20.0],
    );
    let sizes = Sizes { batch: 3, n_heads: 2, n_kv_heads: 2, length: 1, head_dim: 1 };
    check(
        "a batch of 3: each query reads the keys and values of its own text",
        sizes,
        [
            vec![1.0; 6],
            vec![1.0; 6],
            (1..7).map(|i| i as f32).collect(),
        ],
        &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    );
}

#[test]
fn great_scores_do_not_overflow() {
    let sizes = Sizes { batch: 1, n_heads: 1, n_kv_heads: 1, length: 2, head_dim: 1 };
    let input = [vec![1.0], vec![1000.0, 999.0], vec![1.0, 0.0]];
    check(
        "a softmax of large scores is a softmax too: here e / (e + 1), as with the scores 1 and 0",
        sizes,
        input,
        &[0.731_059],
    );
}

#[test]
fn a_head_of_great_scores_leaves_the_others_alone() {
    let sizes = Sizes { batch: 2, n_heads: 2, n_kv_heads: 2, length: 2, head_dim: 1 };
    let keys = vec![1000.0, 999.0, 1.0, 0.0, -500.0, -501.0, 0.0, -1.0];
    check(
        "each head of each text has its own softmax: here e / (e + 1) for every one of them",
        sizes,
        [vec![1.0; 4], keys, [1.0, 0.0].repeat(4)],
        &[0.731_059; 4],
    );
}

#[test]
fn it_is_the_last_row_of_the_whole_text() {
    let mut random = Random::new(0);
    for (batch, n_heads, n_kv_heads, length, head_dim) in [
        (1, 1, 1, 2, 2),
        (1, 2, 1, 3, 2),
        (1, 4, 2, 2, 1),
        (1, 6, 2, 4, 3),
        (2, 4, 2, 5, 8),
        (3, 6, 3, 7, 4),
        (1, 2, 1, 40, 2),
        (1, 1, 1, 300, 1),
    ] {
        let sizes = Sizes { batch, n_heads, n_kv_heads, length, head_dim };
        let part = length * head_dim;
        let mut numbers = |heads: usize| -> Vec<f32> {
            // Tenths, as they are printed when the test fails.
            let number = |_| (random.float(-2.0, 2.0) * 10.0).round() / 10.0;
            (0..batch * heads * part).map(number).collect()
        };
        let (queries, keys, values) = (numbers(n_heads), numbers(n_kv_heads), numbers(n_kv_heads));
        let mut newest = Vec::new();
        let mut expected = Vec::new();
        for (head, queries) in queries.chunks(part).enumerate() {
            let shared = head / (n_heads / n_kv_heads) * part;
            let (keys, values) = (&keys[shared..shared + part], &values[shared..shared + part]);
            newest.extend(&queries[part - head_dim..]);
            let whole = whole_text(queries, keys, values, head_dim);
            expected.extend(whole[length - 1].iter().map(|&number| number as f32));
        }
        check(
            "the newest token's row is the last row of attention over the whole text",
            sizes,
            [newest, keys, values],
            &expected,
        );
    }
}
