//! What goes over the wire: requests and answers as OpenAI's `/v1/completions` has them.

use serde::{Deserialize, Serialize};

use crate::parts::End;
use crate::story::Request;

/// The body of a request. What is not named here is not read.
#[derive(Debug, Deserialize)]
struct Body {
    prompt: String,
    max_tokens: Option<usize>,
    temperature: Option<f32>,
    top_p: Option<f32>,
    seed: Option<u64>,
    n: Option<usize>,
    stop: Option<Stop>,
    stream: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Stop {
    One(String),
    Several(Vec<String>),
}

/// What is asked for: texts from one prompt, each with a different seed.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub texts: Vec<Request>,
    pub stream: bool,
}

/// Characters of a prompt, and texts of a request.
const PROMPT: usize = 4096;
const TEXTS: usize = 128;

/// Reads a body. What it does not say is as in *First light*, but with 100 tokens at most, and without
/// stop strings.
///
/// # Errors
/// What is wrong with it.
pub fn wanted(body: &[u8]) -> Result<Wanted, String> {
    let body: Body = serde_json::from_slice(body)
        .map_err(|error| format!("the body is not JSON of a completion: {error}"))?;
    let usual = Request::default();
    let request = Request {
        prompt: body.prompt,
        seed: body.seed.unwrap_or(usual.seed),
        temperature: body.temperature.unwrap_or(usual.temperature),
        top_p: body.top_p.unwrap_or(usual.top_p),
        max_tokens: body.max_tokens.unwrap_or(100),
        stops: match body.stop {
            None => Vec::new(),
            Some(Stop::One(stop)) => vec![stop],
            Some(Stop::Several(stops)) => stops,
        },
        ..usual
    };
    let n = body.n.unwrap_or(1);
    let within = |name: &str, fits: bool, range: &str| {
        if fits {
            Ok(())
        } else {
            Err(format!("{name} must be {range}"))
        }
    };
    within("prompt", request.prompt.len() <= PROMPT, "of 4096 bytes at most")?;
    within("max_tokens", request.max_tokens >= 1, "at least 1")?;
    within("temperature", (0.0..=2.0).contains(&request.temperature), "from 0 to 2")?;
    within("top_p", request.top_p > 0.0 && request.top_p <= 1.0, "above 0, and 1 at most")?;
    within("n", (1..=TEXTS).contains(&n), "from 1 to 128")?;
    let stops = request.stops.len() <= 4 && request.stops.iter().all(|stop| !stop.is_empty());
    within("stop", stops, "one to four texts that are not empty")?;
    let with_seed = |i| Request { seed: request.seed.wrapping_add(i as u64), ..request.clone() };
    Ok(Wanted {
        texts: (0..n).map(with_seed).collect(),
        stream: body.stream.unwrap_or(false),
    })
}

/// An answer, or a chunk of one that is streamed.
#[derive(Debug, Serialize)]
pub struct Completion {
    pub object: &'static str,
    pub model: &'static str,
    pub choices: Vec<Choice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

#[derive(Debug, Serialize)]
pub struct Choice {
    pub index: usize,
    pub text: String,
    pub finish_reason: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Usage {
    pub prompt_tokens: usize,
    pub completion_tokens: usize,
    pub total_tokens: usize,
}

/// How `finish_reason` names it.
pub fn finish_reason(end: End) -> &'static str {
    match end {
        End::Eos => "stop",
        End::Length | End::Context => "length",
    }
}

/// In JSON, on one line.
pub fn completion(choices: Vec<Choice>, usage: Option<Usage>) -> String {
    let completion = of(choices, usage);
    serde_json::to_string(&completion).unwrap_or_default()
}

/// The last chunk, with the usage: in several lines, to be read in a terminal.
pub fn last_chunk(usage: Usage) -> String {
    serde_json::to_string_pretty(&of(Vec::new(), Some(usage))).unwrap_or_default()
}

fn of(choices: Vec<Choice>, usage: Option<Usage>) -> Completion {
    Completion { object: "text_completion", model: "ember", choices, usage }
}

/// An error in JSON.
pub fn error(message: &str) -> String {
    serde_json::json!({ "error": { "message": message, "type": "invalid_request_error" } })
        .to_string()
}
