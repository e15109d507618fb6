//! A block: the keys and values of 32 positions of one sequence.

mod int8;

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::DType;
use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut, from_bytes};

use super::microkernel::LANES;
use super::number::{Number, Precision, with_number};
use super::simd::{Isa, WIDTH};
use int8::{Int8Keys, Int8Values};

/// Positions in a block.
pub const BLOCK: usize = LANES;

/// Lanes of a value panel: half those of a weight panel, so that a `head_dim` of 16, 48 or 80 needs
/// no padding.
pub(super) const VALUE_LANES: usize = WIDTH;

/// How keys and values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KvFormat {
    F32,
    F16,
    Bf16,
    /// 8-bit integers, in groups of 16 numbers of one position that share a scale in f16.
    Int8,
}

impl KvFormat {
    /// The format for a model in `dtype`: F16 and BF16 are kept, all others become F32.
    pub fn of(dtype: DType) -> Self {
        match Precision::of(dtype) {
            Precision::F32 => Self::F32,
            Precision::F16 => Self::F16,
            Precision::Bf16 => Self::Bf16,
        }
    }

    /// The type of the numbers, if they are stored as such.
    fn numbers(self) -> Option<Precision> {
        match self {
            Self::F32 => Some(Precision::F32),
            Self::F16 => Some(Precision::F16),
            Self::Bf16 => Some(Precision::Bf16),
            Self::Int8 => None,
        }
    }

    /// The type of the tensor that holds the numbers on a GPU, by Burn's name. Integers are in words as long
    /// as an f32, which Burn only copies.
    #[cfg(feature = "cube")]
    pub(crate) fn dtype(self) -> DType {
        match self {
            Self::F32 | Self::Int8 => DType::F32,
            Self::F16 => DType::F16,
            Self::Bf16 => DType::BF16,
        }
    }

    /// The name that the flag `--kv-dtype` uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Int8 => "int8",
        }
    }
}

/// The layout that all blocks of a model share: one layer after the other.
#[derive(Debug, Clone)]
pub struct BlockLayout {
    layers: Arc<[LayerLayout]>,
    format: KvFormat,
}

/// Where a layer is in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerLayout {
    pub n_kv_heads: usize,
    pub head_dim: usize,
    pub format: KvFormat,
    /// Whether keys are values too, and no others are kept.
    is_latent: bool,
    /// In bytes.
    start: usize,
}

/// The keys and values of 32 positions, for all layers and heads, in the layout of the attention
/// kernel.
///
/// The keys of a head are a panel whose outputs are positions: `[head_dim][32]`. Its values are
/// panels of 16 outputs, whose inner dimension is positions: `[head_dim / 16][32][16]`. Latent keys are values too.
#[derive(Debug)]
pub struct Block {
    lines: Vec<Line>,
}

/// A cache line.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

impl BlockLayout {
    /// The layout for layers that have `[n_kv_heads, head_dim]` each.
    pub fn new(heads: impl IntoIterator<Item = [usize; 2]>, format: KvFormat) -> Self {
        Self::with_latents(heads.into_iter().map(|heads| (heads, false)), format)
    }

    /// The same, where some layers keep keys that are values too.
    pub fn with_latents(
        heads: impl IntoIterator<Item = ([usize; 2], bool)>,
        format: KvFormat,
    ) -> Self {
        let mut start = 0;
        let layer = |([n_kv_heads, head_dim], is_latent): ([usize; 2], bool)| {
            let layer = LayerLayout { n_kv_heads, head_dim, format, is_latent, start };
            start += layer.bytes();
            layer
        };
        Self { layers: heads.into_iter().map(layer).collect(), format }
    }

    /// Where a layer is.
    pub fn layer(&self, layer: usize) -> LayerLayout {
        self.layers[layer]
    }

    /// How the numbers are stored.
    pub fn format(&self) -> KvFormat {
        self.format
    }

