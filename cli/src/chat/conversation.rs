//! The state of a conversation: its turns, and what can be done with them.

use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use slowburn::tokenizer::{Message, Role};

/// What the model has answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    /// What it thought before.
    pub thought: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Turn {
    question: String,
    answer: Answer,
}

/// What is to be answered next. The conversation changes only once there is an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub text: String,
    /// The turns before it.
    turns: usize,
}

/// A system message, and turns of a question and its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    pub system: Option<String>,
    turns: Vec<Turn>,
    /// A question behind the turns to which there was no answer.
    unanswered: Option<String>,
}

/// What is wrong with the JSON of a conversation.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    #[error("{}", place_of(.0))]
    Json(#[from] serde_json::Error),

    #[error(
        "message {number} is by the {found}, but must be by the {expected}: a system message may come first, then user and assistant take turns"
    )]
    Order {
        number: usize,
        found: &'static str,
        expected: &'static str,
    },
}

/// Where JSON is no list of messages. What `serde_json` says of it is for programmers.
fn place_of(error: &serde_json::Error) -> String {
    let problem = match error.classify() {
        Category::Eof => "it ends early, in",
        Category::Syntax | Category::Io => "it is not JSON, in",
        Category::Data => {
            "a message needs role and content, may have reasoning_content, and nothing else, in"
        }
    };
    format!("{problem} line {}, column {}", error.line(), error.column())
}

/// A message in a file, as in OpenAI's API.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    role: Role,
    content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
}

impl Conversation {
    /// Asks something new.
    pub fn ask(&self, text: impl Into<String>) -> Question {
        Question { text: text.into(), turns: self.turns.len() }
    }

    /// Asks again what had no answer, or what was answered last. None before the first question.
    pub fn again(&self) -> Option<Question> {
        match (&self.unanswered, self.turns.split_last()) {
            (Some(text), _) => Some(self.ask(text)),
            (None, Some((last, before))) => {
                Some(Question { text: last.question.clone(), turns: before.len() })
            }
            (None, None) => None,
        }
    }

    /// The messages that lead to an answer.
    pub fn messages(&self, question: &Question) -> Vec<Message> {
        let mut messages = self.first(question.turns);
        messages.push(Message::new(Role::User, &question.text));
        messages
    }

    /// The messages of all turns.
    pub fn all(&self) -> Vec<Message> {
        self.first(self.turns.len())
    }

    fn first(&self, turns: usize) -> Vec<Message> {
        let system = self.system.iter().map(|text| Message::new(Role::System, text));
        let turns = self.turns.iter().take(turns).flat_map(|Turn { question, answer }| {
            let reasoning = answer.thought.clone();
            let answer = Message { reasoning, ..Message::new(Role::Assistant, &answer.text) };
            [Message::new(Role::User, question), answer]
        });
        system.chain(turns).collect()
    }

    /// How many questions were answered.
    pub fn turns(&self) -> usize {
        self.turns.len()
    }

    /// Adds an answer. That of a question [asked again](Self::again) stands in the place of the one
    /// before.
    pub fn answer(&mut self, question: Question, answer: Answer) {
        self.turns.truncate(question.turns);
        self.turns.push(Turn { question: question.text, answer });
        self.unanswered = None;
    }

    /// Keeps a question without an answer, so that it can be asked again. What was answered before, and is
    /// asked again, keeps its answer.
    pub fn fail(&mut self, question: Question) {
        if question.turns == self.turns.len() {
            self.unanswered = Some(question.text);
        }
    }

    /// Takes back the question without an answer, or the last turn. Returns the question.
    pub fn undo(&mut self) -> Option<String> {
        self.unanswered.take().or_else(|| Some(self.turns.pop()?.question))
    }

    /// Takes back everything but the system message.
    pub fn clear(&mut self) {
        self.turns.clear();
        self.unanswered = None;
    }

    /// The messages as JSON: a list, as in OpenAI's API.
    pub fn to_json(&self) -> String {
        let mut messages: Vec<Saved> = self.all().into_iter().map(saved).collect();
        let unanswered = self.unanswered.iter();
        messages.extend(unanswered.map(|text| saved(Message::new(Role::User, text))));
        // Strings in a list are JSON always.
        serde_json::to_string_pretty(&messages).unwrap_or_default() + "\n"
    }

    /// Reads what [`to_json`](Self::to_json) wrote, or a program of somebody else.
    ///
    /// # Errors
    /// What is not a list of messages; messages whose authors do not take turns.
    pub fn from_json(json: &str) -> Result<Self, JsonError> {
        let messages: Vec<Saved> = serde_json::from_str(json)?;
        let mut conversation = Self::default();
        for (index, Saved { role, content, reasoning_content }) in messages.into_iter().enumerate()
        {
            let question = conversation.unanswered.take();
            match (role, question) {
                (Role::System, None) if index == 0 => conversation.system = Some(content),
                (Role::User, None) => conversation.unanswered = Some(content),
                (Role::Assistant, Some(question)) => {
                    let answer = Answer { text: content, thought: reasoning_content };
                    conversation.turns.push(Turn { question, answer });
                }
                (found, question) => {
                    let expected = if question.is_some() {
                        Role::Assistant
                    } else {
                        Role::User
                    };
                    let (found, expected) = (name(found), name(expected));
                    return Err(JsonError::Order { number: index + 1, found, expected });
                }
            }
        }
        Ok(conversation)
    }
}

fn saved(message: Message) -> Saved {
    Saved {
        role: message.role,
        content: message.content.unwrap_or_default(),
        reasoning_content: message.reasoning,
    }
}

fn name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}
