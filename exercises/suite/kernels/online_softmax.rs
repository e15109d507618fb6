use super::online_softmax::Running;
use crate::support::{Case, Random};

const TOLERANCE: f32 = 1e-5;
const HIDDEN: f32 = f32::NEG_INFINITY;

/// The mean after tiles of scores, with values of one number.
fn mean(rule: &str, tiles: &[(&[f32], &[f32])]) -> (Case, Vec<f32>) {
    let mut case = Case::rule(rule);
    for (i, (scores, values)) in tiles.iter().enumerate() {
        case = case.given(&format!("scores of tile {i}"), scores);
        case = case.given(&format!("values of tile {i}"), values);
    }
    let mut running = Running::new(1);
    for (scores, values) in tiles {
        let values: Vec<_> = values.iter().map(|&value| vec![value]).collect();
        running.push(scores, &values);
    }
    (case, running.mean())
}

#[test]
fn one_tile_is_plain_softmax() {
    let rule = "scores of ln 3 and 0 give the weights 3/4 and 1/4";
    let (case, found) = mean(rule, &[(&[3_f32.ln(), 0.0], &[4.0, 8.0])]);
    case.close(&[5.0], &found, TOLERANCE);
}

#[test]
fn equal_scores_in_two_tiles_share_the_weight() {
    let rule = "equal scores share the weight, whichever tile they are in";
    let (case, found) = mean(rule, &[(&[2.0, 2.0], &[1.0, 2.0]), (&[2.0], &[6.0])]);
    case.close(&[3.0], &found, TOLERANCE);
}

#[test]
fn a_greater_score_scales_down_what_came_before() {
    let rule = "the greater score of the second tile counts for all";
    let (case, found) = mean(rule, &[(&[0.0, 0.0], &[1.0, 3.0]), (&[2_f32.ln()], &[8.0])]);
    case.close(&[5.0], &found, TOLERANCE);
}

#[test]
fn a_smaller_score_weighs_less() {
    let rule = "the greatest score of the first tile still counts in the second";
    let (case, found) = mean(rule, &[(&[2_f32.ln()], &[8.0]), (&[0.0, 0.0], &[1.0, 3.0])]);
    case.close(&[5.0], &found, TOLERANCE);
}

#[test]
fn great_scores_do_not_overflow() {
    for shift in [100.0, 1000.0, -1000.0] {
        let rule = "a softmax does not change if all scores are shifted";
        let (case, found) = mean(rule, &[(&[shift], &[2.0]), (&[shift, shift], &[3.0, 4.0])]);
        case.close(&[3.0], &found, TOLERANCE);
    }
    let rule = "the greatest score may stand anywhere in a tile";
    for scores in [[0.0, 1000.0, 0.0], [0.0, 0.0, 1000.0]] {
        let values = scores.map(|score| if score > 0.0 { 7.0 } else { 2.0 });
        let (case, found) = mean(rule, &[(&scores, &values), (&[5.0], &[1.0])]);
        case.close(&[7.0], &found, TOLERANCE);
    }
    let (case, found) = mean(rule, &[(&[0.0], &[1.0]), (&[0.0, 3_f32.ln()], &[3.0, 7.0])]);
    case.close(&[5.0], &found, TOLERANCE);
    let rule = "a low score is not a hidden one";
    let (case, found) = mean(rule, &[(&[-2e4, -2e4], &[2.0, 4.0]), (&[-2e30], &[9.0])]);
    case.close(&[3.0], &found, TOLERANCE);
    let (case, found) = mean(rule, &[(&[-2e30], &[9.0]), (&[-2e30], &[5.0])]);
    case.close(&[7.0], &found, TOLERANCE);
    let rule = "a score that is far greater takes all the weight";
    let (case, found) = mean(rule, &[(&[0.0], &[2.0]), (&[1000.0], &[7.0]), (&[0.0], &[3.0])]);
    case.close(&[7.0], &found, TOLERANCE);
}

#[test]
fn hidden_positions_have_no_weight() {
    let rule = "a position with a score of minus infinity is not seen";
    let (case, found) = mean(rule, &[(&[1.0, HIDDEN], &[2.0, 99.0]), (&[1.0], &[4.0])]);
    case.close(&[3.0], &found, TOLERANCE);
    let rule = "after a position that is not seen, others may be";
    let scores = [HIDDEN, 1.0, HIDDEN, 1.0];
    let (case, found) = mean(rule, &[(&scores, &[99.0, 2.0, 50.0, 4.0])]);
    case.close(&[3.0], &found, TOLERANCE);
}

#[test]
fn nothing_of_a_tile_is_kept() {
    let rule = "a few numbers and one vector are enough: a second list could only hold tiles";
    let (case, _) = mean(rule, &[(&[1.0], &[2.0])]);
    let bytes = size_of::<Running>();
    let most = size_of::<(f32, f32, Vec<f32>)>() + 16;
    case.holds(bytes <= most, &format!("a `Running` of at most {most} bytes"), bytes);
}

#[test]
fn a_hidden_tile_changes_nothing() {
    let hidden: (&[f32], &[f32]) = (&[HIDDEN, HIDDEN], &[99.0, 99.0]);
    let seen: (&[f32], &[f32]) = (&[1.0, 1.0], &[2.0, 4.0]);
    let rule = "a tile of which nothing is seen changes nothing: exp(-inf - -inf) is NaN";
    for tiles in [[seen, hidden], [hidden, seen]] {
        let (case, found) = mean(rule, &tiles);
        case.close(&[3.0], &found, TOLERANCE);
    }
    let (case, found) = mean(rule, &[hidden, hidden, seen, hidden]);
    case.close(&[3.0], &found, TOLERANCE);
}

#[test]
fn tiles_may_be_cut_anywhere() {
    let mut random = Random::new(3);
    let tenths = |x: f32| (x * 10.0).round() / 10.0;
    for count in [1, 5, 9] {
        let scores: Vec<f32> = (0..count).map(|_| tenths(random.float(-4.0, 4.0))).collect();
        let mut value =
            || -> Vec<f32> { (0..3).map(|_| tenths(random.float(-1.0, 1.0))).collect() };
        let values: Vec<Vec<f32>> = (0..count).map(|_| value()).collect();
        let greatest = scores.iter().copied().fold(f32::MIN, f32::max);
        let weights: Vec<f32> = scores.iter().map(|score| (score - greatest).exp()).collect();
        let total: f32 = weights.iter().sum();
        let expected: Vec<f32> = (0..3)
            .map(|d| weights.iter().zip(&values).map(|(w, v)| w * v[d]).sum::<f32>() / total)
            .collect();
        for tile in 1..=count {
            let case = Case::rule("the mean does not depend on where the tiles are cut")
                .given("scores", &scores)
                .given("values", &values)
                .given("positions of a tile", tile);
            let mut running = Running::new(3);
            for (scores, values) in scores.chunks(tile).zip(values.chunks(tile)) {
                running.push(scores, values);
            }
            case.close(&expected, &running.mean(), TOLERANCE);
        }
    }
}
