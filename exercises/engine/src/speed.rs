//! How fast the engine is, and what of that each idea brings: a ladder, with your parts and the book's. And
//! another one for the kernel alone.

use std::fmt;
use std::panic;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::batch::{Batch, Room, Step};
use crate::broken::{Broken, fail, watched};
use crate::guesses::{Guesses, LOOKUP};
use crate::matrix::{Bits, Matrix};
use crate::memory::Caches;
use crate::model::{Chunk, Model, Network};
use crate::parts::{Emit, Emitted, Lookup, Parts, Rows};
use crate::sampler::Sampler;
use crate::sequence::Submission;
use crate::story::{Request, told_again};
use crate::vocabulary::Vocabulary;

/// A way to write, which has one more idea than the one before it, or another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    Naive,
    Cached,
    Panels,
    Blocks,
    Batch,
    EightBits,
    ToldAgain,
    Guesses,
    Product(Product),
}

/// A way to multiply rows with a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Product {
    bits: Bits,
    /// Rows of `x` that are multiplied together.
    rows: usize,
    on_all_cores: bool,
}

/// Some rungs, from the bottom.
pub type Rungs = [(Rung, &'static str, &'static [&'static str])];

/// Products of 4 rows with a matrix of 16 MiB. With the exercises whose parts they use.
pub const OF_THE_KERNEL: &Rungs = &[
    (product(Bits::AsTheyAre, 1, false), "output by output", &[]),
    (product(Bits::All, 1, false), "panels", &["microkernel"]),
    (product(Bits::All, 4, false), "panels, 4 rows", &["microkernel"]),
    (product(Bits::All, 4, true), "the same, on all cores", &["microkernel"]),
];

const fn product(bits: Bits, rows: usize, on_all_cores: bool) -> Rung {
    Rung::Product(Product { bits, rows, on_all_cores })
}

/// Ways to write. With the exercises whose parts they add.
pub const OF_THE_ENGINE: &Rungs = &[
    (
        Rung::Naive,
        "naive loop",
        &[
            "rms_norm",
            "split_heads",
            "rope",
            "causal_mask",
            "grouped_query_attention",
            "swiglu",
        ],
    ),
    (Rung::Cached, "KV cache", &["cache_append", "attend_to_cache"]),
    (Rung::Panels, "microkernel", &["microkernel"]),
    (Rung::Blocks, "blocks", &["block_allocator", "block_table", "online_softmax"]),
    (Rung::Batch, "batch of 4", &["one_step", "longest_prefix", "preemption"]),
    (Rung::EightBits, "batch of 4, 8 bits", &["group_product"]),
    (Rung::ToldAgain, "a story told again", &[]),
    (
        Rung::Guesses,
        "the same, with guesses",
        &["prompt_lookup", "accept_guesses", "truncate_blocks"],
    ),
];

/// Texts of a batch.
const TEXTS: usize = 4;

/// How much is written, and how often: the fastest counts, because others were disturbed.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    pub tokens: usize,
    pub rounds: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self { tokens: 24, rounds: 5 }
    }
}

/// A rung, measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    pub name: &'static str,
    /// How many parts it adds, and how many of them are yours.
    pub parts: usize,
    pub yours: usize,
    /// Tokens a second: with your parts, if there are any, and with the book's.
    pub with_yours: Option<f64>,
    pub with_the_books: f64,
}

/// The headings of the ladders. A line has at most 79 columns.
pub const HEADING: &str = "  tokens a second          parts         yours   the book's   ratio";
pub const KERNEL_HEADING: &str =
    "  million products a s     parts         yours   the book's   ratio";

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, parts, yours, with_yours, with_the_books } = self;
        let parts = match parts {
            0 => String::new(),
            parts => format!("{yours} of {parts} yours"),
        };
        let (speed, ratio) = match with_yours {
            Some(speed) => (format!("{speed:.0}"), format!("{:.2}", speed / with_the_books)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        write!(f, "  {name:<23}{parts:<14}{speed:>7}{with_the_books:>13.0}{ratio:>8}")
    }
}