    /// The memory of a block, in bytes.
    pub fn bytes(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.start + layer.bytes())
    }
}

impl LayerLayout {
    /// The memory of the layer in a block, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.n_kv_heads * self.head_bytes()
    }

    /// `head_dim`, padded to whole value panels.
    pub(super) fn value_width(&self) -> usize {
        self.head_dim.next_multiple_of(VALUE_LANES)
    }

    /// The memory of the keys of one head of one layer, in bytes.
    fn key_bytes(&self) -> usize {
        match self.format.numbers() {
            Some(format) => self.head_dim * BLOCK * format.size(),
            None => self.value_panels() * size_of::<Int8Keys>(),
        }
    }

    fn value_panels(&self) -> usize {
        self.value_width() / VALUE_LANES
    }

    fn value_panel_bytes(&self) -> usize {
        match self.format.numbers() {
            Some(format) => BLOCK * VALUE_LANES * format.size(),
            None => size_of::<Int8Values>(),
        }
    }

    fn head_bytes(&self) -> usize {
        let values = if self.is_latent {
            0
        } else {
            self.value_panels()
        };
        self.key_bytes() + values * self.value_panel_bytes()
    }

    fn head_start(&self, head: usize) -> usize {
        self.start + head * self.head_bytes()
    }
}

impl Block {
    /// A block of zeros.
    pub fn new(layout: &BlockLayout) -> Self {
        Self {
            lines: bytemuck::zeroed_vec(layout.bytes() / size_of::<Line>()),
        }
    }

    /// Copies all keys and values of a block of the same layout.
    pub(crate) fn copy_from(&mut self, other: &Block) {
        self.lines.copy_from_slice(&other.lines);
    }

