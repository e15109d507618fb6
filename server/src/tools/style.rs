//! How a model writes calls: what stands around names and arguments.

use slowburn::pretrained::Pretrained;

use super::forms;

/// How a model writes calls. Texts may have the texts of special tokens in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Style {
    /// The special tokens.
    pub(super) marks: &'static [&'static str],
    /// A special token that may come before a call, and says nothing.
    pub(super) prelude: Option<&'static str>,
    /// Before an answer that is no call; empty where only a call has something before it.
    pub(super) answer: &'static str,
    /// Before the first call.
    pub(super) begin: &'static str,
    /// Before each call.
    pub(super) open: &'static str,
    /// Before the name of a call, and between that and its arguments.
    pub(super) name: [&'static str; 2],
    /// Whether a number follows the name.
    pub(super) is_numbered: bool,
    pub(super) arguments: Arguments,
    /// After the arguments.
    pub(super) close: &'static str,
    /// Between two calls.
    pub(super) between: &'static str,
    /// After the last call.
    pub(super) end: &'static str,
    /// Whether an answer may have several calls.
    pub(super) has_room: bool,
}

/// How arguments are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arguments {
    /// A JSON object.
    Object,
    /// Each by itself: a string as it is, and anything else as JSON.
    Tags(Tags),
}

/// What stands around an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tags {
    pub(super) open: &'static str,
    /// Between its name and its value.
    pub(super) value: &'static str,
    pub(super) close: &'static str,
    /// Between two arguments, and behind the last one.
    pub(super) after: &'static str,
}

/// A call alone: `{"name": "now", "arguments": {}}`.
pub(super) const PLAIN: Style = Style {
    marks: &[],
    prelude: None,
    answer: "",
    begin: "",
    open: "",
    name: [r#"{"name": ""#, r#"", "arguments": "#],
    is_numbered: false,
    arguments: Arguments::Object,
    close: "}",
    between: "",
    end: "",
    has_room: false,
};

/// What is known of a model's calls.
pub(super) struct Known<'a> {
    template: &'a str,
    pretrained: &'a Pretrained,
}

impl Known<'_> {
    /// Whether the chat template has this text.
    pub(super) fn says(&self, text: &str) -> bool {
        self.template.contains(text)
    }

    /// Whether there is such a special token.
    pub(super) fn has(&self, token: &str) -> bool {
        self.pretrained.tokenizer.special_id(token).is_some()
    }
}

impl Style {
    /// The style that a model's chat template or its special tokens describe; the plain one, where they describe
    /// none that is known here.
    pub(super) fn of(pretrained: &Pretrained) -> Self {
        let template = pretrained.tokenizer.chat_template();
        let template = template.map_or("", |template| template.tool_source());
        let known = Known { template, pretrained };
        forms::ALL.iter().find_map(|form| form(&known)).unwrap_or(PLAIN)
    }

    /// What comes before the first call.
    pub(super) fn lead(&self) -> String {
        format!("{}{}", self.begin, self.open)
    }

    /// Whether text may come before a call.
    pub(super) fn has_text_before(&self) -> bool {
        !self.lead().is_empty() && self.answer.is_empty()
    }
}
