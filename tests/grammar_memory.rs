//! What a grammar takes that is kept, against what it says.

#[path = "common/counting.rs"]
#[allow(dead_code)]
mod counting;
#[path = "../server/tests/common/hostile.rs"]
mod hostile;

use std::sync::Arc;

use counting::{Counting, settled};
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::pretrained::Pretrained;

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn a_grammar_says_how_much_memory_it_takes() {
    let device = device::open(DeviceChoice::Cpu).unwrap();
    let pretrained = Pretrained::bundled(&device, Precision::F32).unwrap();
    let vocabulary = pretrained.vocabulary();
    for (name, grammar) in hostile::grammars() {
        let before = settled(usize::MAX);
        let Ok(constraint) = grammar.compile(Arc::clone(&vocabulary)) else {
            continue;
        };
        let said = constraint.bytes();
        let took = settled(usize::MAX) - before;
        drop(constraint);
        println!("{name}: {took} taken, {said} said");
        // What is small does not matter.
        let small = 256 << 10;
        assert!(said + small >= took * 2 / 3, "{name} takes {took} bytes, and says {said}");
        assert!(said <= took * 2 + small, "{name} takes {took} bytes, and says {said}");
    }
}
