//! A block: the keys and values of 32 positions of one sequence.

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};

use super::microkernel::LANES;
use super::number::{Format, Number, with_number};
use super::simd::Isa;

/// Positions in a block.
pub const BLOCK: usize = LANES;

/// Lanes of a value panel: half those of a weight panel, so that a `head_dim` of 16, 48 or 80 needs
/// no padding.
pub(super) const VALUE_LANES: usize = 16;

/// The layout that all blocks of a model share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLayout {
    pub n_layers: usize,
    pub n_kv_heads: usize,
    pub head_dim: usize,
    pub format: Format,
}

/// The keys and values of 32 positions, for all layers and heads, in the layout of the attention
/// kernel.
///
/// The keys of a head are a panel whose outputs are positions: `[head_dim][32]`. Its values are
/// panels of 16 outputs, whose inner dimension is positions: `[head_dim / 16][32][16]`.
#[derive(Debug)]
pub struct Block {
    layout: BlockLayout,
    lines: Vec<Line>,
}

/// A cache line.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

impl BlockLayout {
    /// The memory of a block, in bytes.
    pub fn bytes(&self) -> usize {
        self.n_layers * self.n_kv_heads * self.head_bytes()
    }

    /// `head_dim`, padded to whole value panels.
    pub(super) fn value_width(&self) -> usize {
        self.head_dim.next_multiple_of(VALUE_LANES)
    }

    fn key_bytes(&self) -> usize {
        self.head_dim * BLOCK * self.format.size()
    }

    fn head_bytes(&self) -> usize {
        self.key_bytes() + self.value_width() * BLOCK * self.format.size()
    }

    fn head_start(&self, layer: usize, head: usize) -> usize {
        (layer * self.n_kv_heads + head) * self.head_bytes()
    }
}

impl Block {
    /// A block of zeros.
    pub fn new(layout: BlockLayout) -> Self {
        Self {
            layout,
            lines: bytemuck::zeroed_vec(layout.bytes() / size_of::<Line>()),
        }
    }

    /// The value that takes the place of a block whose memory is moved elsewhere.
    pub(crate) fn without_memory(layout: BlockLayout) -> Self {
        Self { layout, lines: Vec::new() }
    }

    /// Copies all keys and values of a block of the same layout.
    pub(crate) fn copy_from(&mut self, other: &Block) {
        self.lines.copy_from_slice(&other.lines);
    }

    /// The keys of one head of one layer, `[head_dim][32]`.
    #[inline(always)]
    pub(super) fn keys<'a, I: Isa>(
        &'a self,
        layer: usize,
        head: usize,
        room: &'a mut Vec<[f32; BLOCK]>,
    ) -> &'a [[f32; BLOCK]] {
        let start = self.layout.head_start(layer, head);
        let bytes = &self.bytes()[start..start + self.layout.key_bytes()];
        with_number!(self.layout.format, N => {
            N::widen_panel::<I, BLOCK>(cast_slice::<u8, N>(bytes).as_chunks().0, room)
        })
    }

    /// One panel of the values of one head of one layer, `[32][16]`.
    #[inline(always)]
    pub(super) fn values<'a, I: Isa>(
        &'a self,
        layer: usize,
        head: usize,
        panel: usize,
        room: &'a mut Vec<[f32; VALUE_LANES]>,
    ) -> &'a [[f32; VALUE_LANES]] {
        let length = BLOCK * VALUE_LANES * self.layout.format.size();
        let start = self.layout.head_start(layer, head) + self.layout.key_bytes() + panel * length;
        let bytes = &self.bytes()[start..start + length];
        with_number!(self.layout.format, N => {
            N::widen_panel::<I, VALUE_LANES>(cast_slice::<u8, N>(bytes).as_chunks().0, room)
        })
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        cast_slice(&self.lines)
    }

    /// Writes keys and values of one layer, both `[positions, n_kv_heads * head_dim]`, from
    /// position `first` of the block on.
    ///
    /// # Panics
    /// Where they do not fit into the block.
    pub fn write(&mut self, layer: usize, first: usize, keys: &[f32], values: &[f32]) {
        with_number!(self.layout.format, N => self.write_as::<N>(layer, first, keys, values));
    }

    fn write_as<N: Number>(&mut self, layer: usize, first: usize, keys: &[f32], values: &[f32]) {
        let BlockLayout { n_kv_heads, head_dim, .. } = self.layout;
        let width = n_kv_heads * head_dim;
        let positions = first..first + keys.len() / width;
        let layout = self.layout;
        let bytes: &mut [u8] = cast_slice_mut(&mut self.lines);
        for head in 0..n_kv_heads {
            let start = layout.head_start(layer, head);
            let (key_panel, value_panels) =
                bytes[start..start + layout.head_bytes()].split_at_mut(layout.key_bytes());
            let (key_panel, _) = cast_slice_mut::<u8, N>(key_panel).as_chunks_mut::<BLOCK>();
            for (i, lanes) in key_panel.iter_mut().enumerate() {
                let mut numbers = [0.0; BLOCK];
                let numbers = &mut numbers[..positions.len()];
                for (number, key) in numbers.iter_mut().zip(keys.chunks_exact(width)) {
                    *number = key[head * head_dim + i];
                }
                N::narrow(numbers, &mut lanes[positions.clone()]);
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
