//! Tokens that are chosen next to the steps: whoever asks for much waits, and nobody else.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use slowburn::constrained::{Cancel, Constraint, Parser, TokenMask, Vocabulary};
use slowburn::engine::{Decision, Engine, EngineConfig, Entry, SequenceId};
use slowburn::generate::{Batch, Event, Options};
use slowburn::pretrained::Pretrained;
use slowburn::{Error, RequestError, Result};

use super::common::constrained::options;
use super::common::{bundled, device};

/// What all copies of a parser share.
#[derive(Default)]
struct Shared {
    is_open: Mutex<bool>,
    opened: Condvar,
    copies: AtomicUsize,
    masks: AtomicUsize,
}

impl Shared {
    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

/// Allows all tokens with text. What comes behind the first is found out once the gate is open.
struct Gated {
    vocabulary: Arc<Vocabulary>,
    shared: Arc<Shared>,
    read: usize,
    is_cancelled: Arc<AtomicBool>,
}

impl Gated {
    fn constraint(pretrained: &Pretrained) -> (Constraint, Arc<Shared>) {
        let (vocabulary, shared) = (pretrained.vocabulary(), Arc::<Shared>::default());
        let parser = Self {
            vocabulary: vocabulary.clone(),
            shared: shared.clone(),
            read: 0,
            is_cancelled: Arc::default(),
        };
        (Constraint::by_parser(Box::new(parser), vocabulary).unwrap(), shared)
    }
}

impl Parser for Gated {
    fn read(&mut self, _: u32) -> Result<bool> {
        self.read += 1;
        Ok(true)
    }

    fn undo(&mut self, tokens: usize) -> Result<()> {
        self.read -= tokens;
        Ok(())
    }

    fn next(&mut self) -> Result<(TokenMask, bool)> {
        let mut is_open = self.shared.is_open.lock().unwrap();
        while self.read > 0 && !*is_open {
            if self.is_cancelled.load(Ordering::SeqCst) {
                return Err(Error::Request(RequestError::GrammarCancelled));
            }
            let look_again = Duration::from_millis(1);
            is_open = self.shared.opened.wait_timeout(is_open, look_again).unwrap().0;
        }
        drop(is_open);
        self.shared.masks.fetch_add(1, Ordering::SeqCst);
        let mut mask = TokenMask::none(self.vocabulary.size());
        let has_text = |id: &u32| !self.vocabulary.bytes(*id).is_empty();
        (0..self.vocabulary.size() as u32).filter(has_text).for_each(|id| mask.insert(id));
        Ok((mask, false))
    }

    fn copy(&self) -> Box<dyn Parser> {
        self.shared.copies.fetch_add(1, Ordering::SeqCst);
        Box::new(Self {
            vocabulary: self.vocabulary.clone(),
            shared: self.shared.clone(),
            read: self.read,
            is_cancelled: Arc::default(),
        })
    }

    fn cancel_by(&mut self, cancel: &Cancel) {
        let flag = self.is_cancelled.clone();
        cancel.on_cancel(move || flag.store(true, Ordering::SeqCst));
    }
}

/// The tokens of each sequence until all have ended.
fn run(batch: &mut Batch<'_>, ids: &[SequenceId]) -> Vec<Vec<u32>> {
    let mut texts = vec![Vec::new(); ids.len()];
    while !batch.is_empty() {
        for (id, event) in batch.step() {
            match event {
                Event::Finished(generation) => {
                    texts[ids.iter().position(|of| *of == id).unwrap()] = generation.ids;
                }
                Event::Failed(error) => panic!("{error}"),
                Event::Token(_) => {}
            }
        }
    }
    texts
}

#[test]
fn a_sequence_whose_mask_is_not_found_is_deferred_and_the_others_go_on() {
    let pretrained = bundled(&device());
    let prompt = pretrained.prompt_ids("Once upon").unwrap();
    let plain = Options { ignore_eos: true, max_tokens: 24, ..Options::default() };
    let (constraint, shared) = Gated::constraint(&pretrained);
    let slow = options(&constraint, 12, 1.0, 7);

    let mut batch = Batch::new(&pretrained.model);
    batch.choose_aside();
    batch.keep_record();
    let ids = [
        batch.join(&prompt, &slow).unwrap(),
        batch.join(&prompt, &plain).unwrap(),
        batch.join(&prompt, &slow).unwrap(),
    ];
    // While the gate is closed, the one without a constraint gets its tokens.
    let mut tokens = Vec::new();
    while tokens.len() < 20 {
        for (id, event) in batch.step() {
            assert!(matches!(event, Event::Token(_)), "{event:?}");
            assert_eq!(id, ids[1]);
            tokens.push(id);
        }
    }
    let choosing = |id: SequenceId| batch.plan().decisions.contains(&Decision::Choosing { id });
    assert!(choosing(ids[0]) && choosing(ids[2]), "{:?}", batch.plan());
    assert_eq!(batch.len(), 3);
    shared.open();
    let found = run(&mut batch, &ids);
    let record = batch.take_record();

    // The texts are those of a batch that waits for each mask.
    let mut waiting = Batch::new(&pretrained.model);
    let alone = [&slow, &plain, &slow].map(|options| waiting.join(&prompt, options).unwrap());
    assert_eq!(found, run(&mut waiting, &alone));
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [12, 24, 12]);

