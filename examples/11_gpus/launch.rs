//! A launch, run by a loop on the host, and what its units load at once.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Value, json};

use slowburn_examples::cli::{BOLD, DIM};

/// The units that load at the same time, the bytes of a line, and those of a weight.
const UNITS: usize = 32;
const LINE: usize = 128;
const WEIGHT: usize = 4;
/// The outputs of a panel, as the kernels of the CPU and of GPUs have them.
const PANEL: usize = 32;

// ANCHOR: place
/// Where a unit is in a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub cube: usize,
    pub unit: usize,
}

/// Runs `kernel` once for each unit of `cubes` cubes, as a device does, but one after the other.
fn launch(cubes: usize, units: usize, mut kernel: impl FnMut(Place)) {
    for cube in 0..cubes {
        for unit in 0..units {
            kernel(Place { cube, unit });
        }
    }
}
// ANCHOR_END: place

/// Which unit wrote each number of a matrix.
pub struct Grid {
    width: usize,
    units: usize,
    cubes: usize,
    writers: Vec<Option<Place>>,
}

impl Grid {
    // ANCHOR: grid
    /// Launches a kernel over `rows` of `width` numbers, with one unit for each.
    pub fn run(rows: usize, width: usize, units: usize) -> Self {
        let mut writers = vec![None; rows * width];
        let cubes = writers.len().div_ceil(units);
        launch(cubes, units, |place| {
            let index = place.cube * units + place.unit;
            if index < writers.len() {
                writers[index] = Some(place);
            }
        });
        Self { width, units, cubes, writers }
    }
    // ANCHOR_END: grid

    /// The units that have nothing to do.
    fn left_over(&self) -> usize {
        self.cubes * self.units - self.writers.len()
    }

    pub fn text(&self, out: &mut String) {
        let Self { width, units, cubes, writers } = self;
        let _ = writeln!(
            out,
            "{BOLD}{} rows of {width} numbers, in {cubes} cubes of {units} units: cube.unit{BOLD:#}",
            writers.len() / width
        );
        for row in writers.chunks(*width) {
            for Place { cube, unit } in row.iter().flatten() {
                let style = if cube % 2 == 0 { BOLD } else { DIM };
                let _ = write!(out, "  {style}{cube}.{unit}{style:#}");
            }
            let _ = writeln!(out);
        }
        let _ = writeln!(out, "  {} units of the last cube have nothing to do", self.left_over());
    }

    pub fn json(&self) -> Value {
        let writers: Vec<_> = self.writers.iter().flatten().map(|p| [p.cube, p.unit]).collect();
        json!({ "cubes": self.cubes, "units": self.units, "left_over": self.left_over(), "writers": writers })
    }
}

/// What the units of a plane load at one input of a matrix: a weight for each of their outputs.
pub struct Load {
    layout: &'static str,
    n_out: usize,
    n_in: usize,
    lines: usize,
    used: f64,
}

impl Load {
    /// The same load from a matrix output by output, and from one in panels.
    pub fn of_a_matrix(n_out: usize, n_in: usize) -> [Self; 2] {
        let outputs = n_out.min(UNITS);
        let by_output = |output: usize| output * n_in;
        let in_panels = |output: usize| output / PANEL * PANEL * n_in + output % PANEL;
        let load = |layout, addresses: Vec<usize>| {
            let bytes = addresses.iter().flat_map(|number| number * WEIGHT..(number + 1) * WEIGHT);
            let lines: BTreeSet<usize> = bytes.map(|byte| byte / LINE).collect();
            let used = (addresses.len() * WEIGHT) as f64 / (lines.len() * LINE) as f64;
            Self { layout, n_out, n_in, lines: lines.len(), used }
        };
        [
            load("output by output", (0..outputs).map(by_output).collect()),
            load("in panels of 32 outputs", (0..outputs).map(in_panels).collect()),
        ]
    }

    pub fn text(loads: &[Self], out: &mut String) {
        let Some(Self { n_out, n_in, .. }) = loads.first() else {
            return;
        };
        let _ = writeln!(
            out,
            "{BOLD}what {UNITS} units load at once of {n_out} outputs of {n_in} inputs, in f32{BOLD:#}"
        );
        for Self { layout, lines, used, .. } in loads {
            let used = 100.0 * used;
            let s = if *lines == 1 { "" } else { "s" };
            let _ = writeln!(
                out,
                "  {layout:<24}{lines:>3} line{s} of {LINE} bytes: {used:.0}% is used"
            );
        }
    }

    pub fn json(&self) -> Value {
        json!({ "layout": self.layout, "lines": self.lines, "used": self.used })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_one_unit() {
        for (rows, width, units) in [(3, 10, 4), (1, 1, 256), (2, 32, 32), (5, 33, 32)] {
            let grid = Grid::run(rows, width, units);
            for (i, writer) in grid.writers.iter().enumerate() {
                assert_eq!(*writer, Some(Place { cube: i / units, unit: i % units }));
            }
            assert_eq!(grid.left_over(), (units - rows * width % units) % units);
        }
    }

    #[test]
    fn neighbours_read_neighbours_in_panels() {
        let lines = |n_out, n_in| Load::of_a_matrix(n_out, n_in).map(|load| load.lines);
        assert_eq!(lines(512, 192), [32, 1]);
        assert_eq!(lines(8, 192), [8, 1]);
        assert_eq!(lines(64, 8), [8, 1]); // four rows of 32 bytes in a line
        let [by_output, in_panels] = Load::of_a_matrix(512, 192);
        assert_eq!((by_output.used, in_panels.used), (1.0 / 32.0, 1.0));
    }
}
