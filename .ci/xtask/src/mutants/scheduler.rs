//! Bugs of the scheduler that others had.

use super::planted::{Edit, Mutant, Suite};

pub const SUITE: Suite = Suite {
    name: "scheduler",
    // The library without its features: nothing else is compiled.
    tests: &[
        "--package",
        "slowburn",
        "--no-default-features",
        "--test",
        "scheduler",
    ],
    mutants: &MUTANTS,
};

/// The test that must find all of them.
const TEST: &str = "random_events";

const MANAGER: &str = "kv/manager.rs";
const PLANNING: &str = "engine/planning.rs";
const POOL: &str = "kv/pool.rs";
const PREFIX: &str = "kv/prefix.rs";
const SCHEDULER: &str = "engine/scheduler.rs";
const SEQUENCE: &str = "engine/sequence.rs";

const MUTANTS: [Mutant; 24] = [
    Mutant {
        name: "a prefix hit on the whole prompt leaves no token to compute (nano-vllm #144)",
        test: TEST,
        edits: &[Edit {
            file: MANAGER,
            from: "while end + size < tokens.len()",
            to: "while end + size <= tokens.len()",
        }],
    },
    Mutant {
        name: "a block that was evicted can still be found",
        test: TEST,
        edits: &[Edit {
            file: PREFIX,
            from: "(entry.block, entry.evictable_since) = (None, None);",
            to: "entry.evictable_since = None;",
        }],
    },
    Mutant {
        name: "a prefix hit lacks blocks of the window",
        test: TEST,
        edits: &[Edit {
            file: MANAGER,
            from: "if complete_from <= skipped {",
            to: "if complete_from <= end {",
        }],
    },
    Mutant {
        name: "the last position of the window is given back",
        test: TEST,
        edits: &[Edit {
            file: MANAGER,
            from: "(length + 1).saturating_sub(window) / self.block_size",
            to: "(length + 2).saturating_sub(window) / self.block_size",
        }],
    },
    Mutant {
        name: "what an admission takes back still counts as skipped",
        test: TEST,
        edits: &[Edit {
            file: MANAGER,
            from: "        table.first -= skipped;\n",
            to: "",
        }],
    },
    Mutant {
        name: "a preempted sequence keeps its block table",
        test: TEST,
        edits: &[Edit {
            file: MANAGER,
            from: "let BlockTable { blocks, .. } = std::mem::replace(table, empty);",
            to: "let (blocks, _) = (table.blocks.clone(), empty);",
        }],
    },
    Mutant {
        name: "prompts come before decodes",
        test: TEST,
        edits: &[Edit {
            file: PLANNING,
            from: "} else if self.sequences[&id].decodes() {",
            to: "} else if self.sequences[&id].decodes() && self.queued.is_empty() {",
        }],
    },
    Mutant {
        name: "a block is given up while others hold it",
        test: TEST,
        edits: &[Edit {
            file: MANAGER,
            from: "if self.ref_count(&block) > 1 {",
            to: "if self.ref_count(&block) > usize::MAX - 1 {",
        }],
    },
    Mutant {
        name: "two blocks of the pool have one number",
        test: TEST,
        edits: &[Edit {
            file: POOL,
            from: "let next = usage.blocks + usage.spare.len();",
            to: "let next = usage.blocks;",
        }],
    },
    Mutant {
        name: "a hash ignores the parent",
        test: TEST,
        edits: &[
            Edit {
                file: PREFIX,
                from: "(parent, tokens).hash(&mut hasher);",
                to: "(parent.min(0), tokens).hash(&mut hasher);",
            },
            Edit {
                file: PREFIX,
                from: "let is_hit = entry.parent == parent && *entry.tokens == *tokens;",
                to: "let is_hit = *entry.tokens == *tokens;",
            },
        ],
    },
    Mutant {
        name: "a hash collides, and the tokens are not compared",
        test: TEST,
        edits: &[
            Edit {
                file: PREFIX,
                from: "    hasher.finish()\n",
                to: "    hasher.finish() % 64\n",
            },
            Edit {
                file: PREFIX,
                from: "let is_hit = entry.parent == parent && *entry.tokens == *tokens;",
                to: "let is_hit = true;",
            },
        ],
    },
    Mutant {
        name: "a block in use stays on the list of those to evict",
        test: TEST,
        edits: &[Edit {
            file: PREFIX,
            from: "self.evictable.remove(&since);",
            to: "let _ = since;",
        }],
    },
    Mutant {
        name: "a shared block is appended after one that is not full",
        test: TEST,
        edits: &[Edit {
            file: MANAGER,
            from: "if !table.length.is_multiple_of(size) || table.end() != table.length / size {",
            to: "if size == 0 {",
        }],
    },
    Mutant {
        name: "the oldest is preempted",
        test: TEST,
        edits: &[Edit {
            file: PLANNING,
            from: "self.running.last().copied().filter(|&last| last > id)",
            to: "self.running.first().copied().filter(|&last| last != id)",
        }],
    },
    Mutant {
        name: "a sequence that leaves keeps its blocks",
        test: TEST,
        edits: &[Edit {
            file: SCHEDULER,
            from: "self.sequences.remove(&id) {\n            self.blocks.release(&mut sequence.table);",
            to: "self.sequences.remove(&id) {\n            sequence.cached = 0;",
        }],
    },
    Mutant {
        name: "later sequences are admitted before the first in the queue",
        test: TEST,
        edits: &[Edit {
            file: PLANNING,
            from: "self.queued.first()",
            to: "self.queued.last()",
        }],
    },
    Mutant {
        name: "a prompt that is scored takes blocks of the prefix cache",
        test: TEST,
        edits: &[Edit {
            file: SEQUENCE,
            from: "self.scored == self.prompt",
            to: "self.scored <= self.prompt",
        }],
    },
    Mutant {
        name: "a prompt that is computed again is scored again",
        test: TEST,
        edits: &[Edit {
            file: SCHEDULER,
            from: "chunk.positions.start.max(sequence.scored)",
            to: "chunk.positions.start",
        }],
    },
    Mutant {
        name: "rejected draft tokens keep their blocks",
        test: TEST,
        edits: &[Edit {
            file: SCHEDULER,
            from: "self.blocks.truncate(&mut sequence.table);",
            to: "sequence.draft.clear();",
        }],
    },
    Mutant {
        name: "draft tokens are registered in the prefix cache before they are accepted",
        test: TEST,
        edits: &[
            Edit {
                file: SCHEDULER,
                from: "self.blocks.commit(&mut sequence.table, &sequence.tokens[..end]);",
                to: "let all = [&sequence.tokens[..end], &sequence.draft[..*drafted]].concat();\n\
                self.blocks.commit(&mut sequence.table, &all);\n\
                sequence.table.set_length(end);",
            },
            Edit {
                file: "kv/block.rs",
                from: "    pub(super) fn last_link(",
                to: "    pub(crate) fn set_length(&mut self, length: usize) {\n        self.length = length;\n    }\n\n    pub(super) fn last_link(",
            },
        ],
    },
    Mutant {
        name: "a draft token that is another one is accepted",
        test: TEST,
        edits: &[Edit {
            file: SCHEDULER,
            from: "if sequence.unchecked.front() == Some(&token) {",
            to: "if !sequence.unchecked.is_empty() {",
        }],
    },
    Mutant {
        name: "nobody knows of a prompt that is about to be admitted",
        test: TEST,
        edits: &[Edit {
            file: PLANNING,
            from: "next.is_some_and(has_blocks) || self.running",
            to: "(next.is_some_and(has_blocks) && false) || self.running",
        }],
    },
    Mutant {
        name: "draft tokens exceed the token budget",
        test: TEST,
        edits: &[Edit {
            file: PLANNING,
            from: "            left -= drafted;\n            chunk.positions.end += drafted;",
            to: "            chunk.positions.end += drafted;",
        }],
    },
    Mutant {
        name: "the keys and values of an accepted token do not count",
        test: TEST,
        edits: &[Edit {
            file: SCHEDULER,
            from: "self.blocks.commit(&mut sequence.table, &sequence.tokens);",
            to: "sequence.draft.clear();",
        }],
    },
];
