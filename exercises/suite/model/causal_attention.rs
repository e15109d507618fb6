use burn::tensor::{Tensor, TensorData};

use super::causal_attention::causal_attention;
use crate::support::{Case, Random, device, floats};

/// What attention makes of these vectors, one for each position: one text, one head.
fn attend(case: &Case, q: &[[f32; 2]], k: &[[f32; 2]], v: &[[f32; 2]]) -> Vec<f32> {
    let shape = [1, 1, q.len(), 2];
    let found = causal_attention(tensor(q, shape), tensor(k, shape), tensor(v, shape));
    case.equal(shape, found.dims());
    floats(found)
}

fn tensor(vectors: &[[f32; 2]], shape: [usize; 4]) -> Tensor<4> {
    Tensor::from_data(TensorData::new(vectors.concat(), shape), &device())
}

fn given(rule: &str, q: &[[f32; 2]], k: &[[f32; 2]], v: &[[f32; 2]]) -> Case {
    Case::rule(rule).given("q", q).given("k", k).given("v", v)
}

#[test]
fn the_first_position_gets_its_own_value() {
    let (q, k) = ([[1.0, 0.0], [0.5, 1.0]], [[1.0, 0.0], [0.0, 1.0]]);
    let v = [[3.0, -1.0], [5.0, 2.0]];
    let case = given("position 0 looks only at itself, with the weight 1", &q, &k, &v);
    case.close(&[3.0, -1.0], &attend(&case, &q, &k, &v)[..2], 1e-4);
}

#[test]
fn the_vectors_of_the_page() {
    let (q, k) = ([[0.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]);
    let v = [[3.0, 0.0], [0.0, 3.0]];
    let case = given(
        "the scores 1 and 0 are divided by the root of 2, and their softmax is 0.67 and 0.33",
        &q,
        &k,
        &v,
    );
    case.close(&[3.0, 0.0, 2.009_285, 0.990_715], &attend(&case, &q, &k, &v), 1e-4);
}

#[test]
fn the_weights_sum_to_one() {
    let mut random = Random::new(0);
    for seq in 1..9 {
        let mut vectors = || -> Vec<[f32; 2]> {
            (0..seq).map(|_| [random.float(-2.0, 2.0), random.float(-2.0, 2.0)]).collect()
        };
        let (q, k) = (vectors(), vectors());
        let v = vec![[1.0, -2.0]; seq];
        let case = given("if all values are equal, so is every weighted mean", &q, &k, &v);
        case.close(&v.concat(), &attend(&case, &q, &k, &v), 1e-4);
    }
}

#[test]
fn a_hidden_key_that_fits_far_better() {
    let rule = "if a hidden key fits far better than all that are visible, the visible ones still \
                share the weight 1 (0 divided by 0 is NaN)";
    let q = [[1.0, 0.0]; 3];
    let v = [[1.0, 0.0], [0.0, 1.0], [4.0, 4.0]];
    for size in [400.0, 4e5, 4e10] {
        let k = [[-size, 0.0], [-size, 0.0], [size, 0.0]];
        let case = given(rule, &q, &k, &v);
        let expected = [1.0, 0.0, 0.5, 0.5, 4.0, 4.0];
        case.close(&expected, &attend(&case, &q, &k, &v), 1e-4);
    }
}

#[test]
fn a_later_token_changes_nothing_before_it() {
    let q = [[1.0, 2.0], [-1.0, 0.5], [2.0, 1.0]];
    let v = [[1.0, 0.0], [0.0, 1.0], [4.0, 4.0]];
    let k = |last| [[0.5, 0.0], [0.0, 0.5], last];
    // By hand: position 0 gets its own value, and position 1 has the scores -0.5 and 0.25 before the
    // division by the root of 2.
    let before = [1.0, 0.0, 0.370_440, 0.629_560];
    for last in [[1.0, 1.0], [-3.0, 2.0], [4.0, 4.0]] {
        let case = given(
            "a key at the end of the text changes nothing at the positions before it, however well it fits",
            &q,
            &k(last),
            &v,
        );
        case.close(&before, &attend(&case, &q, &k(last), &v)[..4], 1e-4);
    }
}

#[test]
fn heads_and_texts_stay_apart() {
    let shape = [2, 3, 1, 2]; // [batch, heads, seq, head_dim]
    let v: Vec<[f32; 2]> = (0..6).map(|i| [i as f32, -1.0]).collect();
    let q = [[1.0, 1.0]; 6];
    let case = given("with one position, each head of each text gets its own value", &q, &q, &v)
        .given("shape", shape);
    let found = causal_attention(tensor(&q, shape), tensor(&q, shape), tensor(&v, shape));
    case.equal(shape, found.dims());
    case.close(&v.concat(), &floats(found), 1e-4);
}

#[test]
fn each_head_of_each_text_has_scores_of_its_own() {
    // In heads 0 and 3 the second key fits far better, in 1 and 2 the first.
    let shape = [2, 2, 2, 2]; // [batch, heads, seq, head_dim]
    let q = [[20.0, 0.0]; 8];
    let fits = |second: bool| {
        if second {
            [[0.0, 0.0], [20.0, 0.0]]
        } else {
            [[20.0, 0.0], [0.0, 0.0]]
        }
    };
    let k = [fits(true), fits(false), fits(false), fits(true)].concat();
    let v: Vec<[f32; 2]> = (0..8).map(|i| [i as f32, 1.0]).collect();
    let case =
        given("the last position looks at what fits it, in each head of each text", &q, &k, &v)
            .given("shape", shape);
    let found = causal_attention(tensor(&q, shape), tensor(&k, shape), tensor(&v, shape));
    case.equal(shape, found.dims());
    let seen = [0, 1, 2, 2, 4, 4, 6, 7].map(|i| [i as f32, 1.0]);
    case.close(&seen.concat(), &floats(found), 1e-4);
}

#[test]
fn the_scale_is_the_root_of_head_dim() {
    let shape = [1, 1, 2, 4];
    let (q, k) = (
        [[0.0; 2], [0.0; 2], [2.0, 0.0], [0.0; 2]],
        [[2.0, 0.0], [0.0; 2], [0.0; 2], [0.0; 2]],
    );
    let v = [[1.0, 0.0], [0.0; 2], [0.0, 1.0], [0.0; 2]];
    let case = given("scores are divided by the root of head_dim, here 2", &q, &k, &v)
        .given("shape", shape);
    let found = causal_attention(tensor(&q, shape), tensor(&k, shape), tensor(&v, shape));
    let expected = [1.0, 0.0, 0.0, 0.0, 0.880_797, 0.119_203, 0.0, 0.0];
    case.close(&expected, &floats(found), 1e-4);
}
