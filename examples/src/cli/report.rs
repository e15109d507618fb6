//! Shows a generation: the text as it streams and then its cost, or all of it as JSON.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde::Serialize;
use slowburn::device::{self, OpenDevice, Precision};
use slowburn::generate::{self, FinishReason, Generation, Score};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::TokenLogprobs;
use slowburn_flags::{Wrapper, bytes, note};

use super::{Error, GenerateArgs, Result, quoted};

/// The object that `--json` prints.
#[derive(Serialize)]
struct JsonReport<'a> {
    prompt_ids: &'a [u32],
    ids: &'a [u32],
    text: &'a str,
    finish_reason: &'a FinishReason,
    prefill_seconds: f64,
    decode_seconds: f64,
    kv_cache_bytes: usize,
    drafted: usize,
    accepted: usize,
    logits_hash: Option<&'a str>,
    device: &'static str,
    /// Of a step of decoding, where a GPU computes.
    #[serde(skip_serializing_if = "Option::is_none")]
    launches_per_step: Option<f64>,
    dtype: &'static str,
    weight_formats: &'a [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_logprobs: Option<&'a [TokenLogprobs]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<&'a [TokenLogprobs]>,
}

/// Measures and shows one generation.
pub struct Report<'a> {
    args: &'a GenerateArgs,
    pretrained: &'a Pretrained,
    device: &'a OpenDevice,
    prompt: &'a [u32],
    /// The score of the prompt, for `--echo`.
    echo: Option<Score>,
    text: String,
    start: Instant,
    /// Time to first token, which is the time of the prefill.
    prefill: Option<Duration>,
    /// The time when the first text was on the screen.
    first_text: Option<Duration>,
    /// How many kernels a GPU was given before the first step of decoding.
    launches_before: u64,
    write_error: Option<io::Error>,
    /// Ends the lines on a terminal.
    wrapper: Option<Wrapper>,
}

impl<'a> Report<'a> {
    /// Starts the timer. Shows the prompt, unless the output is JSON or a chat answer.
    ///
    /// # Errors
    /// A closed standard output; the errors of scoring the prompt for `--echo`.
    pub fn start(
        args: &'a GenerateArgs,
        pretrained: &'a Pretrained,
        device: &'a OpenDevice,
        prompt: &'a [u32],
    ) -> Result<Self> {
        let mut report = Self {
            args,
            pretrained,
            device,
            prompt,
            echo: match (args.echo, args.logprobs) {
                (true, Some(n)) => Some(generate::score(&pretrained.model, prompt, n)?),
                _ => None,
            },
            text: String::new(),
            start: Instant::now(),
            prefill: None,
            first_text: None,
            launches_before: 0,
            write_error: None,
            wrapper: Wrapper::for_terminal(),
        };
        if !args.chat.enabled {
            let _ = report.show(&pretrained.tokenizer.decode(prompt)?);
        }
        report.start = Instant::now();
        Ok(report)
    }

    /// Shows one more piece of text. Breaks if standard output is closed.
    pub fn text(&mut self, piece: &str) -> ControlFlow<()> {
        if self.prefill.is_none() {
            self.prefill = Some(self.start.elapsed());
            self.launches_before = device::launches();
        }
        self.text.push_str(piece);
        let shown = self.show(piece);
        if !piece.is_empty() {
            self.first_text.get_or_insert_with(|| self.start.elapsed());
        }
        shown
    }

