//! A number in four bits of floating point.
//!
//! Why: between two powers of two, floating point is a grid of equal steps. Below 2 the step is 0.5 (below 1 there is
//! no leading 1, and the step stays what it was), from 2 on 1, from 4 on 2. So we round as we round to integers, only
//! in another step. Codes count these steps from 0 to 7 without a gap, so that rounding up to the next power of two
//! needs no case of its own.
//!
//! What it costs: nothing that a table wouldn't. Ties go to the even code so that as many are rounded up as down, and
//! the errors of a sum cancel.
//!
//! A common wrong turn: `round()`, which rounds ties away from 0. And to forget that 7 is nearer to the 8 that there
//! isn't: without a limit its code is that of minus 0.

/// The code of E2M1 whose number is nearest to `x`.
pub fn round_to_e2m1(x: f32) -> u8 {
    let magnitude = x.abs().min(6.0);
    let (from, first, step) = match magnitude {
        ..2.0 => (0.0, 0, 0.5),
        ..4.0 => (2.0, 4, 1.0),
        _ => (4.0, 6, 2.0),
    };
    let code = first + ((magnitude - from) / step).round_ties_even() as u8;
    if x < 0.0 { code | 8 } else { code }
}