    /// The keys of one head of one layer, `[head_dim][32]`.
    #[inline(always)]
    pub(super) fn keys<'a, I: Isa>(
        &'a self,
        layer: LayerLayout,
        head: usize,
        room: &'a mut Vec<[f32; BLOCK]>,
    ) -> &'a [[f32; BLOCK]] {
        self.key_rows::<I>(layer, head, 0..layer.head_dim, room)
    }

    /// Some of these, from a multiple of 16 on.
    #[inline(always)]
    fn key_rows<'a, I: Isa>(
        &'a self,
        layer: LayerLayout,
        head: usize,
        rows: Range<usize>,
        room: &'a mut Vec<[f32; BLOCK]>,
    ) -> &'a [[f32; BLOCK]] {
        let start = layer.head_start(head);
        let bytes = &self.bytes()[start..start + layer.key_bytes()];
        match layer.format.numbers() {
            Some(format) => with_number!(format, N => {
                let (keys, _) = cast_slice::<u8, N>(bytes).as_chunks();
                N::widen_panel::<I, BLOCK>(&keys[rows], room)
            }),
            None => {
                let groups = rows.start / VALUE_LANES..rows.end.div_ceil(VALUE_LANES);
                int8::widen_keys::<I>(&cast_slice(bytes)[groups], rows.len(), room)
            }
        }
    }

    /// One panel of the values of one head of one layer, `[32][16]`.
    #[inline(always)]
    pub(super) fn values<'a, I: Isa>(
        &'a self,
        layer: LayerLayout,
        head: usize,
        panel: usize,
        room: &'a mut Vec<[f32; VALUE_LANES]>,
    ) -> &'a [[f32; VALUE_LANES]] {
        if layer.is_latent {
            let first = panel * VALUE_LANES;
            let rows = first..layer.head_dim.min(first + VALUE_LANES);
            let mut keys = Vec::new();
            let keys = self.key_rows::<I>(layer, head, rows, &mut keys);
            room.resize(BLOCK, [0.0; VALUE_LANES]);
            for (i, key) in keys.iter().enumerate() {
                room.iter_mut().zip(key).for_each(|(value, key)| value[i] = *key);
            }
            return room;
        }
        let length = layer.value_panel_bytes();
        let start = layer.head_start(head) + layer.key_bytes() + panel * length;
        let bytes = &self.bytes()[start..start + length];
        match layer.format.numbers() {
            Some(format) => with_number!(format, N => {
                N::widen_panel::<I, VALUE_LANES>(cast_slice::<u8, N>(bytes).as_chunks().0, room)
            }),
            None => int8::widen_values::<I>(from_bytes(bytes), room),
        }
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        cast_slice(&self.lines)
    }

    /// Writes keys and values of one layer, both `[positions, n_kv_heads * head_dim]`, from
    /// position `first` of the block on. Beside latent keys no values are kept.
    ///
    /// # Panics
    /// Where they do not fit into the block.
    pub fn write(&mut self, layer: LayerLayout, first: usize, keys: &[f32], values: &[f32]) {
        match layer.format.numbers() {
            Some(format) => with_number!(format, N => {
                self.write_as::<N>(layer, first, keys, values);
            }),
            None => self.write_as_int8(layer, first, keys, values),
        }
    }

    fn write_as_int8(&mut self, layer: LayerLayout, first: usize, keys: &[f32], values: &[f32]) {
        let head_dim = layer.head_dim;
        let width = layer.n_kv_heads * head_dim;
        let bytes: &mut [u8] = cast_slice_mut(&mut self.lines);
        for head in 0..layer.n_kv_heads {
            let start = layer.head_start(head);
            let (key_groups, value_panels) =
                bytes[start..start + layer.head_bytes()].split_at_mut(layer.key_bytes());
            let key_groups: &mut [Int8Keys] = cast_slice_mut(key_groups);
            let value_panels: &mut [Int8Values] = cast_slice_mut(value_panels);
            let rows = keys.chunks_exact(width).zip(values.chunks_exact(width));
            for (position, (key, value)) in (first..).zip(rows) {
                let of_head = head * head_dim..(head + 1) * head_dim;
                for (group, numbers) in
                    key_groups.iter_mut().zip(key[of_head.clone()].chunks(VALUE_LANES))
                {
                    group.write(position, numbers);
                }
                for (panel, numbers) in
                    value_panels.iter_mut().zip(value[of_head].chunks(VALUE_LANES))
                {
                    panel.write(position, numbers);
                }
            }
        }
    }

    fn write_as<N: Number>(
        &mut self,
        layer: LayerLayout,
        first: usize,
        keys: &[f32],
        values: &[f32],
    ) {
        let LayerLayout { n_kv_heads, head_dim, .. } = layer;
        let width = n_kv_heads * head_dim;
        let positions = first..first + keys.len() / width;
        let bytes: &mut [u8] = cast_slice_mut(&mut self.lines);
        for head in 0..n_kv_heads {
            let start = layer.head_start(head);
            let (key_panel, value_panels) =
                bytes[start..start + layer.head_bytes()].split_at_mut(layer.key_bytes());
            let (key_panel, _) = cast_slice_mut::<u8, N>(key_panel).as_chunks_mut::<BLOCK>();
            for (i, lanes) in key_panel.iter_mut().enumerate() {
                let mut numbers = [0.0; BLOCK];
                let numbers = &mut numbers[..positions.len()];
                for (number, key) in numbers.iter_mut().zip(keys.chunks_exact(width)) {
                    *number = key[head * head_dim + i];
                }
                N::narrow(numbers, &mut lanes[positions.clone()]);
            }
            if layer.is_latent {
                continue;
            }
            let (rows, _) = cast_slice_mut::<u8, N>(value_panels).as_chunks_mut::<VALUE_LANES>();
            for (position, value) in positions.clone().zip(values.chunks_exact(width)) {
                let value = &value[head * head_dim..(head + 1) * head_dim];
                for (panel, part) in value.chunks(VALUE_LANES).enumerate() {
                    N::narrow(part, &mut rows[panel * BLOCK + position][..part.len()]);
                }
            }
        }
    }
}
