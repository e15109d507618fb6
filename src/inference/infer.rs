//! The entry point for callers.

use std::borrow::Borrow;
use std::iter::zip;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::callback::OnProgress;
use super::cancel::CancelToken;
use super::handler::JobContext;
use super::job::{JobId, RunningJob};
use super::model_handle::{ModelHandle, StartedSequences, ask};
use super::model_thread::check_may_wait;
use super::permits::Semaphore;
use super::stream::{Channel, JobStream, OutStream};
use super::worker::Command;
use super::{Collected, GenerateRequest, Job, PreparedSequence, Progress, TokenOutput};
use crate::engine::EngineStats;
use crate::error::{Error, Result, ServiceError};
use crate::generate::{self, Options};
use crate::kv::{BlockCounts, PrefixStats};
use crate::panics;
use crate::pretrained::Pretrained;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::mpsc::Sender;
use crate::sync::thread::JoinHandle;

/// A model that serves requests from any number of callers, on a thread of its own.
///
/// `I` is the type of a request, `O` of a stream item, `M` of the model as given to the builder,
/// and `S` of the handler's state. Dropping the inference ends all jobs and joins the thread.
pub struct Inference<I = GenerateRequest, O = TokenOutput, M = Pretrained, S = ()> {
    pub(super) model: Arc<M>,
    pub(super) commands: Sender<Command<M>>,
    pub(super) thread: Option<JoinHandle<()>>,
    pub(super) handler: HandlerFn<I, O, M, S>,
    pub(super) state: S,
    pub(super) next_job: AtomicU64,
    /// The slots of the queue.
    pub(super) queue: Arc<Semaphore>,
    pub(super) stream_capacity: usize,
}

/// A [`Handler`](super::Handler) with its argument types erased.
pub(super) type HandlerFn<I, O, M, S> =
    Box<dyn Fn(&JobContext<I, O, M, S>) -> Result<()> + Send + Sync>;

/// The number of sequences in each state, the memory of their KV caches, and what was done since
/// the inference was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Sequences that take part in each step.
    pub running: usize,
    /// Admitted sequences that do not run: paused because their reader is behind, resumed and
    /// waiting for a slot, or preempted.
    pub paused: usize,
    /// Sequences in the queue.
    pub waiting: usize,
    /// The memory of the blocks that sequences hold.
    pub kv_cache_bytes: usize,
    /// The blocks of the KV cache.
    pub kv_blocks: BlockCounts,
    /// The memory of one block, in bytes.
    pub kv_block_bytes: usize,
    /// What the prefix cache has done, in blocks.
    pub prefix_cache: PrefixStats,
    /// Steps, tokens and preemptions.
    pub engine: EngineStats,
}

impl Load {
    /// Whether there is no sequence, and none holds memory.
    pub fn is_idle(&self) -> bool {
        [self.running, self.paused, self.waiting, self.kv_cache_bytes] == [0; 4]
    }
}

impl<I, O, M, S> Inference<I, O, M, S> {
    /// Ends all jobs with [`FinishReason::Shutdown`](super::FinishReason::Shutdown), and refuses
    /// new ones.
    pub fn shut_down(&self) {
        // A second shutdown finds the channel closed.
        let _ = self.commands.send(Command::ShutDown);
    }

    /// The load after the current step.
    ///
    /// # Errors
    /// An inference that was shut down; a call from a callback in the model thread.
    pub fn load(&self) -> Result<Load> {
        ask(&self.commands, |_, load| load)
    }

    /// Enqueues the sequences of a job.
    ///
    /// # Errors
    /// No sequences; too few free slots in the queue; an inference that was shut down.
    fn enqueue(&self, job: &Arc<RunningJob>, started: Vec<PreparedSequence>) -> Result<()> {
        if started.is_empty() {
            return Err(ServiceError::NothingStarted.into());
        }
        let permits = self.queue.acquire(started.len())?;
        let sequences = zip(started, permits).collect();
        self.commands
            .send(Command::Run(job.clone(), sequences))
            .map_err(|_| Error::Service(ServiceError::ShutDown))
    }
}

