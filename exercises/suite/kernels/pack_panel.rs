use super::pack_panel::pack;
use crate::support::Case;

/// Weight `k` of output `o` is `10 * (o + 1) + k`, so that each says where it comes from.
fn matrix(n_out: usize, n_in: usize) -> Vec<Vec<f32>> {
    let row = |o: usize| (0..n_in).map(|k| (10 * (o + 1) + k) as f32).collect();
    (0..n_out).map(row).collect()
}

fn case(rule: &str, weights: &[Vec<f32>], lanes: usize) -> Case {
    Case::rule(rule).given("weights", weights).given("lanes", lanes)
}

#[test]
fn the_weights_of_one_input_lie_side_by_side() {
    let weights = matrix(2, 3);
    let case = case(
        "`[p][k][lane]` is the weight of output `p * lanes + lane` for input `k`",
        &weights,
        2,
    );
    let expected = vec![vec![vec![10.0, 20.0], vec![11.0, 21.0], vec![12.0, 22.0]]];
    case.equal(expected, pack(&weights, 2));
}

#[test]
fn outputs_that_follow_each_other_share_a_panel() {
    let weights = matrix(6, 1);
    let case = case("a panel holds outputs that follow each other", &weights, 2);
    let expected = [[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]];
    let expected: Vec<_> = expected.iter().map(|lanes| vec![lanes.to_vec()]).collect();
    case.equal(expected, pack(&weights, 2));
}

#[test]
fn the_last_panel_is_filled_up_with_zeros() {
    let weights = matrix(5, 2);
    let case = case("zeros take the lanes that have no output", &weights, 4);
    let expected = vec![
        vec![vec![10.0, 20.0, 30.0, 40.0], vec![11.0, 21.0, 31.0, 41.0]],
        vec![vec![50.0, 0.0, 0.0, 0.0], vec![51.0, 0.0, 0.0, 0.0]],
    ];
    case.equal(expected, pack(&weights, 4));
}

#[test]
fn the_zeros_at_the_end_are_zeros_whatever_the_weights_are() {
    let weights = [
        vec![f32::INFINITY, -1.0],
        vec![f32::NAN, -2.0],
        vec![f32::INFINITY, -3.0],
    ];
    let case = case("zeros take the lanes that have no output (these are the bits)", &weights, 4);
    let panels = pack(&weights, 4);
    let bits: Vec<u32> = panels[0].iter().map(|lanes| lanes[3].to_bits()).collect();
    case.equal(vec![0, 0], bits);
}

#[test]
fn panels_of_zeros_and_panels_without_inputs_are_panels() {
    let mut weights = matrix(6, 1);
    weights[2..4].fill(vec![0.0]);
    let case = self::case("weights of 0 are weights", &weights, 2);
    let expected = [[10.0, 20.0], [0.0, 0.0], [50.0, 60.0]];
    let expected: Vec<_> = expected.iter().map(|lanes| vec![lanes.to_vec()]).collect();
    case.equal(expected, pack(&weights, 2));
    let weights = matrix(3, 0);
    let case = self::case("`[panels][n_in][lanes]`, also where `n_in` is 0", &weights, 2);
    case.equal(vec![Vec::<Vec<f32>>::new(); 2], pack(&weights, 2));
}

#[test]
fn one_lane_is_a_row_after_the_other() {
    let weights = matrix(3, 2);
    let case = case("with one lane, each output is a panel", &weights, 1);
    let expected = [[10.0, 11.0], [20.0, 21.0], [30.0, 31.0]];
    let expected: Vec<Vec<Vec<f32>>> =
        expected.iter().map(|row| row.iter().map(|&weight| vec![weight]).collect()).collect();
    case.equal(expected, pack(&weights, 1));
}

#[test]
fn no_outputs_are_no_panels() {
    let case = case("without outputs there are no panels", &[], 8);
    case.equal(Vec::<Vec<Vec<f32>>>::new(), pack(&[], 8));
}

#[test]
fn every_weight_is_where_the_microkernel_looks() {
    for (n_out, n_in, lanes) in [(1, 1, 4), (7, 5, 3), (8, 3, 8), (33, 2, 32), (9, 4, 8)] {
        let weights = matrix(n_out, n_in);
        let case = case("`[panels][n_in][lanes]`, and each weight in its place", &weights, lanes);
        let panels = pack(&weights, lanes);
        case.equal(n_out.div_ceil(lanes), panels.len());
        for (p, panel) in panels.iter().enumerate() {
            case.equal(n_in, panel.len());
            for (k, found) in panel.iter().enumerate() {
                let weight = |o: usize| weights.get(o).map_or(0.0, |row| row[k]);
                let expected: Vec<f32> = (p * lanes..(p + 1) * lanes).map(weight).collect();
                case.equal(&expected, found);
            }
        }
    }
}
