use burn::tensor::{Int, Tensor};

use super::split_heads::{merge_heads, split_heads};
use crate::support::{Case, device, floats};

/// The numbers 1, 2, 3, ... in the shape.
fn counted<const D: usize>(shape: [usize; D]) -> Tensor<D> {
    let count: usize = shape.iter().product();
    Tensor::<1, Int>::arange(1..count as i64 + 1, &device()).float().reshape(shape)
}

fn given<const D: usize>(rule: &str, x: &Tensor<D>) -> Case {
    Case::rule(rule)
        .given("x, a tensor of shape", x.dims())
        .given("numbers in x", floats(x.clone()))
}

fn check<const D: usize>(case: &Case, shape: [usize; D], numbers: &[f32], found: Tensor<D>) {
    let expected = format!("a tensor of shape {shape:?}");
    case.holds(found.dims() == shape, &expected, found.dims());
    case.close(numbers, &floats(found), 0.0);
}

#[test]
fn each_head_has_its_part_of_every_position() {
    let x = counted([1, 2, 4]);
    let case = given("head h has the numbers from h * head_dim on, of each position", &x)
        .given("head_dim", 2);
    check(
        &case,
        [1, 2, 2, 2],
        &[1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0],
        split_heads(x, 2),
    );
}

#[test]
fn sizes_that_differ() {
    let x = counted([1, 3, 4]);
    let case = given("the result is [batch, heads, seq, head_dim]", &x).given("head_dim", 1);
    let expected = [
        1.0, 5.0, 9.0, 2.0, 6.0, 10.0, 3.0, 7.0, 11.0, 4.0, 8.0, 12.0,
    ];
    check(&case, [1, 4, 3, 1], &expected, split_heads(x, 1));
}

#[test]
fn texts_stay_apart() {
    let x = counted([2, 2, 2]);
    let case = given("the texts of a batch are not mixed", &x).given("head_dim", 1);
    check(
        &case,
        [2, 2, 2, 1],
        &[1.0, 3.0, 2.0, 4.0, 5.0, 7.0, 6.0, 8.0],
        split_heads(x, 1),
    );
}

#[test]
fn merged_heads_lie_side_by_side() {
    let x = counted([1, 2, 3, 2]);
    let case = given("at each position, the numbers of head 1 follow head 0's", &x);
    let expected = [
        1.0, 2.0, 7.0, 8.0, 3.0, 4.0, 9.0, 10.0, 5.0, 6.0, 11.0, 12.0,
    ];
    check(&case, [1, 3, 4], &expected, merge_heads(x));
}

#[test]
fn there_and_back() {
    for [batch, seq, heads, head_dim] in [[1, 1, 1, 1], [2, 1, 3, 2], [1, 5, 2, 3], [3, 2, 4, 5]] {
        let x = counted([batch, seq, heads * head_dim]);
        let case = given("merge_heads undoes what split_heads did", &x).given("head_dim", head_dim);
        let expected = floats(x.clone());
        let shape = [batch, seq, heads * head_dim];
        check(&case, shape, &expected, merge_heads(split_heads(x, head_dim)));
    }
}
