//! The model behind the routes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jiff::Zoned;
use slowburn::constrained::Constraint;
use slowburn::error::{RequestError, Result};
use slowburn::inference::{
    GenerateRequest, In, Inference, InferenceBuilder, ModelHandle, OutStream, Prompt,
};
use slowburn::kernels::BLOCK;
use slowburn::pretrained::Pretrained;
use slowburn::tokenizer::{ChatOptions, Message, TextOptions};
use tokio::sync::Semaphore;

use super::Settings;
use super::blocking::blocking;
use super::error::ApiError;
use super::tools;
use super::updates::Update;
use super::wire::Tool;

/// The sequences of one request, each with its index.
#[derive(Clone)]
pub(super) struct Sequences {
    pub(super) requests: Arc<[GenerateRequest]>,
    /// Which texts are allowed.
    pub(super) constraint: Option<Constraint>,
}

type ServeInference = Inference<Sequences, (usize, Update), Arc<Pretrained>>;

/// A model that serves requests.
pub(super) struct Service {
    pub(super) pretrained: Arc<Pretrained>,
    pub(super) inference: ServeInference,
    /// One request at a time reads a text to embed.
    pub(super) embedding_turn: Semaphore,
    /// Few grammars at a time are compiled: each may take tens of megabytes and a core.
    pub(super) compile_turns: Arc<Semaphore>,
    /// Whether a grammar has been compiled, or a text has followed one, since memory was given back.
    pub(super) has_used_grammar: AtomicBool,
    /// The longest that a request may take.
    pub(super) request_timeout: Duration,
    /// One request at a time finds the tokens of a text for their own sake.
    pub(super) tokenizing_turn: Arc<Semaphore>,
}

/// How many grammars are compiled at a time.
pub(super) const COMPILE_TURNS: usize = 2;

impl Service {
    /// Loads the model and starts its thread.
    ///
    /// # Errors
    /// A model that cannot be loaded; a device that cannot be used.
    pub(super) fn load(settings: &Settings) -> slowburn_flags::Result<Self> {
        let (pretrained, _) = settings.model.load()?;
        let (pretrained, speculation) =
            settings.speculate.speculation(&settings.model, pretrained)?;
        settings.adapters.load(&pretrained)?;
        let pretrained = Arc::new(pretrained);
        let size = |setting: u64| usize::try_from(setting).unwrap_or(usize::MAX);
        let builder = InferenceBuilder::new()
            .with_model(pretrained.clone())
            .with_max_running(size(settings.max_running))
            .with_max_waiting(size(settings.max_waiting))
            .with_token_budget(size(settings.token_budget))
            .with_prefix_cache(!settings.no_prefix_cache);
        let builder = match speculation {
            Some(speculation) => builder.with_speculation(speculation),
            None => builder,
        };
        let inference = builder.build(handler)?;
        inference.warm_up()?;
        Ok(Self {
            pretrained,
            inference,
            embedding_turn: Semaphore::new(1),
            compile_turns: Arc::new(Semaphore::new(COMPILE_TURNS)),
            has_used_grammar: AtomicBool::new(false),
            request_timeout: settings.request_timeout.0,
            tokenizing_turn: Arc::new(Semaphore::new(1)),
        })
    }

    /// The most tokens of prompt and completion together.
    pub(super) fn context_length(&self) -> usize {
        self.pretrained.model.config().context_length
    }

    /// The most tokens that the KV cache holds, of one sequence alone.
    pub(super) fn max_cached_tokens(&self) -> usize {
        self.pretrained.model.kv_pool().most_blocks_of_a_sequence().saturating_mul(BLOCK)
    }

    /// Checks a prompt, and that the KV cache has room for one token more, where any is asked for: if not,
    /// no smaller `max_tokens` would do.
    pub(super) fn check_prompt(&self, ids: &[u32], max_tokens: usize) -> Result<()> {
        self.pretrained.model.check_prompt(ids)?;
        let capacity = self.max_cached_tokens();
        if ids.len().saturating_add(max_tokens.min(1)) > capacity {
            let tokens = ids.len().saturating_add(max_tokens);
            return Err(RequestError::KvPoolTooSmall { tokens, capacity }.into());
        }
        Ok(())
    }

