//! The forms in which published models write calls, each with texts as such a model writes them.

mod deepseek;
mod glm;
mod harmony;
mod hermes;
mod kimi;
mod llama;
mod mistral;
mod qwen_coder;

use super::style::{Known, Style};

/// A form, for a model that has it.
type Form = fn(&Known<'_>) -> Option<Style>;

/// All forms. A model has the first that fits.
pub(super) const ALL: [Form; 8] = [
    harmony::style,
    deepseek::style,
    kimi::style,
    mistral::style,
    glm::style,
    qwen_coder::style,
    hermes::style,
    llama::style,
];
