//! Requests of many callers, answered by one thread that owns the model.
//!
//! ```
//! use slowburn::device::{self, DeviceChoice, Precision};
//! use slowburn::inference::{GenerateRequest, InferenceBuilder, streaming_handler};
//! use slowburn::pretrained::Pretrained;
//!
//! let device = device::open(DeviceChoice::Auto)?;
//! let pretrained = Pretrained::bundled(&device, Precision::F32)?;
//! let inference = InferenceBuilder::new().with_model(pretrained).build(streaming_handler)?;
//!
//! let request = GenerateRequest::new("Once upon a time").with_max_tokens(8).with_temperature(0.7);
//! let job = inference.infer(request).spawn();
//! for token in &job.stream {
//!     print!("{}", token.token);
//! }
//! let completion = job.join()?;
//! assert_eq!(completion.usage.completion_tokens, 8);
//! # Ok::<(), slowburn::Error>(())
//! ```
//!
//! # What else there is
//!
//! - Several prompts as one job: [`batch_handler`], or a handler that starts several sequences.
//!   [`Job::join_all`] tells of each.
//! - State: a handler gets what [`InferenceBuilder::with_state`] was given, or a job's own
//!   ([`InferRequest::with_state`]), as [`State`].
//! - Progress: [`InferRequest::with_progress`] is told after each token how far the job has come,
//!   how fast ([`Progress::tokens_per_second`]) and how long it may still take
//!   ([`Progress::time_left`]).
//! - Any model: [`InferenceBuilder::with_model`] takes a [`Pretrained`](crate::pretrained::Pretrained)
//!   of any family and size, an `Arc` of one, or a type of your own that lends one, which a handler
//!   sees as [`ModelHandle`]. [`ModelHandle::submit`] runs a function on it between two steps.
//! - A sampler for each request: its parameters ([`GenerateRequest::sampling`]), and rules of your
//!   own ([`PreparedSequence::with_rule`]).
//! - Warm-up: [`Inference::warm_up`] pays for what a device does only once, before the first
//!   request comes.
//! - Without a thread: [`Pretrained::generate_streaming`](crate::pretrained::Pretrained::generate_streaming).
//!
//! # Who does what, and where
//!
//! A [`Handler`] says what a job is: which sequences it consists of, and what becomes of their
//! tokens. It is a function that starts work and does not wait for it. It runs in the thread
//! that calls [`spawn`](InferRequest::spawn), which checks the request and turns the prompt
//! into ids there, and hands [`prepare`](ModelHandle::prepare)d sequences with a callback to
//! the model thread. That thread keeps all sequences of all jobs in one running
//! [`Batch`](crate::generate::Batch). At each step it gives every one of them a token, and calls
//! their callbacks, which put what they make of it into the job's [`OutStream`].
//!
//! The other ways lead to promises that cannot be kept. A handler that waits for its tokens
//! needs a thread to wait in. With a thread for each job, many jobs are many threads; with a
//! pool, as many slow readers as the pool has threads hold up everyone else. Here a job that
//! waits costs nothing but its memory, and there is no thread but that of the model.
//!
//! What follows from it:
//! - Callbacks (of a handler, of a sampling [`Rule`](crate::sampling::Rule), of progress) run in
//!   the model thread while the batch waits. They should be short, and must not wait for a job:
//!   whatever would wait there is an error at once. One that panics ends its own job with an error
//!   and no other.
//! - A stream is bounded. [`OutStream::emit`] never waits; where as many items wait to be read as
//!   may, the job's sequences sit out the next steps, and the others go on.
//! - So is all else: the sequences that run ([`with_max_running`](InferenceBuilder::with_max_running)),
//!   those that hold a KV cache while they sit out ([`with_max_paused`](InferenceBuilder::with_max_paused)),
//!   and those that wait for their turn ([`with_max_waiting`](InferenceBuilder::with_max_waiting)).
//!   A job that finds the queue full ends with [`Error::QueueFull`](crate::Error). Whoever spawns more
//!   jobs than fit into the batch must read them in the order in which they were spawned, or all at
//!   the same time: one that waits cannot join while nobody reads those before it.
//! - Deadlines and cancellation hold while a job runs, pauses or waits, and while callers
//!   [`submit`](ModelHandle::submit) their functions. Between two steps the thread runs those that
//!   are there by then; only a single function, or a single step, is not interrupted.
//! - A job that is dropped, or whose stream is, is cancelled before the next step.
//! - Every job ends: with a [`Completion`] for each sequence, which says why, or with one error.
//!   Shutting down ends what runs with [`FinishReason::Shutdown`].
//! - The tokens of a sequence are those that it would have alone, whatever runs beside it. On the
//!   CPU its logits have the same bits, so no draw can part. On other devices they agree to a
//!   tolerance: sums are made in another order where more sequences share a step, and a draw that
//!   falls on the edge between two tokens by less than that may take the other.

mod builder;
mod callback;
mod cancel;
mod command;
mod completion;
mod handler;
mod handlers;
mod infer;
mod job;
mod limits;
mod model_handle;
mod model_thread;
mod permits;
mod progress;
mod prompt;
mod queue;
mod request;
mod sequence;
mod started;
mod stream;
mod waiting;
mod worker;

pub use crate::generate::FinishReason;
pub use crate::generate::TokenOutput;
pub use builder::InferenceBuilder;
pub use cancel::CancelToken;
pub use completion::{Completion, Timings, Usage};
pub use handler::{FromContext, Handler, In, JobContext, State};
pub use handlers::{batch_handler, streaming_handler};
pub use infer::{InferRequest, Inference, Load};
pub use job::{Collected, Job};
pub use model_handle::{ModelHandle, PreparedSequence};
pub use progress::Progress;
pub use prompt::Prompt;
pub use request::GenerateRequest;
pub use stream::{Iter, JobStream, OutStream};
