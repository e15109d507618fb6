//! Stories written with some parts in place of the book's.

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use your_engine::model::Model;
use your_engine::story::{self, Request, Story};
use your_engine::verdict::{Expected, verdict};
use your_engine::vocabulary::Vocabulary;
use your_engine::{Broken, Parts, weights};

/// Puts an answer in the place of a part.
pub type TakeOver = fn(&mut Parts);

/// The answers to the exercise of one part.
pub struct Answers {
    pub part: &'static str,
    pub right: TakeOver,
    /// With their names.
    pub wrong: &'static [(&'static str, TakeOver)],
}

/// Ember, read once.
pub static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let folder = folders.find_map(|folder| {
        let ember = folder.join("models/ember");
        ember.is_dir().then_some(ember)
    });
    Arc::new(weights::read(&folder.unwrap()).unwrap())
});

/// How long a part may take here.
pub const LIMIT: Duration = Duration::from_secs(5);

/// What comes of *First light* with these parts.
pub fn write(parts: &Parts) -> Result<Story, Broken> {
    story::write(&ENGINE, parts, &Request::default(), LIMIT, |_| ())
}

/// The same, in words.
pub fn said(parts: &Parts) -> String {
    match write(parts) {
        Ok(story) => verdict(&story, &Expected::first_light(&ENGINE.1)).in_words(&ENGINE.1),
        Err(broken) => broken.to_string(),
    }
}

/// A model, and its tokens.
pub type Engine = Arc<(Model, Vocabulary)>;

/// What comes of any text: what broke, what differs, or else the first call that does.
pub fn said_of_text(parts: &Parts, request: &Request, expected: &Expected) -> String {
    said_of_text_by(&ENGINE, parts, request, expected)
}

/// The same, by any model.
pub fn said_of_text_by(
    engine: &Engine,
    parts: &Parts,
    request: &Request,
    expected: &Expected,
) -> String {
    let story = match story::write(engine, parts, request, LIMIT, |_| ()) {
        Ok(story) => story,
        Err(broken) => return broken.to_string(),
    };
    match (verdict(&story, expected).in_words(&ENGINE.1), parts.noticed.odd()) {
        (same, Some(odd)) if same == SAME => odd.to_string(),
        (said, _) => said,
    }
}

/// What is said where nothing differs.
pub const SAME: &str = "All is as in the book.";

/// All parts from the reference answers.
pub fn right(answers: &[Answers]) -> Parts {
    let mut parts = Parts::of_the_book();
    for answers in answers {
        (answers.right)(&mut parts);
        parts.yours.push(answers.part);
    }
    parts
}

/// Each of these answers fits between parts of the book: then `said` says that nothing differs.
pub fn assert_each_fits<'a>(
    answers: impl IntoIterator<Item = &'a Answers>,
    said: impl Fn(&Parts) -> String,
) {
    for answers in answers {
        let mut parts = Parts::of_the_book();
        (answers.right)(&mut parts);
        assert_eq!(said(&parts), SAME, "{}", answers.part);
    }
}

/// What `said` says with one wrong answer, and all others right.
pub fn with_a_wrong_one(
    answers: &[Answers],
    part: &str,
    variant: &str,
    said: impl Fn(&Parts) -> String,
) -> String {
    let of_part = answers.iter().find(|answers| answers.part == part).unwrap();
    let (_, take_over) = of_part.wrong.iter().find(|(name, _)| *name == variant).unwrap();
    let mut parts = right(answers);
    take_over(&mut parts);
    // The others are right: to ask the book's each time would double the time.
    parts.yours.retain(|name| *name == part);
    said(&parts)
}

/// Of each part and wrong variant, what `said` says begins as expected.
pub fn assert_each_is_seen(
    answers: &[Answers],
    wrong: &[(&str, &str, &str)],
    said: impl Fn(&Parts) -> String,
) {
    let mut unseen = Vec::new();
    for &(part, variant, expected) in wrong {
        let said = with_a_wrong_one(answers, part, variant, &said);
        if said == SAME || !said.starts_with(expected) {
            unseen.push(format!("{part}, {variant}: {said}"));
        }
    }
    assert!(unseen.is_empty(), "{unseen:#?}");
}
