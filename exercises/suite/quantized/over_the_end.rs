use super::over_the_end::stored;
use crate::support::{Case, Random};

/// What is read of one group.
fn read_back(weights: &[f32]) -> Vec<f32> {
    let greatest = weights.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
    let scale = greatest / 127.0;
    let read = |weight: &f32| {
        if scale == 0.0 {
            0.0
        } else {
            scale * (weight / scale).round()
        }
    };
    weights.iter().map(read).collect()
}

fn check(rule: &str, matrix: &[Vec<f32>], group: usize, expected: &[Vec<f32>]) {
    let case = Case::rule(rule).given("matrix", matrix).given("group", group);
    case.close_rows(expected, &stored(matrix, group), 1e-6);
}

#[test]
fn rows_of_whole_groups() {
    let matrix = [vec![127.0, 64.2, 1.0, 0.3], vec![2.54, 0.013, 0.0, 0.0]];
    let expected = [
        vec![127.0, 64.0, 1.0, 38.0 / 127.0],
        vec![2.54, 0.02, 0.0, 0.0],
    ];
    check("each group has the scale of its greatest magnitude", &matrix, 2, &expected);
}

#[test]
fn a_group_ends_with_its_row() {
    let matrix = [vec![127.0, 64.0, 100.0], vec![0.5, 0.3, 0.1]];
    let expected = [
        vec![127.0, 64.0, 100.0],
        [read_back(&[0.5, 0.3]), vec![0.1]].concat(),
    ];
    check("no group holds weights of two rows", &matrix, 2, &expected);
}

#[test]
fn a_row_may_be_shorter_than_a_group() {
    let matrix = [vec![127.0], vec![0.5], vec![0.001]];
    check("a row that is shorter than a group is a group", &matrix, 32, &matrix);
}

#[test]
fn all_weights_of_a_row_are_stored() {
    let matrix = [
        vec![127.0, 1.0, 0.26, 0.6, 0.0],
        vec![0.0, 0.0, 0.0, 0.0, 0.013],
    ];
    let expected = [
        vec![127.0, 1.0, 0.0, 0.6, 0.0],
        vec![0.0, 0.0, 0.0, 0.0, 0.013],
    ];
    let rule = "the last group of a row is shorter, and is stored as well";
    check(rule, &matrix, 3, &expected);
}

#[test]
fn no_rows_and_empty_rows() {
    let case = Case::rule("without weights there is nothing to store");
    case.equal(0, stored(&[], 4).len());
    case.equal(vec![Vec::<f32>::new(); 2], stored(&[vec![], vec![]], 4));
}

#[test]
fn a_row_is_stored_alone_as_in_its_matrix() {
    let mut random = Random::new(8);
    for (rows, n_in, group) in [(3, 4, 4), (4, 5, 4), (5, 48, 32), (3, 7, 3), (6, 1, 8)] {
        let matrix: Vec<Vec<f32>> = (0..rows)
            .map(|_| {
                let size = 10_f32.powi(random.below(5) as i32 - 2);
                (0..n_in).map(|_| random.float(-size, size)).collect()
            })
            .collect();
        let found = stored(&matrix, group);
        let case = Case::rule("a row is stored in its matrix as it is stored alone")
            .given("rows", rows)
            .given("n_in", n_in)
            .given("group", group);
        case.equal(matrix.len(), found.len());
        for (row, found) in matrix.iter().zip(&found) {
            let expected: Vec<f32> = row.chunks(group).flat_map(read_back).collect();
            let greatest = expected.iter().fold(0.0_f32, |a, b| a.max(b.abs()));
            case.close(&expected, found, 1e-6 * greatest);
            let alone = stored(std::slice::from_ref(row), group);
            case.close_rows(&alone, std::slice::from_ref(found), 1e-6);
        }
    }
}
