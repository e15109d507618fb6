//! The JSON that goes in and out. Unknown fields are ignored, as clients send fields of other
//! servers, unless they are [`unsupported`](super::unsupported); null is as good as leaving a field
//! out.

mod adapter;
mod chat;
mod completion;
mod embeddings;
mod format;
mod generate;
mod info;
mod logprobs;
mod model;
mod options;
mod prompt;
mod response_items;
mod responses;
mod sglang;
mod template;
mod tokenize;
mod tools;
mod usage;

pub use adapter::{LoadAdapterRequest, UnloadAdapterRequest};
pub use chat::{
    ChatChoice, ChatChunkChoice, ChatCompletion, ChatCompletionRequest, ChatMessage, Content,
    Delta, ReplyMessage, WireRole,
};
pub use completion::{Completion, CompletionChoice, CompletionRequest};
pub use embeddings::{
    Embedding, EmbeddingInput, Embeddings, EmbeddingsRequest, EmbeddingsUsage, EncodingFormat,
    MAX_INPUTS, WireVector,
};
pub use format::{FormatOptions, ResponseFormat, StructuredOutputs};
pub use generate::{
    Candidate, Candidates, CandidatesRequest, GenerateBody, Generated, GeneratedEnd, StreamedToken,
};
pub use info::{
    DefaultParams, DefaultSettings, Modalities, ModelInfo, Props, ServerInfo, Version, WorkerLoad,
};
pub use logprobs::{ChatLogprobs, ChatTokenLogprob, CompletionLogprobs, TopLogprob};
pub use model::{ModelList, ModelObject};
pub use options::{Chunk, SamplingOptions, StreamOptions, WithFormat, WithSampling};
pub(super) use options::{MAX_STOPS, NO_LIMIT};
pub use prompt::PromptInput;
pub use response_items::{
    CallType, InputCall, InputCallOutput, InputMessage, InputThought, OutputCall, OutputItem,
    OutputMessage, OutputText, OutputThought, ResponseStatus, ThoughtText, ThoughtTextType,
    ThoughtType,
};
pub use responses::{
    EventBody, EventPart, Incomplete, ResponseEvent, ResponseObject, ResponseRequest,
};
pub use sglang::{
    SglangFinish, SglangGenerated, SglangLogprob, SglangMeta, SglangPrompt, SglangRequest,
    SglangSampling,
};
pub use template::{DescribedChat, DescribedTokenize, TemplateOptions};
pub use tokenize::{
    DetokenizeRequest, Detokenized, Piece, TokenList, TokenPiece, TokenizeRequest, Tokenized,
};
pub use tools::{
    FlatToolChoice, FunctionDelta, SentToolCall, Tool, ToolCallDelta, ToolChoice, ToolKind,
    ToolMode, WireFunctionCall, WireToolCall,
};
pub use usage::{WireFinish, WireUsage};
