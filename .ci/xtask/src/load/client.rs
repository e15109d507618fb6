//! The client: one streamed completion, and its times.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use eventsource_stream::Eventsource;
use futures_util::StreamExt;
use reqwest::RequestBuilder;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::outcome::{Outcome, Usage};

/// How long a server may take to load its model.
const START: Duration = Duration::from_secs(300);

/// A client of one server.
pub struct Client {
    http: reqwest::Client,
    url: String,
    key: Option<String>,
    /// The name of the server's model.
    pub model: String,
}

/// A request for a completion.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub prompt: String,
    pub max_tokens: usize,
    pub seed: u64,
}

/// A chunk of a stream: text, token counts, or the error that ends it.
#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    text: String,
}

impl Client {
    /// Waits until the server is ready.
    pub async fn connect(url: &str, key: Option<&str>) -> Result<Self> {
        ensure!(url.starts_with("http://"), "a server is at http://HOST:PORT, and not at {url}");
        // The time of a proxy is not the server's.
        let http = reqwest::Client::builder().no_proxy().tcp_nodelay(true).build()?;
        let url = url.trim_end_matches('/').trim_end_matches("/v1").to_owned();
        let key = key.map(str::to_owned);
        let mut client = Self { http, url, key, model: String::new() };
        let start = Instant::now();
        client.model = loop {
            match client.first_model().await {
                Ok(model) => break model,
                Err(error) if start.elapsed() > START || is_final(&error) => return Err(error),
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        };
        Ok(client)
    }

    async fn first_model(&self) -> Result<String> {
        let request = self.http.get(format!("{}/v1/models", self.url));
        let response = self.with_key(request).send().await?.error_for_status()?;
        let models: Value = response.json().await?;
        let first = models["data"][0]["id"].as_str().context("the server has no model")?;
        Ok(first.to_owned())
    }

    fn with_key(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// Sends a request that was due at `arrival`, and reads its answer. `start` is the start of
    /// the round.
    pub async fn complete(&self, request: &Request, start: Instant, arrival: f64) -> Outcome {
        let sent = start.elapsed().as_secs_f64();
        let mut outcome = Outcome { arrival, sent, ..Outcome::default() };
        if let Err(error) = self.stream(request, start, &mut outcome).await {
            outcome.failure = Some(format!("{error:#}"));
        }
        outcome.end = start.elapsed().as_secs_f64();
        outcome
    }

    async fn stream(&self, request: &Request, start: Instant, outcome: &mut Outcome) -> Result<()> {
        let body = json!({
            "model": self.model,
            "prompt": request.prompt,
            "max_tokens": request.max_tokens,
            "seed": request.seed,
            "stream": true,
            "stream_options": {"include_usage": true},
            // Not in OpenAI's API, and many servers know it: all texts have the same length.
            "ignore_eos": true,
        });
        let post = self.http.post(format!("{}/v1/completions", self.url)).json(&body);
        let response = self.with_key(post).send().await?;
        outcome.status = Some(response.status().as_u16());
        if !response.status().is_success() {
            bail!("{}", response.text().await?);
        }
        let mut events = response.bytes_stream().eventsource();
        while let Some(event) = events.next().await {
            let data = event?.data;
            if data == "[DONE]" {
                return Ok(());
            }
            let chunk: Chunk =
                serde_json::from_str(&data).with_context(|| format!("a chunk is `{data}`"))?;
            if let Some(error) = chunk.error {
                bail!("{error}");
            }
            if chunk.choices.iter().any(|choice| !choice.text.is_empty()) {
                outcome.chunks.push(start.elapsed().as_secs_f64());
            }
            outcome.usage = chunk.usage.or(outcome.usage);
        }
        bail!("the stream ended without [DONE]")
    }
}

/// Whether a server has answered, and would answer the same again: a wrong key, no such route.
fn is_final(error: &anyhow::Error) -> bool {
    let status = error.downcast_ref::<reqwest::Error>().and_then(reqwest::Error::status);
    status.is_some_and(|status| status.is_client_error())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// A server that gives the answers, one to each connection after that for the model's name.
    fn serve(answers: &'static [&'static str]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/", listener.local_addr().unwrap());
        thread::spawn(move || {
            let models =
                "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"data\": [{\"id\": \"m\"}]}";
            for answer in [models].iter().chain(answers) {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).unwrap();
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        url
    }

    fn outcomes(answers: &'static [&'static str]) -> Vec<Outcome> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = Client::connect(&serve(answers), None).await.unwrap();
            assert_eq!(client.model, "m");
            let request = Request { prompt: "a".to_owned(), max_tokens: 2, seed: 1 };
            let mut outcomes = Vec::new();
            for _ in answers {
                outcomes.push(client.complete(&request, Instant::now(), -1.0).await);
            }
            outcomes
        })
    }

    #[test]
    fn a_stream_has_the_times_of_its_tokens_and_the_servers_counts() {
        const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
            data: {\"choices\": [{\"text\": \"a\"}]}\n\n\
            data: {\"choices\": [{\"text\": \"b\"}]}\r\n\r\n: ping\n\n\
            data: {\"choices\": [{\"text\": \"\"}], \"usage\": null}\n\n\
            data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 5, \"completion_tokens\": 3}}\n\n\
            data: [DONE]\n\n";
        let outcome = outcomes(&[ANSWER]).remove(0);
        assert!(outcome.is_complete(), "{outcome:?}");
        assert_eq!((outcome.chunks.len(), outcome.tokens()), (2, 3));
        // Time counts from when the request was due.
        assert!(outcome.time_to_first_token().unwrap() > 1.0);
        assert!(outcome.end_to_end().unwrap() >= outcome.time_to_first_token().unwrap());
        assert_eq!(outcome.inter_token().count(), 1);
    }

    #[test]
    fn a_server_that_refuses_the_client_is_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let answer = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = |url: &str| {
            let client = runtime.block_on(Client::connect(url, None));
            client.err().unwrap().to_string()
        };
        assert!(error(&url).contains("401"));
        assert!(error("https://localhost").contains("http://HOST:PORT"));
    }

    #[test]
    fn refusals_errors_and_broken_streams_are_no_completions() {
        let outcomes = outcomes(&[
            "HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\n\r\n{\"error\": {}}",
            "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\ndata: {\"choices\": [{\"text\": \"a\"}]}\n\n",
            "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\ndata: {\"error\": {\"code\": \"x\"}}\n\n",
            "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\ndata: {]\n\n",
            "",
        ]);
        let statuses: Vec<String> = outcomes.iter().map(Outcome::status).collect();
        assert_eq!(statuses, ["429", "broken off", "broken off", "broken off", "no answer"]);
        assert!(outcomes.iter().all(|outcome| outcome.end_to_end().is_none()));
        assert_eq!(outcomes[1].tokens(), 1);
        assert!(outcomes[2].failure.as_ref().unwrap().contains("\"x\""));
    }
}
