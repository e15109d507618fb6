//! A GPU, played by the host: each unit of a launch has its turn. RMSNorm, RoPE and the place of keys and
//! values are kernels then, and a unit knows nothing but where it is.

use std::iter;

use crate::broken::{call, fail};
use crate::memory::{Keeps, attention, pass};
use crate::model::{At, Memory, Model, Network, Projected, of_length};
use crate::parts::{Heads, Parts, Rows, SlabHalf, SlabShape, SlabTable, UnitPlace};
use crate::story::Request;

/// What a launch may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Units {
    /// Units of a cube.
    pub of_a_cube: usize,
}

/// Neither a row nor the pairs of its heads fill its cubes.
pub const UNITS: Units = Units { of_a_cube: 80 };

/// Cubes of a launch: three rows have more numbers than so many cubes have units.
const CUBES: usize = 4;

/// Positions of a block in the slab. The exercise has the same.
const BLOCK: usize = 4;

const GRID: &str = "launch_grid";
const SUM: &str = "tree_sum";
const ROTATION: &str = "rotation_race";
const SLAB: &str = "slab_index";

/// A story whose kernels run on these units.
pub fn request() -> Request {
    Request { max_tokens: 40, units: Some(UNITS), ..Request::default() }
}

impl Units {
    /// Reads how many units a cube has.
    ///
    /// # Errors
    /// What is no number from 1 to 1024.
    pub fn of(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(of_a_cube @ 1..=1024) => Ok(Self { of_a_cube }),
            _ => Err(format!("a cube has 1 to 1024 units, and not {text}")),
        }
    }

    /// Each unit of a launch has its turn, in a kernel of this exercise.
    fn launch(
        self,
        parts: &Parts,
        cubes: usize,
        name: &'static str,
        mut kernel: impl FnMut(UnitPlace),
    ) {
        call(GRID, || {
            (parts.launch)(cubes, self.of_a_cube, &mut |place| call(name, || kernel(place)));
        });
    }

    // ANCHOR: norm
    /// RMSNorm: a cube adds up the squares of each row, and one launch multiplies by the weight.
    pub fn norm(self, parts: &Parts, x: &[Vec<f32>], weight: &[f32], eps: f32) -> Rows {
        let divided = |row: &Vec<f32>| -> Vec<f32> {
            let squares: Vec<f32> = row.iter().map(|x| x * x).collect();
            let sum = self.sum(parts, &squares);
            let root = (sum / row.len() as f32 + eps).sqrt();
            of_length(SUM, row.iter().map(|x| x / root).collect(), row.len())
        };
        let x: Vec<f32> = x.iter().flat_map(divided).collect();
        let y = parts.ask(GRID, |parts| {
            let mut y = vec![0.0; x.len()];
            let cubes = (parts.cubes)(x.len(), self.of_a_cube, CUBES);
            self.launch(parts, cubes, GRID, |place| (parts.scale)(place, &x, weight, &mut y));
            y
        });
        of_length(GRID, y, x.len()).chunks(weight.len()).map(<[f32]>::to_vec).collect()
    }
    // ANCHOR_END: norm

    /// A sum by the units of a cube, which one unit alone has to come to as well, bit for bit.
    fn sum(self, parts: &Parts, x: &[f32]) -> f32 {
        let by = |units| parts.ask(SUM, |parts| (parts.tree_sum)(x, units));
        let (sum, alone) = (by(self.of_a_cube), by(1));
        if sum.to_bits() != alone.to_bits() {
            let units = self.of_a_cube;
            fail(SUM, format!("comes to {sum} with {units} units, and to {alone} with one"));
        }
        sum
    }

    /// Queries or keys, `[heads][seq][head_dim]`, each as its position demands: a launch for each position.
    pub fn turned(self, parts: &Parts, mut heads: Heads, start: usize, theta: f64) -> Heads {
        let (n_heads, head_dim) = (heads.len(), heads[0][0].len());
        for i in 0..heads[0].len() {
            let angle =
                |pair| (start + i) as f64 * theta.powf(-2.0 * pair as f64 / head_dim as f64);
            let (cos, sin): (Vec<f32>, Vec<f32>) = (0..head_dim / 2)
                .map(|pair| (angle(pair).cos() as f32, angle(pair).sin() as f32))
                .unzip();
            let of_position: Vec<f32> = heads.iter().flat_map(|head| &head[i]).copied().collect();
            let turned = parts.ask(ROTATION, |parts| {
                let mut x = of_position.clone();
                let cubes = (parts.rotation_cubes)(n_heads, head_dim, self.of_a_cube);
                self.launch(parts, cubes, ROTATION, |place| {
                    (parts.rotate)(place, &mut x, &cos, &sin)
                });
                x
            });
            let turned = of_length(ROTATION, turned, of_position.len());
            for (head, turned) in iter::zip(&mut heads, turned.chunks(head_dim)) {
                head[i] = turned.to_vec();
            }
        }
        heads
    }
}

