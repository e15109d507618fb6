//! Products by AMX, the matrix unit of some of Intel's processors.
//!
//! A tile of weights is 32 inputs of 16 outputs, and a tile of activations 16 rows of 32 inputs. One
//! instruction multiplies them, and adds to 16 x 16 sums.
//!
//! No machine with these instructions was at hand when this was written. So they are used only where they
//! have computed, bit by bit, what they should: [`is_available`].

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use std::sync::LazyLock;

use half::bf16;

use super::{DEPTH, LANES, agrees};

/// The rows of a tile: of activations, and of pairs of inputs of weights.
pub const ROWS: usize = 16;

/// The outputs of a tile.
const OUTPUTS: usize = LANES / 2;

/// Fewer rows than this are multiplied without tiles.
pub const FEW: usize = 8;

/// A tile of weights, `[inputs / 2][outputs]`: in each word an even input, and the odd one behind it in
/// the upper half.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Tile([[u32; OUTPUTS]; DEPTH / 2]);

/// The sums of some rows, for each half of the outputs.
type Sums = [[[f32; OUTPUTS]; ROWS]; 2];

/// What the tile registers hold.
#[repr(C, align(64))]
struct Config {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

/// Five registers, of 16 rows of 64 bytes: two of sums, one of activations, two of weights.
static CONFIG: Config = Config {
    palette: 1,
    start_row: 0,
    reserved: [0; 14],
    row_bytes: [64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
};

/// Whether the processor has these instructions, the system lets this process use them, and they
/// compute what they should.
pub fn is_available() -> bool {
    static AVAILABLE: LazyLock<bool> = LazyLock::new(|| {
        has_instructions()
            && is_permitted()
            && agrees(|panel, x| {
                let mut tiles = Vec::new();
                let mut rows = vec![bf16::ZERO; ROWS * row_length(x.len())];
                pack_row(x, &mut rows);
                // SAFETY: as was just asked.
                unsafe {
                    pack(panel, &mut tiles);
                    multiply(&tiles, &rows)[0]
                }
            })
    });
    *AVAILABLE
}

fn has_instructions() -> bool {
    const BF16: u32 = 1 << 22;
    const TILES: u32 = 1 << 24;
    const OSXSAVE: u32 = 1 << 27;
    /// The configuration of tiles, and their registers, are saved where threads take turns.
    const SAVED: u64 = 0b11 << 17;
    #[target_feature(enable = "xsave")]
    fn saved() -> u64 {
        // SAFETY: the caller has made sure of the instruction.
        unsafe { _xgetbv(0) }
    }
    if cfg!(miri) || __cpuid(0).eax < 7 || __cpuid(1).ecx & OSXSAVE == 0 {
        return false;
    }
    let features = __cpuid_count(7, 0).edx;
    // SAFETY: the system has turned the instruction on.
    features & (BF16 | TILES) == BF16 | TILES && unsafe { saved() } & SAVED == SAVED
}

/// Asks Linux for the tile registers, which a process does not have at first.
#[cfg(target_os = "linux")]
fn is_permitted() -> bool {
    const ARCH_REQ_XCOMP_PERM: libc::c_int = 0x1023;
    const TILE_REGISTERS: libc::c_ulong = 18;
    // SAFETY: the call changes only what this process may do.
    let refused =
        unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_REGISTERS) };
    refused == 0
}

/// Not tried on other systems.
#[cfg(not(target_os = "linux"))]
fn is_permitted() -> bool {
    false
}

/// The length of a row of activations: whole tiles.
pub fn row_length(n_in: usize) -> usize {
    n_in.next_multiple_of(DEPTH)
}

/// Rounds a row of activations. What is behind them stays zero.
pub fn pack_row(x: &[f32], row: &mut [bf16]) {
    for (rounded, x) in row.iter_mut().zip(x) {
        *rounded = super::round(*x);
    }
}

/// Packs a panel as tiles, `[n_in / DEPTH][2]`.
#[target_feature(enable = "avx512f,avx512bw")]
pub fn pack(panel: &[[bf16; LANES]], tiles: &mut Vec<[Tile; 2]>) {
    tiles.clear();
    for inputs in panel.chunks(DEPTH) {
        let mut both = [Tile([[0; OUTPUTS]; DEPTH / 2]); 2];
        for (i, pair) in inputs.chunks(2).enumerate() {
            for (half, tile) in both.iter_mut().enumerate() {
                for lane in 0..OUTPUTS {
                    let [even, odd] = [pair.first(), pair.get(1)].map(|weights| {
                        weights.map_or(0, |weights| {
                            u32::from(weights[half * OUTPUTS + lane].to_bits())
                        })
                    });
                    tile.0[i][lane] = even | odd << 16;
                }
            }
        }
        tiles.push(both);
    }
}

/// Multiplies the tiles of a panel with [`ROWS`] rows of `x`, each of [`row_length`].
///
/// # Safety
/// The instructions must be [available](is_available).
///
/// # Panics
/// Where the lengths do not fit.
pub unsafe fn multiply(tiles: &[[Tile; 2]], x: &[bf16]) -> [[f32; LANES]; ROWS] {
    assert_eq!(x.len(), ROWS * tiles.len() * DEPTH);
    let mut sums: Sums = [[[0.0; OUTPUTS]; ROWS]; 2];
    if !tiles.is_empty() {
        // SAFETY: the instructions are there. They read 16 rows of `x`, of as many tiles as there are of
        // weights, and these; they write the sums. Tile registers belong to nobody else, and have their
        // first state again at the end.
        unsafe {
            asm!(
                "ldtilecfg [{config}]",
                "tilezero tmm0",
                "tilezero tmm1",
                "2:",
                "tileloadd tmm2, [{x} + {row_of_x}*1]",
                "tileloadd tmm3, [{tiles} + {row}*1]",
                "tileloadd tmm4, [{tiles} + {row}*1 + 1024]",
                "tdpbf16ps tmm0, tmm2, tmm3",
                "tdpbf16ps tmm1, tmm2, tmm4",
                "add {x}, 64",
                "add {tiles}, 2048",
                "dec {left}",
                "jnz 2b",
                "tilestored [{sums} + {row}*1], tmm0",
                "tilestored [{sums} + {row}*1 + 1024], tmm1",
                "tilerelease",
                config = in(reg) &raw const CONFIG,
                x = inout(reg) x.as_ptr() => _,
                row_of_x = in(reg) size_of_val(x) / ROWS,
                tiles = inout(reg) tiles.as_ptr() => _,
                row = in(reg) 64_usize,
                left = inout(reg) tiles.len() => _,
                sums = in(reg) sums.as_mut_ptr(),
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _, out("tmm4") _,
                options(nostack),
            );
        }
    }
    let mut rows = [[0.0; LANES]; ROWS];
    for (half, sums) in sums.iter().enumerate() {
        for (row, sums) in rows.iter_mut().zip(sums) {
            row[half * OUTPUTS..(half + 1) * OUTPUTS].copy_from_slice(sums);
        }
    }
    rows
}
