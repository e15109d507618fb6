//! The output of `07_streaming`: several uses of one inference in turn.

use std::time::Duration;

use serde_json::{Map, Value, json};
use slowburn::inference::{Completion, TokenOutput};
use slowburn::kv::KvPool;
use slowburn::model::Model;
use slowburn_flags::Wrapper;

use slowburn_examples::cli::{BOLD, DIM, GenerateArgs, Result, print, why, write};

/// Shows each use as it runs, or all of them as one JSON object at the end.
pub struct Uses<'a> {
    args: &'a GenerateArgs,
    kv_pool: KvPool,
    name: &'static str,
    /// The tokens of the current use.
    tokens: Vec<TokenOutput>,
    /// Ends the lines of its text on a terminal.
    wrapper: Option<Wrapper>,
    json: Map<String, Value>,
}

impl<'a> Uses<'a> {
    /// A report without uses of `model`.
    pub fn new(args: &'a GenerateArgs, model: &Model) -> Self {
        let kv_pool = model.kv_pool().clone();
        Self {
            args,
            kv_pool,
            name: "",
            tokens: Vec::new(),
            wrapper: None,
            json: Map::new(),
        }
    }

    /// Whether texts are shown.
    pub fn is_shown(&self) -> bool {
        !self.args.json
    }

    /// Begins the next use, with its name in the JSON object and a description.
    ///
    /// # Errors
    /// A closed standard output.
    pub fn begin(&mut self, name: &'static str, what: &str) -> Result<()> {
        self.name = name;
        self.wrapper = Wrapper::for_terminal();
        self.write(&format!("{BOLD}{what}{BOLD:#}\n"))
    }

    /// Shows the text of a token immediately.
    ///
    /// # Errors
    /// A closed standard output.
    pub fn show(&mut self, token: TokenOutput) -> Result<()> {
        let shown = self.wrapper.as_mut().map(|wrapper| wrapper.push(&token.token));
        self.write(shown.as_ref().unwrap_or(&token.token))?;
        self.tokens.push(token);
        Ok(())
    }

    /// Shows the text of these tokens as they arrive.
    ///
    /// # Errors
    /// A closed standard output.
    pub fn show_all(&mut self, tokens: impl IntoIterator<Item = TokenOutput>) -> Result<()> {
        tokens.into_iter().try_for_each(|token| self.show(token))
    }

    /// Ends a use of one job, whose tokens were shown.
    ///
    /// # Errors
    /// A closed standard output.
    pub fn end(&mut self, completion: &Completion) -> Result<()> {
        let tokens = std::mem::take(&mut self.tokens);
        self.json.insert(self.name.to_owned(), object(&tokens, completion));
        self.write(&format!("\n{}\n\n", summary(completion)))
    }

    /// Ends a use of several jobs with their outputs and completions.
    ///
    /// # Errors
    /// The first job that failed; a closed standard output.
    pub fn end_several(
        &mut self,
        outputs: &[Vec<TokenOutput>],
        completions: impl Iterator<Item = slowburn::Result<Completion>>,
    ) -> Result<()> {
        let mut objects = Vec::new();
        for (outputs, completion) in outputs.iter().zip(completions) {
            let completion = completion?;
            objects.push(object(outputs, &completion));
            self.write(&format!("{}\n", summary(&completion)))?;
        }
        self.json.insert(self.name.to_owned(), objects.into());
        Ok(())
    }

    /// Prints the JSON object, if requested.
    ///
    /// # Errors
    /// A closed standard output.
    pub fn finish(self) -> Result<()> {
        if !self.is_shown() {
            print(true, &Value::Object(self.json), "")?;
        }
        self.args.model.report_blocks(&self.kv_pool);
        Ok(())
    }

    fn write(&self, text: &str) -> Result<()> {
        if !self.is_shown() {
            return Ok(());
        }
        write(text)
    }
}

fn object(outputs: &[TokenOutput], completion: &Completion) -> Value {
    let Completion { finish_reason, usage, preemptions, timings, .. } = completion;
    let text: String = outputs.iter().map(|output| output.token.as_str()).collect();
    json!({
        "text": text,
        "tokens": outputs,
        "finish_reason": finish_reason,
        "usage": usage,
        "preemptions": preemptions,
        "queue_seconds": timings.queue.as_secs_f64(),
        "ttft_seconds": timings.ttft.map(|time| time.as_secs_f64()),
        "tpot_seconds": timings.tpot.map(|time| time.as_secs_f64()),
    })
}

fn summary(completion: &Completion) -> String {
    let Completion { finish_reason, usage, timings, .. } = completion;
    let milliseconds = |what: &str, time: Option<Duration>| match time {
        Some(time) => format!("{what}{:.1} ms", 1e3 * time.as_secs_f64()),
        None => String::new(),
    };
    format!(
        "{DIM}{} tokens ({}){}{}{DIM:#}",
        usage.completion_tokens,
        why(finish_reason),
        milliseconds("; first token ", timings.ttft),
        milliseconds(", per token ", timings.tpot),
    )
}
