//! An inference service: one thread owns the model and serves the requests of many callers.
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
//! # Capabilities
//!
//! - Several prompts as one job: [`batch_handler`], or a handler that starts several sequences.
//!   [`Job::join_all`] returns the completion of each.
//! - State: a handler takes the value that you gave to [`InferenceBuilder::with_state`], or a job's own
//!   ([`InferRequest::with_state`]), as [`State`].
//! - Progress: [`InferRequest::with_progress`] takes a callback that reports, after each token, the
//!   tokens so far, the speed ([`Progress::tokens_per_second`]) and a bound on the time left
//!   ([`Progress::time_left`]).
//! - Any model: [`InferenceBuilder::with_model`] takes a [`Pretrained`](crate::pretrained::Pretrained)
//!   of any family and size, an `Arc` of one, or a type of your own that borrows as one; a handler
//!   sees it as [`ModelHandle`]. [`ModelHandle::submit`] and [`Inference::submit`] run a function on the
//!   model between two steps.
//! - A sampler for each request: its parameters ([`GenerateRequest::sampling`]), and rules of your
//!   own ([`PreparedSequence::with_rule`]).
//! - Scores: [`GenerateRequest::prompt_logprobs`] reports how likely the model finds each token of
//!   the prompt.
//! - Metrics: [`Inference::load`] counts sequences, blocks of the KV cache, steps, tokens, prefix
//!   hits and preemptions.
//! - Warm-up: [`Inference::warm_up`] pays the one-time costs of a device before the first request.
//! - Replay: [`InferenceBuilder::with_record`] records all that the engine was told, planned and computed, so
//!   that you can run it again.
//! - Without a thread: [`Pretrained::stream`](crate::pretrained::Pretrained::stream).
//!
//! # Design
//!
//! A [`Handler`] defines a job: which sequences to start, and what to do with their tokens. It is a
//! function that starts work without waiting for it. The handler runs in the thread that calls
//! [`spawn`](InferRequest::spawn): there it validates and tokenizes the request, and passes
//! [`prepare`](ModelHandle::prepare)d sequences, each with a callback, to the model thread. The
//! model thread runs the sequences of all jobs in one [`Batch`](crate::generate::Batch), whose
//! [`Scheduler`](crate::engine::Scheduler) decides which of them take part in a step. A sequence that decodes
//! gets a token, or several with draft tokens. Then its callback is called, which emits items to the job's
//! [`OutStream`].
//!
//! Why so? A handler that waited for its tokens would need a thread to wait in. But a thread per job
//! doesn't scale to many jobs, and in a thread pool, as many slow readers as it has threads block every
//! other job. Here a waiting job costs only memory, and the model thread is the only thread.
//!
//! What follows from that:
//! - Callbacks (of a handler, of a sampling [`Rule`](crate::sampling::Rule), of progress) run in
//!   the model thread and block the batch, so keep them short. A callback must not wait for a job: any
//!   call that would block returns an error. A callback that panics fails its own job and no other.
//! - Streams are bounded, yet [`OutStream::emit`] never blocks: when the stream is full, the job's
//!   sequences pause and the others go on.
//! - All other resources are bounded too: running sequences
//!   ([`with_max_running`](InferenceBuilder::with_max_running)), paused sequences
//!   ([`with_max_paused`](InferenceBuilder::with_max_paused)), queued sequences
//!   ([`with_max_waiting`](InferenceBuilder::with_max_waiting)), and the memory of keys and values
//!   ([`Model::with_kv_cache_bytes`](crate::model::Model::with_kv_cache_bytes)). A paused sequence
//!   keeps its blocks only until another needs them, and then they are computed again when it goes on. A job
//!   that finds the queue full ends with [`ServiceError::QueueFull`](crate::ServiceError). If you spawn more
//!   jobs than fit into the batch, read them in spawn order or concurrently: a queued job can't join while
//!   nobody reads the jobs before it.
//! - Deadlines and cancellation apply to running, paused and queued jobs, even while callers
//!   [`submit`](ModelHandle::submit) functions. Between two steps the model thread runs the
//!   functions submitted so far, but it never interrupts a single function or step.
//! - Dropping a job or its stream cancels the job before the next step.
//! - Every job ends, with a [`Completion`] for each sequence or with one error. Shutting down ends
//!   running jobs with [`FinishReason::Shutdown`].
//! - A sequence gets the tokens that it would get alone, whatever shares its batch. On the CPU its
//!   logits are bit-identical, and so are the draws. On other devices they agree to a tolerance,
//!   because the order of summation depends on the batch size; a draw that falls within the tolerance
//!   of the boundary between two tokens may take the other.

mod builder;
mod callback;
mod cancel;
mod completion;
mod handler;
mod handlers;
mod infer;
mod job;
mod model_handle;
mod model_thread;
mod permits;
mod recorder;
mod request;
mod sequence;
mod stream;
mod text_buffer;
mod worker;

pub use crate::generate::{FinishReason, TokenOutput};
pub use builder::InferenceBuilder;
pub use cancel::CancelToken;
pub use completion::{Completion, Prefill, Timings, Usage};
pub use handler::{FromContext, Handler, In, JobContext, State};
pub use handlers::{batch_handler, streaming_handler};
pub use infer::{InferRequest, Inference, Load};
pub use job::{Collected, Job, Progress};
pub use model_handle::{ModelHandle, PreparedSequence};
pub use request::{GenerateRequest, Prompt};
pub use stream::{Iter, JobStream, OutStream};