impl<I, O: Send + 'static, M: Send + Sync + 'static, S: Clone> Inference<I, O, M, S> {
    /// Creates a request; nothing happens until it is spawned or run.
    pub fn infer(&self, input: I) -> InferRequest<'_, I, O, M, S> {
        InferRequest {
            inference: self,
            input,
            state: self.state.clone(),
            on_progress: None,
        }
    }

    /// Runs `call` in the model thread between two steps, and waits for its result, as
    /// [`ModelHandle::submit`] does for a handler: for work that is no sequence of tokens.
    ///
    /// # Errors
    /// As [`ModelHandle::submit`].
    pub fn submit<R: Send + 'static>(
        &self,
        call: impl FnOnce(&M) -> R + Send + 'static,
    ) -> Result<R> {
        ask(&self.commands, |model, _| call(model))
    }

    /// Generates two tokens and drops them, so that the first request does not pay one-time costs
    /// of the device, such as kernel compilation. Returns the time taken.
    ///
    /// # Errors
    /// A model that cannot generate; an inference that was shut down.
    pub fn warm_up(&self) -> Result<Duration>
    where
        M: Borrow<Pretrained>,
    {
        let start = Instant::now();
        self.submit(|model| {
            let model = &model.borrow().model;
            let prompt = [model.config().bos_token_id.unwrap_or(0)];
            let options = Options { max_tokens: 2, ignore_eos: true, ..Options::default() };
            generate::cached(model, &prompt, &options, &mut |_| ControlFlow::Continue(()))
        })??;
        Ok(start.elapsed())
    }
}

impl<I, O, M, S> Drop for Inference<I, O, M, S> {
    fn drop(&mut self) {
        self.shut_down();
        let Some(thread) = self.thread.take() else {
            return;
        };
        // A callback may hold the last handle, and a thread cannot join itself. A model thread must
        // not join another one either: two could wait for each other.
        if check_may_wait().is_ok() {
            // The thread contains panics of user code; a panic of its own has ended all jobs.
            let _ = thread.join();
        }
    }
}

/// A request that has not been spawned yet.
#[must_use = "nothing happens before it is spawned or run"]
pub struct InferRequest<'a, I, O, M, S> {
    inference: &'a Inference<I, O, M, S>,
    input: I,
    state: S,
    on_progress: Option<OnProgress>,
}

impl<I, O: Send + 'static, M: Send + Sync + 'static, S> InferRequest<'_, I, O, M, S> {
    /// The [`State`](super::State) that the handler gets for this job.
    pub fn with_state(mut self, state: S) -> Self {
        self.state = state;
        self
    }

    /// Calls `on_progress` after each token, in the model thread.
    pub fn with_progress(mut self, on_progress: impl FnMut(Progress) + Send + 'static) -> Self {
        self.on_progress = Some(OnProgress::new(Box::new(on_progress)));
        self
    }

    /// Runs the handler and returns the job once its sequences are queued. Errors are returned by
    /// [`Job::join`].
    pub fn spawn(self) -> Job<O> {
        let Self { inference, input, state, on_progress } = self;
        let submitted = Instant::now();
        let id = JobId(inference.next_job.fetch_add(1, Ordering::Relaxed));
        let commands = inference.commands.clone();
        let cancel = CancelToken::new(move || {
            // If the model thread has ended, so have its jobs.
            let _ = commands.send(Command::LookAt(id));
        });
        let channel = Arc::new(Channel::new(inference.stream_capacity, cancel.clone()));
        let started = StartedSequences::new();
        let context = JobContext {
            input,
            state,
            model: ModelHandle {
                model: inference.model.clone(),
                commands: inference.commands.clone(),
                started: started.clone(),
                submitted,
            },
            output: OutStream(channel.clone()),
        };
        let result = panics::contain("the handler", || (inference.handler)(&context)).flatten();
        let started = started.close();
        channel.widen(started.len());

        let job = Arc::new(RunningJob::new(
            id,
            cancel,
            channel.clone(),
            submitted,
            started.len(),
            on_progress,
        ));
        if let Err(error) = result.and_then(|()| inference.enqueue(&job, started)) {
            job.fail(error);
        }
        Job { stream: JobStream { channel } }
    }

    /// Spawns the job, reads its stream to the end, and joins it.
    ///
    /// # Errors
    /// As [`Job::join`].
    pub fn run(self) -> Result<Collected<O>> {
        check_may_wait()?;
        let job = self.spawn();
        let outputs = job.stream.iter().collect();
        Ok(Collected { outputs, completions: job.join_all()? })
    }
}
