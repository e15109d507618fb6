//! Metrics in the text format of Prometheus.

use std::sync::Arc;
use std::time::Instant;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use slowburn::error::{Error, ServiceError};
use slowburn::inference::{Completion, FinishReason, Load, Prefill, Usage};
use tracing::Span;

/// The upper bounds of the buckets, in seconds.
const TTFT: [f64; 12] = [
    0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0,
];
const INTER_TOKEN: [f64; 12] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0,
];
const END_TO_END: [f64; 12] = [
    0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 60.0, 300.0,
];

/// The labels of a finished HTTP request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RequestLabels {
    pub(super) method: String,
    /// The pattern of the route, so that there are only as many as routes.
    pub(super) route: String,
    pub(super) status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FinishLabels {
    finish_reason: &'static str,
}

/// All metrics. Clones count together.
#[derive(Clone)]
pub(super) struct Metrics(Arc<All>);

struct All {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    finished: Family<FinishLabels, Counter>,
    prompt_tokens: Counter,
    cached_tokens: Counter,
    generation_tokens: Counter,
    ttft: Histogram,
    inter_token: Histogram,
    end_to_end: Histogram,
    engine: EngineMetrics,
}

/// What the engine reports between two steps.
#[derive(Default)]
struct EngineMetrics {
    running: Gauge,
    paused: Gauge,
    waiting: Gauge,
    blocks_used: Gauge,
    blocks_cached: Gauge,
    blocks_free: Gauge,
    kv_bytes: Gauge,
    preemptions: Counter,
    prefix_lookups: Counter,
    prefix_hits: Counter,
    prefix_evictions: Counter,
    steps: Counter,
    drafted: Counter,
    accepted: Counter,
    memory: Gauge,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let mut registry = Registry::with_prefix("slowburn");
        let requests = Family::default();
        let finished = Family::default();
        let (prompt_tokens, cached_tokens) = (Counter::default(), Counter::default());
        let generation_tokens = Counter::default();
        let ttft = Histogram::new(TTFT);
        let inter_token = Histogram::new(INTER_TOKEN);
        let end_to_end = Histogram::new(END_TO_END);
        let engine = EngineMetrics::default();

        registry.register("http_requests", "HTTP requests that were answered", requests.clone());
        registry.register("sequences_finished", "Sequences that ended", finished.clone());
        registry.register("prompt_tokens", "Tokens of prompts", prompt_tokens.clone());
        registry.register(
            "prompt_tokens_cached",
            "Tokens of prompts that the prefix cache spared",
            cached_tokens.clone(),
        );
        registry.register("generation_tokens", "Tokens generated", generation_tokens.clone());
        let mut seconds = |name, help, histogram: &Histogram| {
            registry.register_with_unit(name, help, Unit::Seconds, histogram.clone());
        };
        seconds("time_to_first_token", "From the queue to the first token of a sequence", &ttft);
        seconds("inter_token_latency", "Between two tokens of a sequence", &inter_token);
        seconds("request_latency", "From the queue to the end of a sequence", &end_to_end);
        engine.register(&mut registry);
        Self(Arc::new(All {
            registry,
            requests,
            finished,
            prompt_tokens,
            cached_tokens,
            generation_tokens,
            ttft,
            inter_token,
            end_to_end,
            engine,
        }))
    }

    /// Counts an HTTP request that was answered.
    pub(super) fn count_request(&self, labels: &RequestLabels) {
        self.0.requests.get_or_create(labels).inc();
    }

    /// Counts tokens of a text that is read for its vector, and belongs to no sequence.
    pub(super) fn count_embedded(&self, tokens: usize) {
        self.0.prompt_tokens.inc_by(tokens as u64);
    }

    /// All metrics as text, with the current load of the engine.
    pub(super) fn text(&self, load: Option<&Load>) -> Result<String, std::fmt::Error> {
        if let Some(load) = load {
            self.0.engine.set(load);
        }
        let memory = memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem);
        self.0.engine.memory.set(i64::try_from(memory).unwrap_or(i64::MAX));
        let mut text = String::new();
        encode(&mut text, &self.0.registry)?;
        Ok(text)
    }

    fn count_finish(&self, finish_reason: &'static str) {
        self.0.finished.get_or_create(&FinishLabels { finish_reason }).inc();
    }
}

