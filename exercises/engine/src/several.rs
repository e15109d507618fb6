//! Several texts at once, in a pool that is too small for them: what a batch does can be seen in it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::batch::{Batch, Counts, Room, Step};
use crate::broken::{Broken, fail, watched};
use crate::matrix::Bits;
use crate::model::Model;
use crate::parts::{Emit, Emitted, Parts};
use crate::sequence::Submission;
use crate::story::{Request, Story};
use crate::vocabulary::Vocabulary;

/// A text, and how it comes.
#[derive(Debug, Clone)]
pub struct Arrival {
    pub request: Request,
    /// The step before which it comes, from 0.
    pub step: usize,
    /// Its reader is away for so many of the pieces that it is offered, from the tenth on.
    pub away: usize,
}

/// The texts of a batch, in the order in which they arrived, and what happened.
pub type Written = (Vec<Story>, Counts);

/// Too small for all four texts, so that the youngest loses its blocks.
pub const ROOM: Room = Room { token_budget: 8, max_running: 3, blocks: 25 };

/// Four texts. The third begins as the first does, and the fourth has the prompt of the third.
pub fn arrivals() -> Vec<Arrival> {
    let arrival =
        |prompt: &str, seed, step, away| Arrival { request: request(prompt, seed, 40), step, away };
    vec![
        arrival("Once upon a time", 42, 0, 0),
        arrival("The storm", 17, 0, 12),
        arrival("Once upon a time, a mouse and a bear named", 16, 2, 0),
        arrival("Once upon a time, a mouse and a bear named", 20, 5, 0),
    ]
}

/// As in *First light*, but for these.
pub fn request(prompt: &str, seed: u64, max_tokens: usize) -> Request {
    Request {
        prompt: prompt.into(),
        seed,
        max_tokens,
        ..Request::default()
    }
}

/// Writes texts in one batch.
///
/// # Errors
/// A part that panics, does not return, or returns what cannot be used.
pub fn write(
    engine: &Arc<(Model, Vocabulary)>,
    parts: &Parts,
    arrivals: Vec<Arrival>,
    room: Room,
    bits: Bits,
    limit: Duration,
) -> Result<Written, Broken> {
    let (engine, parts) = (engine.clone(), parts.clone());
    watched("one_step", limit, move || {
        let (model, vocabulary) = &*engine;
        let network = model.packed(&parts, bits);
        run(
            Batch::new(&network, vocabulary, &parts, room),
            model,
            vocabulary,
            &parts,
            arrivals,
        )
    })
}

fn run(
    mut batch: Batch<'_>,
    model: &Model,
    vocabulary: &Vocabulary,
    parts: &Parts,
    arrivals: Vec<Arrival>,
) -> Written {
    let count = arrivals.len();
    let most: usize = arrivals.iter().map(|arrival| 10 * arrival.request.max_tokens + 100).sum();
    let stories: Rc<RefCell<Vec<(usize, Story)>>> = Rc::default();
    let mut arrivals: Vec<(usize, Arrival)> = arrivals.into_iter().enumerate().collect();
    for step in 0.. {
        for (number, arrival) in arrivals.extract_if(.., |(_, arrival)| arrival.step <= step) {
            let stories = stories.clone();
            batch.submit(Submission {
                prompt: vocabulary.prompt(parts, model.config.bos, &arrival.request.prompt),
                request: arrival.request,
                sink: Box::new(Scripted { offered: Cell::new(0), away: arrival.away }),
                done: Box::new(move |story| stories.borrow_mut().push((number, story))),
            });
        }
        let ended = batch.step() == Step::Empty;
        if ended && arrivals.is_empty() {
            break;
        }
        if step > most {
            fail("one_step", format!("has planned {step} steps, and the texts do not end"));
        }
    }
    let mut stories = stories.take();
    stories.sort_by_key(|(number, _)| *number);
    if stories.len() < count {
        fail("one_step", format!("has ended {} of {count} texts", stories.len()));
    }
    (stories.into_iter().map(|(_, story)| story).collect(), batch.counts)
}

/// A reader that reads all that it is offered, but for some of the time. It has no clock, so that each
/// run has the same steps.
struct Scripted {
    offered: Cell<usize>,
    away: usize,
}

impl Emit for Scripted {
    fn emit(&self, piece: String) -> Emitted {
        let offered = self.offered.replace(self.offered.get() + 1);
        if (10..10 + self.away).contains(&offered) {
            return Emitted::Behind(piece);
        }
        Emitted::Sent
    }
}
