//! Bugs of threads: what was forgotten, and what is done in the wrong order.

use super::planted::{Edit, Mutant, Suite};

pub const SUITE: Suite = Suite {
    name: "threads",
    tests: &["--package", "interleavings", "--test", "threads"],
    mutants: &MUTANTS,
};

const CANCEL: &str = "inference/cancel.rs";
const JOB: &str = "inference/job.rs";
const MODEL_HANDLE: &str = "inference/model_handle.rs";
const PERMITS: &str = "inference/permits.rs";
const SEQUENCE: &str = "inference/sequence.rs";
const STREAM: &str = "inference/stream.rs";

const MUTANTS: [Mutant; 18] = [
    Mutant {
        name: "a writer wakes nobody",
        test: "every_reader_gets_each_token",
        edits: &[Edit {
            file: STREAM,
            from: "        self.changed.notify_all();\n",
            to: "",
        }],
    },
    Mutant {
        name: "the end wakes one of two readers",
        test: "two_readers_of_one_stream",
        edits: &[Edit {
            file: STREAM,
            from: "self.changed.notify_all();",
            to: "self.changed.notify_one();",
        }],
    },
    Mutant {
        name: "a reader looks, unlocks, and then waits",
        test: "every_reader_gets_each_token",
        edits: &[Edit {
            file: STREAM,
            from: "        while state.must_wait() {\n            state = self.channel.wait(state);",
            to: "        while state.must_wait() {\n            drop(state);\n            state = self.channel.wait(self.channel.lock());",
        }],
    },
    Mutant {
        name: "a reader of an empty stream does not see the end",
        test: "every_reader_gets_each_token",
        edits: &[Edit {
            file: STREAM,
            from: "self.items.is_empty() && !self.ended",
            to: "self.items.is_empty()",
        }],
    },
    Mutant {
        name: "a stream ends before its outcome is there",
        test: "who_joins_need_not_read",
        edits: &[Edit {
            file: STREAM,
            from: "        state.outcome = Some(outcome);\n        self.notify(state);\n",
            to: "        self.notify(state);\n        self.lock().outcome = Some(outcome);\n",
        }],
    },
    Mutant {
        name: "a stream ends twice",
        test: "who_joins_need_not_read",
        edits: &[Edit {
            file: STREAM,
            from: "        if state.ended {\n            return;\n        }\n        state.ended = true;",
            to: "        state.ended = true;",
        }],
    },
    Mutant {
        name: "who reads a full stream does not ring",
        test: "every_reader_gets_each_token",
        edits: &[Edit {
            file: STREAM,
            from: "        if was_behind {\n            self.cancel.wake();\n        }\n",
            to: "        let _ = was_behind;\n",
        }],
    },
    Mutant {
        name: "who reads a full stream rings before there is room",
        test: "every_reader_gets_each_token",
        edits: &[Edit {
            file: STREAM,
            from: "        let item = state.items.pop_front();\n        drop(state);\n        if was_behind {\n            self.cancel.wake();\n        }\n        item",
            to: "        drop(state);\n        if was_behind {\n            self.cancel.wake();\n        }\n        self.lock().items.pop_front()",
        }],
    },
    Mutant {
        name: "a full stream does not pause its job",
        test: "a_stream_holds_no_more_than_its_capacity",
        edits: &[Edit {
            file: STREAM,
            from: "state.items.len() >= state.capacity",
            to: "state.items.len() > 2 * state.capacity",
        }],
    },
    Mutant {
        name: "who joins leaves the job paused",
        test: "who_joins_need_not_read",
        edits: &[Edit {
            file: STREAM,
            from: "        // The sequences may be paused because the stream was full.\n        self.channel.cancel.wake();\n",
            to: "",
        }],
    },
    Mutant {
        name: "a stream that is discarded fills up again",
        test: "who_joins_need_not_read",
        edits: &[Edit {
            file: STREAM,
            from: "        state.discarded = true;\n",
            to: "",
        }],
    },
    Mutant {
        name: "a job that is dropped runs on",
        test: "a_job_that_is_dropped_makes_room",
        edits: &[Edit {
            file: STREAM,
            from: "        if !self.channel.lock().ended {\n            self.channel.cancel.cancel();\n        }\n",
            to: "",
        }],
    },
    Mutant {
        name: "whoever polls is not woken",
        test: "whoever_polls_is_woken_for_each_token",
        edits: &[Edit {
            file: STREAM,
            from: "        let waker = state.waker.take();",
            to: "        let waker = state.waker.take().filter(|_| state.ended);",
        }],
    },
    Mutant {
        name: "the bell rings before the job is cancelled",
        test: "a_cancelled_job_makes_room",
        edits: &[Edit {
            file: CANCEL,
            from: "        if !self.cancelled.swap(true, Ordering::Relaxed) {\n            self.wake();\n        }",
            to: "        self.wake();\n        self.cancelled.store(true, Ordering::Relaxed);",
        }],
    },
    Mutant {
        name: "a job that is lost does not end",
        test: "shutting_down_ends_every_job",
        edits: &[Edit {
            file: JOB,
            from: "        self.reader.end(Err(ServiceError::ShutDown.into()));\n",
            to: "",
        }],
    },
    Mutant {
        name: "between a look at the queue and the next step, another takes the slot",
        test: "no_more_are_let_in_than_may_wait",
        edits: &[Edit {
            file: PERMITS,
            from: "        self.waiting.try_update(Ordering::Relaxed, Ordering::Relaxed, with_new).map_err(\n            |waiting| Error::Service(ServiceError::QueueFull { max_waiting, waiting, new }),\n        )?;\n",
            to: "        let waiting = self.waiting.load(Ordering::Relaxed);\n        let sum = with_new(waiting).ok_or(Error::Service(ServiceError::QueueFull { max_waiting, waiting, new }))?;\n        self.waiting.store(sum, Ordering::Relaxed);\n",
        }],
    },
    Mutant {
        name: "a slot is free only after the completion",
        test: "who_sees_a_completion_finds_its_slot_free",
        edits: &[Edit {
            file: SEQUENCE,
            from: "        // Freed before the completion, so that a caller that sees it can use the slot.\n        self.permit = None;\n",
            to: "",
        }],
    },
    Mutant {
        name: "a sequence that is started too late is lost",
        test: "a_sequence_that_is_started_late",
        edits: &[Edit {
            file: MODEL_HANDLE,
            from: "        started.take().unwrap_or_default()",
            to: "        started.as_mut().map(std::mem::take).unwrap_or_default()",
        }],
    },
];
