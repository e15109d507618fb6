//! The roofline chart of a model's phases.

use std::path::Path;

use slowburn_examples::chart::{self, Axis, LineChart, Series};

use super::roof::Roof;

/// A phase's name, arithmetic intensity, and operations per second.
type Point = (String, f64, f64);

/// Draws both on logarithmic axes, where a roof consists of two straight lines.
pub fn draw(file: &Path, roofs: &[(String, Roof)], phases: &[Point]) -> chart::Result<()> {
    let ends = ends(roofs, phases);
    let roofs = roofs.iter().map(|(label, roof)| Series::new(label, line(roof, ends)));
    let phases = phases
        .iter()
        .map(|(label, intensity, rate)| Series::new(label, [(*intensity, rate / 1e9)]));
    let chart = LineChart {
        x: Axis::log("operations for each byte (flop/byte)"),
        y: Axis::log("operations (Gflop/s)"),
        series: roofs.chain(phases).collect(),
    };
    chart::lines(file, "Prefill and decode under the roof", &[chart])
}

/// The range of the axis: from half the least intensity to twice the greatest.
fn ends(roofs: &[(String, Roof)], phases: &[Point]) -> (f64, f64) {
    let ridges = roofs.iter().map(|(_, roof)| roof.ridge());
    let seen = ridges.chain(phases.iter().map(|(_, intensity, _)| *intensity));
    let (least, greatest) =
        seen.fold((f64::INFINITY, 0.0_f64), |(least, greatest), x| (least.min(x), greatest.max(x)));
    (0.5 * least, 2.0 * greatest)
}

/// In Gflop/s: rising with the bandwidth up to the ridge, then flat.
fn line(roof: &Roof, (start, end): (f64, f64)) -> [(f64, f64); 3] {
    [start, roof.ridge(), end].map(|intensity| (intensity, roof.at(intensity) / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_roof_has_its_ridge_and_all_phases_lie_within_its_ends() {
        let roof = Roof { bandwidth: 10e9, arithmetic: 100e9 };
        let roofs = [("memory".to_owned(), roof)];
        let phases = [
            ("decode".to_owned(), 0.5, 4e9),
            ("prefill".to_owned(), 60.0, 90e9),
        ];
        let ends = ends(&roofs, &phases);
        assert_eq!(ends, (0.25, 120.0));
        assert_eq!(line(&roof, ends), [(0.25, 2.5), (10.0, 100.0), (120.0, 100.0)]);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("roofline.svg");
        draw(&file, &roofs, &phases).unwrap();
        let svg = std::fs::read_to_string(&file).unwrap();
        assert!(svg.contains("prefill") && svg.contains("Gflop/s"));
    }
}
