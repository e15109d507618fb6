//! Where callers bring their requests.

use std::borrow::Borrow;
use std::iter::zip;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::callback::OnProgress;
use super::cancel::{CancelToken, Doorbell};
use super::command::{Command, Question};
use super::handler::JobContext;
use super::job::{JobId, RunningJob};
use super::model_handle::{ModelHandle, submit};
use super::model_thread::check_may_wait;
use super::permits::Semaphore;
use super::started::{StartedSequence, StartedSequences};
use super::stream::{Channel, JobStream, OutStream};
use super::waiting::WaitingSequence;
use super::{Collected, GenerateRequest, Job, Progress, TokenOutput};
use crate::error::{Error, Result};
use crate::generate::{self, Options};
use crate::panics;
use crate::pretrained::Pretrained;

/// A model that answers requests, in a thread of its own, for any number of callers.
///
/// `I` is what a request is, `O` what its stream consists of, `M` what the model was given as,
/// and `S` the state of the handler. Dropping it ends all jobs and waits for the thread.
pub struct Inference<I = GenerateRequest, O = TokenOutput, M = Pretrained, S = ()> {
    pub(super) model: Arc<M>,
    pub(super) commands: Sender<Command<M>>,
    pub(super) thread: Option<JoinHandle<()>>,
    pub(super) handler: HandlerFn<I, O, M, S>,
    pub(super) state: S,
    pub(super) next_job: AtomicU64,
    /// The places for those that wait.
    pub(super) queue: Arc<Semaphore>,
    pub(super) stream_capacity: usize,
}

/// A [`Handler`](super::Handler) whose arguments are forgotten.
pub(super) type HandlerFn<I, O, M, S> =
    Box<dyn Fn(&JobContext<I, O, M, S>) -> Result<()> + Send + Sync>;

/// How much there is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Sequences that take part in each step.
    pub running: usize,
    /// Sequences that sit out: they wait for their reader or, once that has caught up, for one
    /// of those that run to end or to pause.
    pub paused: usize,
    /// Sequences that wait for their turn.
    pub waiting: usize,
    /// The memory that the KV caches take.
    pub kv_cache_bytes: usize,
}

impl<I, O, M, S> Inference<I, O, M, S> {
    /// Ends all jobs with [`FinishReason::Shutdown`](super::FinishReason::Shutdown), and takes
    /// in no more.
    pub fn shut_down(&self) {
        // It may have been shut down before.
        let _ = self.commands.send(Command::ShutDown);
    }

    /// How much there is to do, after the current step.
    ///
    /// # Errors
    /// An inference that was shut down; a callback in the model's thread.
    pub fn load(&self) -> Result<Load> {
        check_may_wait()?;
        let (answer, answered) = mpsc::sync_channel(1);
        let question = Question::Load(answer);
        self.commands.send(Command::Ask(question)).map_err(|_| Error::ShutDown)?;
        answered.recv().map_err(|_| Error::ShutDown)
    }

    /// Puts the sequences of a job into the queue.
    ///
    /// # Errors
    /// No sequences; no room for all of them; an inference that was shut down.
    fn enqueue(&self, job: &Arc<RunningJob>, started: Vec<StartedSequence>) -> Result<()> {
        if started.is_empty() {
            return Err(Error::NothingStarted);
        }
        let permits = self.queue.acquire(started.len())?;
        let waiting = zip(started, permits).enumerate().map(|(index, (start, permit))| {
            WaitingSequence { job: job.clone(), index, start, permit }
        });
        self.commands.send(Command::Run(waiting.collect())).map_err(|_| Error::ShutDown)
    }
}

impl<I, O: Send + 'static, M: Send + Sync + 'static, S: Clone> Inference<I, O, M, S> {
    /// Begins a request; nothing happens before it is spawned or run.
    pub fn infer(&self, input: I) -> InferRequest<'_, I, O, M, S> {
        InferRequest {
            inference: self,
            input,
            state: self.state.clone(),
            on_progress: None,
        }
    }

    /// Generates two tokens and drops them, so that the first request does not pay for what a
    /// device does only once, such as compiling its kernels. Returns how long it took.
    ///
    /// # Errors
    /// A model that cannot generate; an inference that was shut down.
    pub fn warm_up(&self) -> Result<Duration>
    where
        M: Borrow<Pretrained>,
    {
        let start = Instant::now();
        submit(&self.commands, |model: &M| {
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
        // A callback may hold the last handle. The thread of a model must not wait for another
        // model either: that one may be waiting for it.
        if check_may_wait().is_ok() {
            // It contains the panics of others. One of its own has ended all jobs.
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
    /// What the handler gets as [`State`](super::State) for this job.
    pub fn with_state(mut self, state: S) -> Self {
        self.state = state;
        self
    }

    /// Told after each token how far the job has come, in the model thread.
    pub fn with_progress(mut self, on_progress: impl FnMut(Progress) + Send + 'static) -> Self {
        self.on_progress = Some(OnProgress::new(on_progress));
        self
    }

    /// Runs the handler, and returns the job as soon as it is on its way. What goes wrong is
    /// told by [`Job::join`].
    pub fn spawn(self) -> Job<O> {
        let Self { inference, input, state, on_progress } = self;
        let submitted = Instant::now();
        let id = JobId(inference.next_job.fetch_add(1, Ordering::Relaxed));
        let commands = inference.commands.clone();
        let doorbell = Doorbell::new(move || {
            // Where the thread has gone, its jobs have ended.
            let _ = commands.send(Command::LookAt(id));
        });
        let cancel = CancelToken::new(doorbell.clone());
        let channel = Arc::new(Channel::new(inference.stream_capacity, doorbell));
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
            cancel: cancel.clone(),
            output: OutStream(channel.clone()),
        };
        let result = panics::contain("the handler", || (inference.handler)(&context)).flatten();
        let started = started.close();

        let max_tokens = started.iter().map(|start| start.max_tokens).sum();
        let job = Arc::new(RunningJob::new(
            id,
            cancel.clone(),
            channel.clone(),
            submitted,
            started.len(),
            max_tokens,
            on_progress,
        ));
        if let Err(error) = result.and_then(|()| inference.enqueue(&job, started)) {
            job.fail(error);
        }
        Job { stream: JobStream::new(channel, cancel.clone()), cancel }
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
