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

#[test]
fn each_head_has_its_part_of_every_position() {
    let x = counted([1, 2, 4]);
    let case = given("head h has the numbers from h * head_dim on, of each position", &x)
        .given("head_dim", 2);
    let found = split_heads(x, 2);
    case.equal([1, 2, 2, 2], found.dims());
    case.close(&[1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0], &floats(found), 0.0);
}

#[test]
fn sizes_that_differ() {
    let x = counted([1, 3, 4]);
    let case = given("the result is [batch, heads, seq, head_dim]", &x).given("head_dim", 1);
    let found = split_heads(x, 1);
    case.equal([1, 4, 3, 1], found.dims());
    let expected = [
        1.0, 5.0, 9.0, 2.0, 6.0, 10.0, 3.0, 7.0, 11.0, 4.0, 8.0, 12.0,
    ];
    case.close(&expected, &floats(found), 0.0);
}

#[test]
fn texts_stay_apart() {
    let x = counted([2, 2, 2]);
    let case = given("the texts of a batch are not mixed", &x).given("head_dim", 1);
    let found = split_heads(x, 1);
    case.equal([2, 2, 2, 1], found.dims());
    case.close(&[1.0, 3.0, 2.0, 4.0, 5.0, 7.0, 6.0, 8.0], &floats(found), 0.0);
}

#[test]
fn merged_heads_lie_side_by_side() {
    let x = counted([1, 2, 3, 2]);
    let case = given("at each position, the numbers of head 1 follow those of head 0", &x);
    let found = merge_heads(x);
    case.equal([1, 3, 4], found.dims());
    let expected = [
        1.0, 2.0, 7.0, 8.0, 3.0, 4.0, 9.0, 10.0, 5.0, 6.0, 11.0, 12.0,
    ];
    case.close(&expected, &floats(found), 0.0);
}

#[test]
fn there_and_back() {
    for [batch, seq, heads, head_dim] in [[1, 1, 1, 1], [2, 1, 3, 2], [1, 5, 2, 3], [3, 2, 4, 5]] {
        let x = counted([batch, seq, heads * head_dim]);
        let case = given("merge_heads undoes what split_heads did", &x).given("head_dim", head_dim);
        let expected = floats(x.clone());
        case.close(&expected, &floats(merge_heads(split_heads(x, head_dim))), 0.0);
    }
}
