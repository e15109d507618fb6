//! The model that answers.

use std::sync::Arc;
use std::time::Duration;

use slowburn::inference::{
    CancelToken, Completion, GenerateRequest, Inference, InferenceBuilder, Load, TokenOutput,
    streaming_handler,
};
use slowburn::kernels::BLOCK;
use slowburn::pretrained::Pretrained;
use slowburn::speculation::Speculation;
use slowburn::tokenizer::{AnswerPiece, ChatEnding, ChatOptions, END_OF_PARAGRAPH, Message};
use slowburn_examples::cli::{ChatArgument, chat_options};

use super::conversation::Answer;
use super::error::{Error, Result};
use super::settings::Settings;

/// A model, and the blocks of what it has read: a conversation that goes on begins with the same tokens,
/// so that only new ones are computed.
pub struct Speaker {
    pretrained: Arc<Pretrained>,
    inference: Inference<GenerateRequest, TokenOutput, Arc<Pretrained>>,
    /// Those of the chat template.
    arguments: Vec<ChatArgument>,
    /// The name of the adapter that answers are computed with.
    adapter: Option<String>,
}

/// An answer, and what it took.
#[derive(Debug)]
pub struct Reply {
    pub answer: Answer,
    /// How many of its tokens are what the model thought.
    pub thought_tokens: usize,
    pub completion: Completion,
}

impl Speaker {
    /// Starts the thread of a model.
    ///
    /// # Errors
    /// No further thread.
    pub fn new(
        pretrained: Pretrained,
        speculation: Option<Speculation>,
        arguments: Vec<ChatArgument>,
    ) -> Result<Self> {
        let pretrained = Arc::new(pretrained);
        let builder = InferenceBuilder::new().with_model(pretrained.clone());
        let builder = match speculation {
            Some(speculation) => builder.with_speculation(speculation),
            None => builder,
        };
        let inference = builder.build(streaming_handler)?;
        Ok(Self { pretrained, inference, arguments, adapter: None })
    }

    /// Answers with this adapter of the model from now on.
    pub fn with_adapter(mut self, name: Option<String>) -> Self {
        self.adapter = name;
        self
    }

    /// Computes two tokens for nothing, so that the first answer does not pay what comes once.
    ///
    /// # Errors
    /// A model that cannot generate.
    pub fn warm_up(&self) -> Result<Duration> {
        Ok(self.inference.warm_up()?)
    }

    /// Whether messages are written by a template of the model, or are paragraphs of one text.
    pub fn has_template(&self) -> bool {
        self.pretrained.tokenizer.has_chat_template()
    }

    /// The most tokens of a conversation.
    pub fn context(&self) -> usize {
        self.pretrained.model.config().context_length
    }

    /// What the model has computed so far, and has in memory.
    ///
    /// # Errors
    /// A model whose thread has ended.
    pub fn load(&self) -> Result<Load> {
        Ok(self.inference.load()?)
    }

    /// The tokens of these messages, up to where an answer begins.
    ///
    /// # Errors
    /// Messages that the template refuses; more than the context holds, beside one token of an answer.
    pub fn prompt(&self, messages: &[Message]) -> Result<Vec<u32>> {
        let ids = self.pretrained.conversation_ids(messages, &chat_options(&self.arguments))?;
        let (tokens, context) = (ids.len(), self.context());
        if tokens >= context {
            return Err(Error::ContextFull { tokens, context });
        }
        Ok(ids)
    }

    /// The number of tokens of these messages.
    ///
    /// # Errors
    /// Messages that the template refuses.
    pub fn count(&self, messages: &[Message]) -> Result<usize> {
        let options = ChatOptions { ending: ChatEnding::Message, ..chat_options(&self.arguments) };
        Ok(self.pretrained.conversation_ids(messages, &options)?.len())
    }

    /// Answers a prompt. `begun` gets what cancels the answer, and `heard` each piece, with the number of
    /// tokens that were thoughts so far.
    ///
    /// # Errors
    /// Settings out of their range; those of `heard`, which end the answer; a device that fails.
    pub fn answer(
        &self,
        prompt: Vec<u32>,
        settings: &Settings,
        begun: impl FnOnce(CancelToken),
        mut heard: impl FnMut(&AnswerPiece, usize) -> Result<()>,
    ) -> Result<Reply> {
        let mut thoughts = self.pretrained.tokenizer.thoughts_after(&prompt);
        let mut request = self.request(prompt, settings);
        if settings.max_reasoning_tokens.is_some() {
            if !thoughts.has_tokens() {
                return Err(Error::NoThoughts);
            }
            let budget = settings.max_reasoning_tokens;
            request.reasoning = thoughts.reasoning().map(|thought| thought.with_budget(budget));
        }
        let job = self.inference.infer(request).spawn();
        begun(job.cancel_token());
        let (mut text, mut thought) = (String::new(), String::new());
        let mut hear = |piece: AnswerPiece, thought_tokens: usize| {
            match &piece {
                AnswerPiece::Thought(piece) => thought.push_str(piece),
                AnswerPiece::Text(piece) => text.push_str(piece),
                // There are no functions here.
                AnswerPiece::Call(_) | AnswerPiece::Arguments(_) => {}
            }
            heard(&piece, thought_tokens)
        };
        for token in &job.stream {
            for piece in thoughts.push_token(token.token_id, &token.token) {
                hear(piece, thoughts.tokens())?;
            }
        }
        if let Some(piece) = thoughts.finish() {
            hear(piece, thoughts.tokens())?;
        }
        let completion = job.join()?;
        let thought = (!thought.is_empty()).then_some(thought);
        Ok(Reply {
            answer: Answer { text, thought },
            thought_tokens: thoughts.tokens(),
            completion,
        })
    }

    fn request(&self, prompt: Vec<u32>, settings: &Settings) -> GenerateRequest {
        // Where the KV cache holds less than the context, an answer that may be longer would be refused.
        let in_cache = self.pretrained.model.kv_pool().max_blocks().saturating_mul(BLOCK);
        let room = in_cache.saturating_sub(prompt.len()).max(1);
        let max_tokens = settings.max_tokens.unwrap_or(room);
        let request = GenerateRequest {
            adapter: self.adapter.clone(),
            ..GenerateRequest::new(prompt)
                .with_max_tokens(max_tokens)
                .with_sampling(settings.sampling.clone())
        };
        if self.has_template() {
            request
        } else {
            request.with_stop(END_OF_PARAGRAPH)
        }
    }
}
