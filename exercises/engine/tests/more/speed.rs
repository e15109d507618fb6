//! The form of the ladder of speeds. How fast an engine is depends on the machine, so no test says.

use your_engine::Parts;
use your_engine::speed::{
    Effort, HEADING, KERNEL_HEADING, Measured, OF_THE_ENGINE, OF_THE_KERNEL, Rungs, ladder,
};

use crate::ANSWERS;
use crate::support::{ENGINE, LIMIT, right};

fn measured(parts: &Parts) -> Vec<Measured> {
    measured_rungs(parts, OF_THE_ENGINE)
}

fn measured_rungs(parts: &Parts, ladder_of: &Rungs) -> Vec<Measured> {
    let mut rungs = Vec::new();
    let effort = Effort { tokens: 2, rounds: 1 };
    ladder(&ENGINE, parts, ladder_of, effort, LIMIT, |rung| rungs.push(rung)).unwrap();
    rungs
}

#[test]
fn the_ladder_has_a_line_for_each_idea_with_yours_next_to_the_books() {
    let rungs = measured(&right(ANSWERS));
    let names: Vec<&str> = rungs.iter().map(|rung| rung.name).collect();
    assert_eq!(names[..3], ["naive loop", "KV cache", "microkernel"]);
    assert_eq!(names.last(), Some(&"the same, with guesses"));
    for rung in &rungs {
        assert!(rung.with_the_books > 0.0 && rung.with_yours.unwrap() > 0.0, "{rung:?}");
        assert!(rung.yours <= rung.parts, "{rung:?}");
        let line = rung.to_string();
        assert_eq!(line.chars().count(), HEADING.chars().count(), "{line}");
        assert!(line.chars().count() <= 79, "{line}");
    }
    assert!(rungs[2].to_string().contains("1 of 1 yours"), "{}", rungs[2]);
}

#[test]
fn the_kernel_has_a_ladder_of_its_own() {
    let rungs = measured_rungs(&right(ANSWERS), OF_THE_KERNEL);
    assert_eq!(rungs.len(), OF_THE_KERNEL.len());
    for rung in &rungs {
        assert!(rung.with_the_books > 0.0 && rung.with_yours.unwrap() > 0.0, "{rung:?}");
        assert_eq!(rung.yours, rung.parts, "{rung:?}");
        assert_eq!(rung.to_string().chars().count(), KERNEL_HEADING.chars().count(), "{rung}");
    }
    let mut parts = right(ANSWERS);
    parts.microkernel.four = |_, _| todo!();
    let effort = Effort { tokens: 2, rounds: 1 };
    let broken = ladder(&ENGINE, &parts, OF_THE_KERNEL, effort, LIMIT, |_| ()).unwrap_err();
    assert_eq!(broken.part, "microkernel");
}

#[test]
fn without_a_part_of_yours_there_is_only_the_books_speed() {
    let mut parts = Parts::of_the_book();
    assert!(measured(&parts).iter().all(|rung| rung.with_yours.is_none() && rung.yours == 0));
    parts.yours.push("block_table");
    let rungs = measured(&parts);
    assert_eq!(rungs.iter().map(|rung| rung.yours).sum::<usize>(), 1);
    // A part of yours that is slow is not compared with the book's on the way.
    assert_eq!(parts.noticed.odd(), None);
}

#[test]
fn a_part_that_breaks_is_named() {
    let mut parts = right(ANSWERS);
    parts.swiglu = |_, _, _, _| todo!();
    let effort = Effort { tokens: 2, rounds: 1 };
    let broken = ladder(&ENGINE, &parts, OF_THE_ENGINE, effort, LIMIT, |_| ()).unwrap_err();
    assert_eq!(broken.part, "swiglu");
}