    /// Writes a prompt to the log, as text.
    pub(super) fn log_prompt(&self, request: &GenerateRequest) {
        match &request.prompt {
            Prompt::Text(prompt) => tracing::info!(prompt, "asked"),
            Prompt::Ids(ids) => {
                let prompt = self.pretrained.tokenizer.decode(ids).unwrap_or_default();
                tracing::info!(prompt, "asked");
            }
        }
    }

    /// A token as text. A token that is a part of a character has U+FFFD in its place, and a
    /// special token its name: `<|end|>`.
    pub(super) fn token_text(&self, id: u32) -> String {
        let tokenizer = &self.pretrained.tokenizer;
        match tokenizer.token_bytes(id) {
            Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            None => tokenizer.token(id).unwrap_or_default(),
        }
    }

    /// The token ids of a prompt.
    pub(super) async fn prompt_ids(self: &Arc<Self>, text: String) -> Result<Vec<u32>, ApiError> {
        let service = self.clone();
        Ok(blocking(move || service.pretrained.prompt_ids(&text)).await??)
    }

    /// The token ids of a text, as the options say. An empty one becomes the begin-of-sequence token.
    pub(super) fn text_ids(&self, text: &str, options: TextOptions) -> Result<Vec<u32>> {
        let ids = self.pretrained.text_ids(text, options)?;
        if ids.is_empty() {
            return self.pretrained.prompt_ids("");
        }
        Ok(ids)
    }

    /// The token ids of a conversation. A model without a chat template, such as the bundled one,
    /// continues the texts of the messages, each a paragraph. A template sees the tools, if it knows any.
    pub(super) fn chat_ids(
        &self,
        messages: &[Message],
        tools: &[Tool],
        mut options: ChatOptions,
    ) -> Result<Vec<u32>, ApiError> {
        let Pretrained { tokenizer, .. } = &*self.pretrained;
        if !tokenizer.has_chat_template() {
            let messages: Vec<Message> = messages.iter().map(tools::in_text).collect();
            return Ok(self.pretrained.conversation_ids(&messages, &options)?);
        }
        options.now = Some(Zoned::now().datetime());
        if !tools.is_empty() {
            let tools = serde_json::to_value(tools).and_then(serde_json::from_value);
            options.variables.insert("tools".to_owned(), tools.map_err(ApiError::internal)?);
        }
        Ok(self.pretrained.chat_ids(messages, &options)?)
    }

    /// As [`chat_ids`](Self::chat_ids). An error names the `field` of the request that the conversation
    /// is in.
    pub(super) async fn conversation_ids(
        self: &Arc<Self>,
        field: &str,
        messages: Vec<Message>,
        tools: Vec<Tool>,
        options: ChatOptions,
    ) -> Result<Vec<u32>, ApiError> {
        let service = self.clone();
        let ids = blocking(move || service.chat_ids(&messages, &tools, options)).await?;
        ids.map_err(|error| error.with_param(field))
    }
}

// ANCHOR: handler
/// Starts the sequences of a request, and emits of each, with its index: that its prompt is read,
/// its tokens, and its end.
fn handler(
    In(Sequences { requests, constraint }): In<Sequences>,
    model: ModelHandle<Arc<Pretrained>>,
    output: OutStream<(usize, Update)>,
) -> Result<()> {
    for (index, request) in requests.iter().enumerate() {
        let (prompt, tokens, end) = (output.clone(), output.clone(), output.clone());
        model
            .prepare(request)?
            .with_constraint(constraint.clone())
            .on_prefill(move |prefill| {
                let _ = prompt.emit((index, Update::Prompt(prefill.clone())));
            })
            .on_end(move |completion| {
                let _ = end.emit((index, Update::End(completion.clone())));
            })
            .start(move |token| tokens.emit((index, Update::Token(token))))?;
    }
    Ok(())
}
// ANCHOR_END: handler