/// Measures each rung, and hands it on as soon as it is.
///
/// # Errors
/// A part that panics, does not return, or returns what cannot be used.
pub fn ladder(
    engine: &Arc<(Model, Vocabulary)>,
    parts: &Parts,
    rungs: &Rungs,
    effort: Effort,
    limit: Duration,
    mut on_rung: impl FnMut(Measured),
) -> Result<(), Broken> {
    // Results are not compared here: that would ask the book's parts too.
    let quiet = Parts { yours: Vec::new(), ..parts.clone() };
    for &(rung, name, exercises) in rungs {
        let measure = |parts: &Parts| {
            let (engine, parts) = (engine.clone(), parts.clone());
            watched("generate", limit, move || speed(rung, &engine, &parts, effort.tokens))
        };
        let (mut with_yours, mut with_the_books) = (None::<f64>, 0.0_f64);
        // In turns, so that both have the same machine.
        for _ in 0..effort.rounds {
            if !parts.yours.is_empty() {
                with_yours = Some(with_yours.unwrap_or(0.0).max(measure(&quiet)?));
            }
            with_the_books = with_the_books.max(measure(&Parts::of_the_book())?);
        }
        let yours = exercises.iter().filter(|exercise| parts.is_yours(exercise)).count();
        let parts = exercises.len();
        on_rung(Measured { name, parts, yours, with_yours, with_the_books });
    }
    Ok(())
}

/// Tokens a second, after the prompt. Of a product, millions of weights times a number.
fn speed(rung: Rung, engine: &(Model, Vocabulary), parts: &Parts, tokens: usize) -> f64 {
    let (model, vocabulary) = engine;
    if let Rung::Product(product) = rung {
        return product.speed(parts);
    }
    let bits = match rung {
        Rung::Naive | Rung::Cached => Bits::AsTheyAre,
        Rung::EightBits => Bits::Eight,
        _ => Bits::All,
    };
    let network = model.packed(parts, bits);
    let prompt = |request: &Request| vocabulary.prompt(parts, model.config.bos, &request.prompt);
    match rung {
        Rung::Naive => alone(&network, parts, prompt(&Request::default()), tokens, false),
        Rung::Cached | Rung::Panels => {
            alone(&network, parts, prompt(&Request::default()), tokens, true)
        }
        Rung::Blocks => together(&network, vocabulary, parts, 1, tokens),
        Rung::Batch | Rung::EightBits => together(&network, vocabulary, parts, TEXTS, tokens),
        Rung::ToldAgain | Rung::Guesses => {
            let most = if rung == Rung::Guesses {
                LOOKUP.most
            } else {
                0
            };
            let request = told_again();
            let prompt = request.ids(parts, vocabulary, &model.config);
            ahead(&network, parts, &prompt, tokens, Lookup { most, ..LOOKUP })
        }
        Rung::Product(_) => unreachable!("it needs no network"),
    }
}

impl Product {
    /// Millions of weights times a number, a second.
    fn speed(self, parts: &Parts) -> f64 {
        const ROWS: usize = 4;
        const N_IN: usize = 1024;
        // 16 MiB in f32.
        const N_OUT: usize = 4096;
        const PRODUCTS: f64 = (ROWS * N_IN * N_OUT) as f64;
        let rows = |count: usize| -> Rows {
            let number = |i: usize| (i % 31) as f32 / 31.0 - 0.5;
            (0..count).map(|i| (0..N_IN).map(|k| number(7 * i + 3 * k)).collect()).collect()
        };
        let cores = match thread::available_parallelism() {
            Ok(cores) if self.on_all_cores => cores.get(),
            _ => 1,
        };
        // Each core has some of the outputs.
        let weights = rows(N_OUT);
        let shares = weights.chunks(N_OUT.div_ceil(cores));
        let packed = |share: &[Vec<f32>]| Matrix::packed(parts, &share.to_vec(), self.bits);
        let matrices: Vec<Matrix> = shares.map(packed).collect();
        let x = rows(ROWS);
        let of_core = |matrix: &Matrix| {
            for x in x.chunks(self.rows) {
                matrix.product(parts, x);
            }
        };
        let clock = Instant::now();
        match matrices.as_slice() {
            [matrix] => of_core(matrix),
            matrices => thread::scope(|scope| {
                let start = |matrix| scope.spawn(move || of_core(matrix));
                for core in matrices.iter().map(start).collect::<Vec<_>>() {
                    // What broke keeps its name.
                    core.join().unwrap_or_else(|broken| panic::resume_unwind(broken));
                }
            }),
        }
        PRODUCTS / clock.elapsed().as_secs_f64() / 1e6
    }
}