impl EngineMetrics {
    fn register(&self, registry: &mut Registry) {
        for (name, help, gauge) in [
            ("sequences_running", "Running sequences", &self.running),
            (
                "sequences_paused",
                "Admitted sequences that do not run: paused or preempted",
                &self.paused,
            ),
            ("sequences_waiting", "Queued sequences", &self.waiting),
            ("kv_blocks_used", "KV cache blocks that sequences hold", &self.blocks_used),
            (
                "kv_blocks_cached",
                "KV cache blocks of the prefix cache alone",
                &self.blocks_cached,
            ),
            ("kv_blocks_free", "KV cache blocks that are free", &self.blocks_free),
        ] {
            registry.register(name, help, gauge.clone());
        }
        for (name, help, counter) in [
            ("preemptions", "Sequences preempted", &self.preemptions),
            (
                "prefix_cache_lookups",
                "Blocks looked up in the prefix cache",
                &self.prefix_lookups,
            ),
            ("prefix_cache_hits", "Blocks found in the prefix cache", &self.prefix_hits),
            ("prefix_cache_evictions", "Blocks evicted from it", &self.prefix_evictions),
            ("steps", "Steps of the engine", &self.steps),
            ("draft_tokens", "Draft tokens computed", &self.drafted),
            ("draft_tokens_accepted", "Draft tokens accepted", &self.accepted),
        ] {
            registry.register(name, help, counter.clone());
        }
        let mut bytes = |name, help, gauge: &Gauge| {
            registry.register_with_unit(name, help, Unit::Bytes, gauge.clone());
        };
        bytes("kv_cache", "Memory of the KV cache blocks that sequences hold", &self.kv_bytes);
        bytes("process_resident_memory", "Memory of the process", &self.memory);
    }

    fn set(&self, load: &Load) {
        let gauge = |gauge: &Gauge, value: usize| {
            gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        };
        gauge(&self.running, load.running);
        gauge(&self.paused, load.paused);
        gauge(&self.waiting, load.waiting);
        gauge(&self.blocks_used, load.kv_blocks.used);
        gauge(&self.blocks_cached, load.kv_blocks.cached);
        gauge(&self.blocks_free, load.kv_blocks.free);
        gauge(&self.kv_bytes, load.kv_cache_bytes);
        raise(&self.preemptions, load.engine.preemptions);
        raise(&self.prefix_lookups, load.prefix_cache.lookups);
        raise(&self.prefix_hits, load.prefix_cache.hits);
        raise(&self.prefix_evictions, load.prefix_cache.evictions);
        raise(&self.steps, load.engine.steps);
        raise(&self.drafted, load.engine.drafted_tokens);
        raise(&self.accepted, load.engine.accepted_tokens);
    }
}

/// Sets a counter that is counted elsewhere. Of two scrapes at once, the later value stays.
fn raise(counter: &Counter, value: u64) {
    counter.inner().fetch_max(value, std::sync::atomic::Ordering::Relaxed);
}

/// The tokens and times of one request, counted as they come. A request that is dropped before its
/// end was cancelled.
pub(super) struct RequestMetrics {
    metrics: Metrics,
    start: Instant,
    /// The line of the log that the request gets at its end.
    span: Span,
    sequences: Vec<SequenceMetrics>,
    /// How many of them have not ended.
    open: usize,
}

/// What one sequence of a request has had.
#[derive(Debug, Clone, Copy, Default)]
struct SequenceMetrics {
    /// The tokens that are in the counters.
    counted: Usage,
    /// The time of its last token.
    last: Option<Instant>,
}