    fn show(&mut self, text: &str) -> ControlFlow<()> {
        if self.args.json {
            return ControlFlow::Continue(());
        }
        let text = match &mut self.wrapper {
            Some(wrapper) => Cow::Owned(wrapper.push(text)),
            None => Cow::Borrowed(text),
        };
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.write_error = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Stops the timer and shows the summary or the JSON object. The summary goes to standard
    /// error, so that a pipe gets only the text.
    ///
    /// # Errors
    /// A closed standard output.
    pub fn finish(self, generation: &Generation) -> Result<()> {
        let total = self.start.elapsed();
        if let Some(error) = self.write_error {
            return Err(Error::Output(error));
        }
        let prefill = self.prefill.unwrap_or(total);
        let decode = total - prefill;
        let mut out = io::stdout().lock();
        let written = if self.args.json {
            self.write_json(&mut out, generation, prefill, decode)
        } else {
            writeln!(out).and_then(|()| {
                let prompt = self.echo.iter().flat_map(|score| &score.tokens);
                let rows = prompt.chain(&generation.logprobs);
                rows.map(|row| self.logprob_line(row)).try_for_each(|line| writeln!(out, "{line}"))
            })
        };
        written.map_err(Error::Output)?;
        if !self.args.json {
            note(&self.summary(generation, prefill, decode));
        }
        self.args.model.report_blocks(self.pretrained.model.kv_pool());
        Ok(())
    }

    fn write_json(
        &self,
        out: &mut impl Write,
        generation: &Generation,
        prefill: Duration,
        decode: Duration,
    ) -> io::Result<()> {
        let object = JsonReport {
            prompt_ids: self.prompt,
            ids: &generation.ids,
            text: &self.text,
            finish_reason: &generation.finish_reason,
            prefill_seconds: prefill.as_secs_f64(),
            decode_seconds: decode.as_secs_f64(),
            kv_cache_bytes: generation.kv_cache_bytes,
            drafted: generation.drafted,
            accepted: generation.accepted,
            logits_hash: generation.logits_hash.as_deref(),
            device: self.device.name,
            launches_per_step: self.launches_per_step(generation),
            dtype: Precision::of(self.pretrained.model.dtype()).name(),
            weight_formats: self.pretrained.model.weight_formats(),
            prompt_logprobs: self.echo.as_ref().map(|score| score.tokens.as_slice()),
            logprobs: self.args.logprobs.map(|_| generation.logprobs.as_slice()),
        };
        serde_json::to_writer(&mut *out, &object)?;
        writeln!(out)
    }

    fn summary(&self, generation: &Generation, prefill: Duration, decode: Duration) -> String {
        let (prompt, new) = (self.prompt.len(), generation.ids.len());
        let mut lines = vec![format!(
            "{prompt} prompt tokens, {new} new tokens ({})",
            why(&generation.finish_reason)
        )];
        // Where nothing was asked for, nothing was computed, and there is no rate.
        if self.prefill.is_some() {
            lines.push(format!(
                "prefill {:.1} ms ({:.0} tokens/s), time to first token {:.1} ms",
                prefill.as_secs_f64() * 1e3,
                prompt as f64 / prefill.as_secs_f64().max(1e-9),
                self.first_text.unwrap_or(prefill).as_secs_f64() * 1e3,
            ));
        }
        // The prefill yields the first token, decode steps the others.
        if new > 1 {
            let launches = self.launches_per_step(generation);
            lines.push(format!(
                "decode {:.2} s ({:.0} tokens/s{})",
                decode.as_secs_f64(),
                (new - 1) as f64 / decode.as_secs_f64().max(1e-9),
                launches.map_or_else(String::new, |count| format!(", {count:.0} launches a step")),
            ));
        }
        lines.extend(accepted(generation.drafted, generation.accepted));
        lines.push(format!(
            "KV cache {}, on {} in {}",
            bytes(generation.kv_cache_bytes),
            self.device,
            self.pretrained.model.weight_formats().join(" and "),
        ));
        format!("\n  {}\n", lines.join("\n  "))
    }

    /// How many kernels a GPU was given for each step of decoding. None on the CPU, and with draft tokens,
    /// whose number changes from step to step.
    fn launches_per_step(&self, generation: &Generation) -> Option<f64> {
        let launches = device::launches() - self.launches_before;
        // The prefill yields the first token; one that ends the text has a step too.
        let ended = matches!(generation.finish_reason, FinishReason::Eos | FinishReason::StopId(_));
        let steps = (generation.ids.len() + usize::from(ended)).saturating_sub(1);
        let is_known = launches > 0 && steps > 0 && generation.drafted == 0;
        is_known.then(|| launches as f64 / steps as f64)
    }

    /// A token, its probability, and the most likely alternatives.
    fn logprob_line(&self, row: &TokenLogprobs) -> String {
        let show = |id: u32, logprob: f32| {
            let token = quoted(&self.pretrained.tokenizer, id);
            format!("{token} {:.1}%", logprob.exp() * 100.0)
        };
        let top: Vec<String> = row.top.iter().map(|&(id, logprob)| show(id, logprob)).collect();
        format!("{:<24} {}", show(row.id, row.logprob), top.join(", "))
    }
}

/// How many draft tokens were accepted, in words. None without any.
pub fn accepted(drafted: usize, accepted: usize) -> Option<String> {
    let share = 100.0 * accepted as f64 / drafted.max(1) as f64;
    (drafted > 0)
        .then(|| format!("{drafted} draft tokens, of which {accepted} were accepted ({share:.0}%)"))
}

/// The finish reason in words.
pub fn why(reason: &FinishReason) -> &'static str {
    match reason {
        FinishReason::Eos => "the model ended it",
        FinishReason::StopId(_) => "a stop token",
        FinishReason::Length => "as many as were asked for",
        FinishReason::Context => "the context is full",
        FinishReason::Stopped => "stopped",
        FinishReason::StopString(_) => "a stop string",
        FinishReason::Deadline => "its time was over",
        FinishReason::Cancelled => "cancelled",
        FinishReason::Shutdown => "shut down",
    }
}
