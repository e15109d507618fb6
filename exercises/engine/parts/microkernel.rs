use your_engine::Parts;
use your_engine::parts::Microkernel;

use super::microkernel::{microkernel, pack};

pub fn take_over(parts: &mut Parts) {
    parts.pack = pack;
    parts.microkernel = Microkernel { one: microkernel::<1>, four: microkernel::<4> };
}
