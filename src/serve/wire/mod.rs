//! The JSON that goes in and out. Unknown fields are ignored, as clients send fields of other
//! servers; null is as good as leaving a field out.

mod chat;
mod completion;
mod generate;
mod logprobs;
mod model;
mod options;
mod prompt;
mod tokenize;
mod usage;

pub use chat::{
    ChatChoice, ChatChunk, ChatChunkChoice, ChatCompletion, ChatCompletionRequest, ChatMessage,
    Content, Delta, ReplyMessage,
};
pub use completion::{Completion, CompletionChoice, CompletionChunk, CompletionRequest};
pub use generate::{
    Candidate, Candidates, CandidatesRequest, GenerateBody, Generated, GeneratedEnd, StreamedToken,
};
pub use logprobs::{ChatLogprobs, ChatTokenLogprob, CompletionLogprobs, TopLogprob};
pub use model::{ModelList, ModelObject};
pub(super) use options::MAX_STOPS;
pub use options::{SamplingOptions, StreamOptions, WithSampling};
pub use prompt::PromptInput;
pub use tokenize::{DetokenizeRequest, Detokenized, TokenizeRequest, Tokenized};
pub use usage::{WireFinish, WireUsage};