impl RequestMetrics {
    pub(super) fn start(metrics: Metrics, sequences: usize) -> Self {
        Self {
            metrics,
            start: Instant::now(),
            span: Span::current(),
            sequences: vec![SequenceMetrics::default(); sequences],
            open: sequences,
        }
    }

    /// The prompt of the sequence at `index` is read.
    pub(super) fn prefill(&mut self, index: usize, prefill: &Prefill) {
        let Prefill { prompt_tokens, cached_tokens, .. } = *prefill;
        let counted = self.sequences[index].counted;
        self.count(index, Usage { prompt_tokens, cached_tokens, ..counted });
    }

    /// A token of the sequence at `index`.
    pub(super) fn token(&mut self, index: usize) {
        let (now, all) = (Instant::now(), &self.metrics.0);
        match self.sequences[index].last.replace(now) {
            None => all.ttft.observe((now - self.start).as_secs_f64()),
            Some(last) => all.inter_token.observe((now - last).as_secs_f64()),
        }
        let counted = self.sequences[index].counted;
        let completion_tokens = counted.completion_tokens + 1;
        self.count(index, Usage { completion_tokens, ..counted });
    }

    /// The end of the sequence at `index`.
    pub(super) fn end(&mut self, index: usize, completion: &Completion) {
        self.open -= 1;
        self.metrics.0.end_to_end.observe(completion.timings.total.as_secs_f64());
        // What was not counted yet: the prompt of a sequence without tokens.
        self.count(index, completion.usage);
        let finish_reason = finish_name(&completion.finish_reason);
        self.metrics.count_finish(finish_reason);
        if self.open == 0 {
            self.log(finish_reason);
        }
    }

    /// Counts the tokens of the sequence at `index` that have come since the last time.
    fn count(&mut self, index: usize, usage: Usage) {
        let all = &self.metrics.0;
        let counted = std::mem::replace(&mut self.sequences[index].counted, usage);
        let count = |counter: &Counter, now: usize, before: usize| {
            counter.inc_by(now.saturating_sub(before) as u64);
        };
        count(&all.prompt_tokens, usage.prompt_tokens, counted.prompt_tokens);
        count(&all.cached_tokens, usage.cached_tokens, counted.cached_tokens);
        count(&all.generation_tokens, usage.completion_tokens, counted.completion_tokens);
    }

    fn log(&self, finish_reason: &str) {
        let counted = || self.sequences.iter().map(|sequence| sequence.counted);
        let prompt_tokens: usize = counted().map(|usage| usage.prompt_tokens).sum();
        let completion_tokens: usize = counted().map(|usage| usage.completion_tokens).sum();
        self.span.record("prompt_tokens", prompt_tokens);
        self.span.record("completion_tokens", completion_tokens);
        self.span.record("finish_reason", finish_reason);
    }

    /// The request has failed, with all of its sequences that have not ended. That the queue was
    /// full is load, and no failure of the server.
    pub(super) fn fail(&mut self, error: &Error) {
        self.end_all(match error {
            Error::Service(ServiceError::QueueFull { .. }) => "queue_full",
            Error::Service(ServiceError::ShutDown) => "shutdown",
            _ => "error",
        });
    }

    fn end_all(&mut self, finish_reason: &'static str) {
        if self.open > 0 {
            self.log(finish_reason);
        }
        for _ in 0..std::mem::take(&mut self.open) {
            self.metrics.count_finish(finish_reason);
        }
    }
}

impl Drop for RequestMetrics {
    fn drop(&mut self) {
        self.end_all("cancelled");
    }
}

/// A finish reason as a word.
pub(super) fn finish_name(reason: &FinishReason) -> &'static str {
    match reason {
        FinishReason::Eos => "eos",
        FinishReason::StopId(_) => "stop_id",
        FinishReason::StopString(_) => "stop_string",
        FinishReason::Length => "length",
        FinishReason::Context => "context",
        FinishReason::Stopped => "stopped",
        FinishReason::Deadline => "deadline",
        FinishReason::Cancelled => "cancelled",
        FinishReason::Shutdown => "shutdown",
    }
}