    // Who was deferred, and when, follows from what the engine was told.
    let mut engine = Engine::new(&pretrained.model, EngineConfig::default());
    for entry in record {
        match entry {
            Entry::Event { event } => engine.handle(event).unwrap(),
            Entry::Step { decisions } => assert_eq!(engine.step().0.decisions, decisions),
            _ => {}
        }
    }
}

#[test]
fn a_sequence_that_leaves_takes_its_work_with_it() {
    let pretrained = bundled(&device());
    let prompt = pretrained.prompt_ids("Once upon").unwrap();
    let (constraint, _) = Gated::constraint(&pretrained);
    let mut batch = Batch::new(&pretrained.model);
    batch.choose_aside();
    let ids: Vec<_> =
        (0..40).map(|_| batch.join(&prompt, &options(&constraint, 8, 1.0, 1)).unwrap()).collect();
    // The first of them have begun, and the others wait for them.
    let most = 2 * std::thread::available_parallelism().unwrap().get();
    let begun = most.min(EngineConfig::default().max_running / 8);
    let choosing = |batch: &Batch<'_>| {
        let is_choosing = |decision: &&Decision| matches!(decision, Decision::Choosing { .. });
        batch.plan().decisions.iter().filter(is_choosing).count()
    };
    while choosing(&batch) < begun {
        batch.step();
    }
    assert_eq!((batch.scheduler().running(), batch.scheduler().queued()), (begun, 40 - begun));
    assert_eq!(batch.len(), 40);
    for (left, id) in (0..40).rev().zip(ids) {
        assert!(batch.leave(id).is_some() && batch.leave(id).is_none());
        batch.step();
        assert!(choosing(&batch) <= begun && batch.len() == left);
    }
    assert!(batch.is_empty() && batch.kv_cache_bytes() == 0);
}

/// However many wait for their masks, and of however many grammars: neither the slots nor the places of those
/// that were admitted are theirs.
#[test]
fn sequences_that_wait_for_masks_keep_nobody_from_beginning() {
    let pretrained = bundled(&device());
    let prompt = pretrained.prompt_ids("Once upon").unwrap();
    let plain = Options { ignore_eos: true, max_tokens: 9, ..Options::default() };
    let config = EngineConfig { max_running: 16, max_admitted: 64, ..EngineConfig::default() };
    let mut batch = Batch::with_config(&pretrained.model, config);
    batch.choose_aside();
    let grammars: Vec<_> = (0..20).map(|_| Gated::constraint(&pretrained)).collect();
    let slow: Vec<_> =
        grammars.iter().map(|(constraint, _)| options(constraint, 3, 1.0, 7)).collect();
    let mut all: Vec<&Options> = slow.iter().flat_map(|options| [options; 5]).collect();
    let mut ids: Vec<_> = all.iter().map(|options| batch.join(&prompt, options).unwrap()).collect();
    let is_plain = |id: SequenceId| id.0 >= 100;
    let mut finished = Vec::new();
    // Until all wait that may, and then 40 that ask for no mask have come and gone.
    for round in 0..60 {
        if round >= 20 {
            ids.push(batch.join(&prompt, &plain).unwrap());
            all.push(&plain);
        }
        for (id, event) in batch.step() {
            match event {
                Event::Finished(generation) => finished.push((id, generation.ids)),
                Event::Failed(error) => panic!("{error}"),
                Event::Token(_) => {}
            }
        }
        assert!(batch.plan().chunks.len() <= config.max_running);
    }
    let choosing = batch.plan().decisions.iter();
    let choosing = choosing.filter(|of| matches!(of, Decision::Choosing { .. })).count();
    assert!(choosing > config.max_running, "{choosing}");
    assert!(finished.len() >= 25, "{}", finished.len());
    assert!(finished.iter().all(|(id, _)| is_plain(*id)), "{finished:?}");
    // Those that go on now are more than there are slots, and all come to their end.
    grammars.iter().for_each(|(_, shared)| shared.open());
    let rest = run(&mut batch, &ids);
    let mut waiting = Batch::with_config(&pretrained.model, config);
    let alone: Vec<_> = all.iter().map(|options| waiting.join(&prompt, options).unwrap()).collect();
    let alone = run(&mut waiting, &alone);
    for ((id, rest), alone) in ids.iter().zip(rest).zip(alone) {
        let before = finished.iter().find(|(of, _)| of == id).map(|(_, text)| text.clone());
        assert_eq!(before.unwrap_or(rest), alone, "{id}");
    }
}

#[test]
fn many_texts_of_a_grammar_share_its_first_mask_and_copy_nothing_before_their_first_token() {
    let pretrained = bundled(&device());
    let (constraint, shared) = Gated::constraint(&pretrained);
    let of = |count: &AtomicUsize| count.load(Ordering::SeqCst);
    let followers: Vec<_> = (0..64).map(|_| constraint.follow()).collect();
    let token = followers[0].next(&[]).unwrap().mask().ids().next().unwrap();
    for follower in &followers {
        follower.next(&[]).unwrap();
    }
    assert_eq!((of(&shared.copies), of(&shared.masks)), (0, 1));
    shared.open();
    followers[0].next(&[token]).unwrap();
    assert_eq!((of(&shared.copies), of(&shared.masks)), (1, 2));
}