/// The keys and values of one text, as a device has them: a long list of numbers for each layer.
pub struct Slab {
    units: Units,
    shape: SlabShape,
    /// A text gets the last slot first, so that no slot is the number of a block.
    table: SlabTable,
    length: usize,
    /// The places of the positions that this pass writes.
    places: Vec<u32>,
    layers: Vec<Vec<f32>>,
}

impl Slab {
    /// An empty one, with room for the context.
    pub fn new(model: &Model, units: Units) -> Self {
        let config = &model.config;
        let slots = config.context.div_ceil(BLOCK);
        let numbers = slots * BLOCK * 2 * config.n_kv_heads * config.head_dim;
        Self {
            units,
            shape: SlabShape { n_kv_heads: config.n_kv_heads, head_dim: config.head_dim },
            table: SlabTable { slots: (0..slots as u32).rev().collect() },
            length: 0,
            places: Vec::new(),
            layers: vec![vec![0.0; numbers]; model.layers.len()],
        }
    }

    /// Writes new keys and values, a unit for each number.
    fn append(&mut self, parts: &Parts, layer: usize, new: &Projected) {
        // `[rows][n_kv_heads][head_dim]`
        let flat = |heads: &Heads| -> Vec<f32> {
            (0..self.places.len())
                .flat_map(|i| heads.iter().flat_map(move |head| head[i].clone()))
                .collect()
        };
        let (keys, values) = (flat(&new.keys), flat(&new.values));
        let (units, shape, places) = (self.units, self.shape, &self.places);
        let cubes = keys.len().div_ceil(units.of_a_cube);
        let slab = &self.layers[layer];
        let written = parts.ask(SLAB, |parts| {
            let mut slab = slab.clone();
            units.launch(parts, cubes, SLAB, |place| {
                let unit = place.cube * place.units + place.unit;
                (parts.slab_append)(unit, shape, [&keys, &values], places, &mut slab);
            });
            slab
        });
        self.layers[layer] = written;
    }

    /// All keys or values so far, `[n_kv_heads][seq][head_dim]`.
    fn read_back(&self, parts: &Parts, layer: usize, half: SlabHalf) -> Heads {
        let end = self.length + self.places.len();
        let head = |head: usize| -> Rows {
            let indices = parts
                .ask(SLAB, |parts| (parts.slab_indices)(self.shape, &self.table, half, head, end));
            let number = |index: &Option<usize>| {
                let number = index.and_then(|index| self.layers[layer].get(index));
                *number
                    .unwrap_or_else(|| fail(SLAB, format!("finds {half:?} of head {head} nowhere")))
            };
            let numbers: Vec<f32> = indices.iter().map(number).collect();
            numbers.chunks(self.shape.head_dim).map(<[f32]>::to_vec).collect()
        };
        (0..self.shape.n_kv_heads).map(head).collect()
    }
}

impl Memory for Slab {
    fn length(&self, _: usize) -> usize {
        self.length
    }

    fn attend(&mut self, parts: &Parts, at: At, new: &Projected, hidden: &[Vec<bool>]) -> Heads {
        self.append(parts, at.layer, new);
        let [keys, values] =
            [SlabHalf::Keys, SlabHalf::Values].map(|half| self.read_back(parts, at.layer, half));
        attention(parts, &new.queries, &keys, &values, hidden)
    }
}

impl Keeps for Slab {
    fn length(&self) -> usize {
        self.length
    }

    fn read(
        &mut self,
        network: &Network<'_>,
        parts: &Parts,
        tokens: &[u32],
        start: usize,
    ) -> Vec<f32> {
        let (table, length, count) = (&self.table, self.length, tokens.len());
        let places = parts
            .ask_exactly(SLAB, "the places of new rows", |parts| {
                (parts.slab_places)(table, length, count)
            })
            .filter(|places| places.len() == count);
        let Some(places) = places else {
            fail(SLAB, format!("gives no places of {count} rows"));
        };
        self.places = places;
        let logits = pass(network, parts, tokens, start, self);
        self.length += count;
        self.places.clear();
        logits
    }
}
