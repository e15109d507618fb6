//! The memory layout of weights: panels of 32 outputs.

mod pack;

use bytemuck::cast_slice;
use bytes::Bytes;

use super::microkernel::LANES;
use super::number::{Number, Precision, with_number};
use super::pairs;
use super::quantized::{Activations, GROUP, GroupFormat, PackedGroups, with_groups};
pub use pack::StoredMatrix;

/// A matrix `[n_out, n_in]`, packed into panels of 32 outputs: `[n_out / 32][n_in][32]`.
///
/// For each input, the weights of 32 outputs are contiguous, so the microkernel loads them as whole
/// registers and reads a panel sequentially. A quantized panel is `[n_in / 32]` groups of inputs.
/// The last panel, and the last group, are padded with zeros. A clone shares the memory.
#[derive(Debug, Clone)]
pub struct Panels {
    format: PanelFormat,
    n_out: usize,
    n_in: usize,
    activations: Activations,
    /// Aligned to a cache line.
    bytes: Bytes,
}

/// How the weights of a matrix are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PanelFormat {
    /// Each weight as a number.
    Dense(Precision),
    /// Integers in groups that share a scale.
    Quantized(GroupFormat),
}

impl PanelFormat {
    /// The name of the type of the weights, as users know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dense(format) => format.name(),
            Self::Quantized(format) => format.name(),
        }
    }
}

impl Panels {
    fn new(format: PanelFormat, [n_out, n_in]: [usize; 2], bytes: Bytes) -> Self {
        Self {
            format,
            n_out,
            n_in,
            activations: Activations::default(),
            bytes,
        }
    }

    /// Sets how activations are multiplied with these panels, if their format has such products:
    /// [`Activations::fit`]. For activations in bf16, weights of less than 2^-56 become 0.
    pub fn with_activations(mut self, activations: Activations) -> Self {
        if activations.fit(self.format) {
            self.activations = activations;
            if activations == Activations::Bf16 {
                self.bytes = pairs::weights_without_tiny(self.bytes);
            }
        }
        self
    }

    /// How activations are multiplied with these panels.
    pub(super) fn activations(&self) -> Activations {
        self.activations
    }

    /// `[n_out, n_in]`
    pub fn shape(&self) -> [usize; 2] {
        [self.n_out, self.n_in]
    }

    /// How the weights are stored.
    pub fn format(&self) -> PanelFormat {
        self.format
    }

    /// The panels, one after the other.
    #[cfg(feature = "cube")]
    pub(crate) fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// The memory of the panels, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The memory of one output's weights, in bytes, scales included.
    pub(super) fn row_bytes(&self) -> usize {
        (self.bytes.len() / LANES).checked_div(self.len()).unwrap_or(0)
    }

    /// The number of panels.
    pub(super) fn len(&self) -> usize {
        self.n_out.div_ceil(LANES)
    }

    /// One panel, `[n_in][32]`. `N` must be the type of the matrix's format.
    #[inline(always)]
    pub(super) fn panel<N: Number>(&self, index: usize) -> &[[N; LANES]] {
        debug_assert_eq!(PanelFormat::Dense(N::FORMAT), self.format);
        let length = self.n_in * LANES * size_of::<N>();
        let numbers: &[N] = cast_slice(&self.bytes[index * length..][..length]);
        numbers.as_chunks::<LANES>().0
    }

    /// The groups of one quantized panel, `[n_in / GROUP]`. `G` must be the type of the matrix's
    /// format.
    #[inline(always)]
    pub(super) fn groups<G: PackedGroups>(&self, index: usize) -> &[G] {
        debug_assert!(
            matches!(self.format, PanelFormat::Quantized(format) if format.bytes_of_1024() == size_of::<G>())
        );
        let length = self.n_in.div_ceil(GROUP) * size_of::<G>();
        cast_slice(&self.bytes[index * length..][..length])
    }

    /// The weights of one output, `[n_in]`: a row of an embedding.
    ///
    /// # Panics
    /// Where there is no such output, or `row` is not `[n_in]`.
    pub fn row(&self, output: usize, row: &mut [f32]) {
        assert!(output < self.n_out && row.len() == self.n_in);
        let (panel, lane) = (output / LANES, output % LANES);
        match self.format {
            PanelFormat::Dense(format) => with_number!(format, N => {
                for (value, weights) in row.iter_mut().zip(self.panel::<N>(panel)) {
                    *value = weights[lane].widen_one();
                }
            }),
            PanelFormat::Quantized(format) => with_groups!(format, G => {
                for (row, group) in row.chunks_mut(GROUP).zip(self.groups::<G>(panel)) {
                    for (k, value) in row.iter_mut().enumerate() {
                        *value = group.weight(k, lane);
                    }
                }
            }),
        }
    }
}