/// One text. Without a cache, each pass reads all of it.
fn alone(
    network: &Network<'_>,
    parts: &Parts,
    mut text: Vec<u32>,
    tokens: usize,
    has_cache: bool,
) -> f64 {
    let Request { temperature, top_p, seed, .. } = Request::default();
    let mut sampler = Sampler::new(temperature, top_p, seed);
    let mut caches = Caches::new(network.model, parts);
    let mut clock = Instant::now();
    for i in 0..=tokens {
        if !has_cache {
            caches = Caches::new(network.model, parts);
        }
        let start = caches.length;
        let chunk = Chunk { tokens: &text[start..], start, wants_logits: true };
        let logits = network.forward(parts, &[chunk], &mut caches);
        caches.length = text.len();
        let logits: Vec<f32> = logits.into_iter().flatten().flatten().collect();
        text.push(sampler.sample(parts, &logits));
        if i == 0 {
            // The prompt has been read.
            clock = Instant::now();
        }
    }
    tokens as f64 / clock.elapsed().as_secs_f64()
}

/// So many texts in a batch.
fn together(
    network: &Network<'_>,
    vocabulary: &Vocabulary,
    parts: &Parts,
    texts: usize,
    tokens: usize,
) -> f64 {
    let room = Room { token_budget: 32, max_running: texts, blocks: 128 };
    let mut batch = Batch::new(network, vocabulary, parts, room);
    for i in 0..texts {
        let usual = Request::default();
        let request = Request {
            max_tokens: tokens + 1,
            seed: usual.seed + i as u64,
            stops: Vec::new(),
            ..usual
        };
        batch.submit(Submission {
            prompt: vocabulary.prompt(parts, network.model.config.bos, &request.prompt),
            request,
            sink: Box::new(Everything),
            done: Box::new(|_| ()),
        });
    }
    // The prompts are read in one step, which draws the first tokens.
    batch.step();
    let clock = Instant::now();
    while batch.step() != Step::Empty {
        if batch.counts.steps > 10 * (tokens + 1) * texts {
            fail("one_step", "plans more and more steps, and the texts do not end");
        }
    }
    (texts * tokens) as f64 / clock.elapsed().as_secs_f64()
}

/// One text with guesses, after its prompt.
fn ahead(
    network: &Network<'_>,
    parts: &Parts,
    prompt: &[u32],
    tokens: usize,
    lookup: Lookup,
) -> f64 {
    let mut sampler = Sampler::new(0.0, 1.0, 0);
    let mut guesses = Guesses::new(network, parts, lookup);
    let mut text = prompt.to_vec();
    text.push(guesses.next(&text, &mut sampler));
    let before = guesses.known();
    let clock = Instant::now();
    while text.len() < before + tokens {
        text.push(guesses.next(&text, &mut sampler));
    }
    // The last pass may have found more than was asked for.
    (guesses.known() - before) as f64 / clock.elapsed().as_secs_f64()
}

/// A reader that reads all that it is offered.
struct Everything;

impl Emit for Everything {
    fn emit(&self, _: String) -> Emitted {
        Emitted::Sent
    }
}
