//! A conversation on the page.

use anyhow::{Result, ensure};
use clap::Parser;
use serde_json::{Value, json};
use slowburn_examples::cli::GenerateArgs;

use super::refusals::no_errors_but;
use super::uses::{self, IDLE, no_errors, set_number};
use crate::browser::{Browser, Look};
use crate::server::Server;

/// The last answer is there, and what it took.
const ANSWERED: &str = "run === null && conversation.messages.at(-1)?.role === 'assistant' \
    && conversation.messages.at(-1).took !== ''";

/// The tops of all parts of the page: they must not move while tokens arrive.
const PLACES: &str = "['#messages', '#compose', '#candidates', '#summary', '#sampler', 'footer']
    .map((part) => document.querySelector(part).getBoundingClientRect().top + scrollY)";

/// Who has said what, as the page shows it.
const SHOWN: &str = "[...document.querySelectorAll('.message')].map((message) =>
    [message.querySelector('h2').textContent, message.querySelector('.said').textContent])";

/// The last answer, as the server gives it to everyone.
const ASKED: &str = "(() => {
    const all = conversation.messages;
    conversation.messages = all.slice(0, -1);
    const { stream_options, ...request } = chatRequest();
    conversation.messages = all;
    return fetch('v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...request, stream: false }),
    }).then((response) => response.json());
})()";

/// Opens the page of a model that converses.
pub fn open(browser: &mut Browser, server: &Server, look: Look) -> Result<()> {
    browser.open(&server.url, look)?;
    browser.wait("model !== null && mode === 'conversation'")
}

fn send(browser: &mut Browser, text: &str) -> Result<()> {
    browser.click("#message")?;
    browser.type_text(text)?;
    browser.press("Enter")
}

fn say(browser: &mut Browser, text: &str) -> Result<()> {
    send(browser, text)?;
    browser.wait(ANSWERED)
}

fn shown(browser: &mut Browser) -> Result<Vec<(String, String)>> {
    browser.get(SHOWN)
}

/// Presses a button of a message.
fn press(browser: &mut Browser, message: usize, button: &str) -> Result<()> {
    browser.get(&format!(
        "[...document.querySelectorAll('.message')][{message}].querySelectorAll('button')
            .forEach((button) => {{ if (button.textContent === {button:?}) button.click(); }})"
    ))
}

/// What holds where nobody has said otherwise is the same here and on the command line.
pub fn defaults(browser: &mut Browser, server: &Server, talker: &Server) -> Result<()> {
    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        generate: GenerateArgs,
    }
    let options = Flags::parse_from(["run"]).generate.options();
    let sampling = options.sampling;
    let expected = |max_tokens: i64| {
        let percent = |share: f32| (100.0 * share).round();
        json!([
            percent(sampling.temperature),
            sampling.top_k.unwrap_or(0),
            percent(sampling.top_p.unwrap_or(1.0)),
            sampling.seed,
            max_tokens,
        ])
    };
    let of_page = "[Math.round(100 * settings.temperature), settings.top_k, \
        Math.round(100 * settings.top_p), settings.seed, settings.max_tokens]";
    let numbers = |found: Value| -> Vec<f64> { serde_json::from_value(found).unwrap_or_default() };

    uses::open(browser, &server.url, Look::DESK)?;
    let text = numbers(browser.get(of_page)?);
    ensure!(
        text == numbers(expected(i64::try_from(options.max_tokens)?)),
        "a text: {text:?}"
    );
    open(browser, talker, Look::DESK)?;
    let answer = numbers(browser.get(of_page)?);
    ensure!(answer == numbers(expected(-1)), "an answer: {answer:?}");
    no_errors(browser)
}

/// Two turns: the text is what the server gives to everyone, each token has its candidates, and the second
/// prompt begins in the cache.
pub fn converse(browser: &mut Browser, server: &Server) -> Result<()> {
    open(browser, server, Look::DESK)?;
    browser.click("#system")?;
    browser.type_text("A story of the wood.")?;
    // Longer than a block of keys and values, which the second prompt then finds in the cache.
    let first = "One day, a small fox met an owl in the wood. The owl was old, and sat on a branch of the \
        tallest tree. The fox was hungry, and had lost her way in the snow.";
    for (turn, question) in [first, "What did the owl say?"].into_iter().enumerate() {
        say(browser, question)?;
        let asked: Value = browser.get(ASKED)?;
        let messages = shown(browser)?;
        ensure!(messages.len() == 2 * turn + 2, "{messages:?}");
        let said = &messages[2 * turn + 1].1;
        let expected = &asked["choices"][0]["message"]["content"];
        ensure!(said == expected, "{said:?} instead of {expected}");
        let (tokens, took): (usize, String) = browser.get(
            "[conversation.messages.at(-1).view.querySelectorAll('.token').length, conversation.messages.at(-1).took]",
        )?;
        let usage = &asked["usage"];
        ensure!(usage["completion_tokens"] == tokens, "{tokens} tokens instead of {usage}");
        let of_prompt = format!(" of {} prompt tokens from the cache", usage["prompt_tokens"]);
        ensure!(took.contains(&of_prompt), "it took {took}");
        ensure!((turn == 1) != took.starts_with("0 of"), "it took {took}");
    }

    // A token shows what else there was.
    browser.run("conversation.messages[1].run.go(2)")?;
    let (title, marked, rows): (String, usize, usize) = browser.get(
        "[element('candidates-title').textContent, document.querySelectorAll('.mark:not(:empty)').length, \
          document.querySelectorAll('#bars tbody tr:not(.empty)').length]",
    )?;
    ensure!(title == "Token 3" && marked == 1 && rows >= 10, "{title}: {marked} of {rows}");

    // It outlives a reload, but not the tab; and Clear keeps the system message alone.
    let before = shown(browser)?;
    browser.go("about:blank#")?;
    browser.go(&server.url)?;
    browser.wait("model !== null && mode === 'conversation'")?;
    ensure!(shown(browser)? == before, "the conversation is lost with a reload");
    say(browser, "And the fox?")?;
    ensure!(shown(browser)?.len() == 6);
    browser.click("#clear-messages")?;
    let (messages, system): (usize, String) =
        browser.get("[document.querySelectorAll('.message').length, element('system').value]")?;
    ensure!(messages == 0 && system == "A story of the wood.", "{messages}, {system:?}");
    no_errors(browser)
}

/// The last answer is replaced by another one, and an edited message by what follows from it.
pub fn again(browser: &mut Browser, server: &Server) -> Result<()> {
    open(browser, server, Look::DESK)?;
    set_number(browser, "max_tokens", "24")?;
    say(browser, "One day, a small fox met an owl.")?;
    say(browser, "The owl had a secret.")?;
    let before = shown(browser)?;
    press(browser, 3, "Retry")?;
    browser.wait(ANSWERED)?;
    let retried = shown(browser)?;
    ensure!(retried[..3] == before[..3] && retried.len() == 4, "{retried:?}");
    ensure!(retried[3] != before[3], "the same answer came again");
    let seed: u64 = browser.get("chatRequest().seed - settings.seed")?;
    ensure!(seed == 1, "the seed has grown by {seed}");

    press(browser, 0, "Edit")?;
    browser.wait("document.activeElement.localName === 'textarea'")?;
    press(browser, 0, "Cancel")?;
    ensure!(shown(browser)? == retried, "an edit that is cancelled changes something");
    press(browser, 0, "Edit")?;
    browser.press("Control+a")?;
    browser.type_text("One night, a bear woke up.")?;
    browser.press("Enter")?;
    browser.wait(ANSWERED)?;
    let edited = shown(browser)?;
    ensure!(edited.len() == 2 && edited[0].1 == "One night, a bear woke up.", "{edited:?}");
    ensure!(edited[1] != before[1], "the answer is that of the message before");
    no_errors(browser)
}

/// A model without a template goes on with a paragraph, and the page says so.
pub fn plain(browser: &mut Browser, server: &Server) -> Result<()> {
    browser.open(&format!("{}/#mode=conversation", server.url), Look::DESK)?;
    browser.wait("model !== null && !element('plain-note').hidden")?;
    say(browser, "Once upon a time")?;
    let messages = shown(browser)?;
    ensure!(messages.len() == 2 && !messages[1].1.contains("\n\n"), "{messages:?}");
    // The mode lives in the address: that of the model is left out of it.
    browser.click("#modes [value=text]")?;
    browser.wait("mode === 'text' && location.hash === ''")?;
    browser.click("#modes [value=conversation]")?;
    browser.wait("location.hash === '#mode=conversation'")?;
    ensure!(
        shown(browser)? == messages,
        "the conversation is lost where one looks at a text"
    );
    no_errors(browser)
}

/// Puts a server into the page's place that answers with these pieces of a message.
fn answer_with(browser: &mut Browser, deltas: &[(Value, &str)], reason: &str) -> Result<()> {
    let chunk = |delta: &Value, logprobs: Value, reason: Value| {
        let choice =
            json!({ "index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": reason });
        json!({ "choices": [choice], "usage": null }).to_string()
    };
    let token = |text: &str| {
        let name = json!({ "token": text, "bytes": text.as_bytes(), "logprob": -0.5 });
        let other = json!({ "token": " other", "bytes": null, "logprob": -1.5 });
        let mut said = name.clone();
        said["top_logprobs"] = json!([name, other]);
        json!({ "content": [said] })
    };
    let mut events: Vec<String> =
        deltas.iter().map(|(delta, written)| chunk(delta, token(written), Value::Null)).collect();
    events.push(chunk(&json!({}), Value::Null, json!(reason)));
    let details = json!({ "cached_tokens": 64 });
    let usage = json!({ "prompt_tokens": 80, "completion_tokens": deltas.len(), "total_tokens": 80 + deltas.len(), "prompt_tokens_details": details });
    events.push(json!({ "choices": [], "usage": usage }).to_string());
    events.push("[DONE]".to_owned());
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let body = Value::from(body);
    browser.get(&format!(
        "(() => {{
            globalThis.ownFetch ??= fetch;
            globalThis.fetch = async (path, request) => {{
                if (path !== 'v1/chat/completions') return ownFetch(path, request);
                globalThis.sent = JSON.parse(request.body);
                return new Response({body});
            }};
        }})()"
    ))
}

fn text(text: &str) -> (Value, &str) {
    (json!({ "content": text }), text)
}

fn thought(text: &str) -> (Value, &str) {
    (json!({ "reasoning_content": text }), text)
}

/// A thought, a call, and the answer to its result: a conversation with everything.
pub fn everything(browser: &mut Browser) -> Result<()> {
    browser.run("void (element('tools-box').open = true)")?;
    browser.click("#tools-example")?;
    let call = json!([{ "index": 0, "id": "call-1", "type": "function", "function": { "name": "sound_of", "arguments": "" } }]);
    let part =
        |text: &str| json!({ "tool_calls": [{ "index": 0, "function": { "arguments": text } }] });
    let written = [
        // The marks of a thought are tokens of no text.
        (json!({ "content": "" }), "<think>"),
        thought("I don't know"),
        thought(" the sound of a fox."),
        (json!({ "content": "" }), "</think>"),
        (json!({ "content": "" }), "\n\n"),
        text("Let me"),
        text(" listen."),
        // The text of a token that may begin a call is held back.
        (json!({ "content": "" }), "<tool_call>{\"name\": \""),
        (json!({ "tool_calls": call }), "sound_of\", \"arguments\": "),
        (part("{\"animal\": "), "{\"animal\": "),
        (part("\"fox\"}"), "\"fox\"}"),
    ];
    answer_with(browser, &written, "tool_calls")?;
    say(browser, "What does the fox say?")?;
    browser.wait("document.querySelector('.results textarea')")
}

/// Tools are shown, called and answered; what a model thought is folded, and no part of the answer.
pub fn tools(browser: &mut Browser, server: &Server) -> Result<()> {
    open(browser, server, Look::DESK)?;
    // What is no JSON is not sent.
    browser.run("void (element('tools-box').open = true)")?;
    browser.click("#tools")?;
    browser.type_text("[{]")?;
    send(browser, "Hello")?;
    browser.wait("document.activeElement.id === 'tools'")?;
    let (problem, messages): (String, usize) =
        browser.get("[element('tools-problem').textContent, conversation.messages.length]")?;
    ensure!(
        problem.starts_with("The tools are not JSON: ") && messages == 0,
        "{problem:?}, {messages}"
    );
    browser.run("void (element('tools').value = '', element('message').value = '')")?;

    everything(browser)?;
    let name: String = browser.get("sent.tools[0].function.name")?;
    ensure!(name == "sound_of", "the tool is {name}");
    let parts: Vec<String> = browser.get(
        "['.thought .part', '.said', '.call .name', '.call .part', '.took'].map((part) =>
            conversation.messages[1].find(part).textContent)",
    )?;
    let [thought, said, name, arguments, took] = &parts[..] else {
        anyhow::bail!("{parts:?}")
    };
    ensure!(thought == "I don't know the sound of a fox.", "{thought:?}");
    ensure!(said == "Let me listen.", "{said:?}");
    ensure!(
        name == "sound_of" && arguments == "{\"animal\": \"fox\"}",
        "{name}, {arguments}"
    );
    ensure!(took.starts_with("64 of 80 prompt tokens from the cache, 11 tokens"), "{took}");
    let folded: bool = browser.get(
        "(() => { const thought = conversation.messages[1].find('.thought');
            thought.querySelector('summary').click(); return !thought.open; })()",
    )?;
    ensure!(folded, "a thought cannot be folded");

    answer_with(browser, &[text("It"), text(" says gekker.")], "stop")?;
    browser.click(".results textarea")?;
    browser.type_text("gekker")?;
    browser.press("Enter")?;
    browser.wait("conversation.messages.length === 4")?;
    browser.wait(ANSWERED)?;
    let sent: Value = browser.get("sent.messages.slice(1)")?;
    let expected = json!([
        {
            "role": "assistant", "content": "Let me listen.",
            "reasoning_content": "I don't know the sound of a fox.",
            "tool_calls": [{ "id": "call-1", "type": "function", "function": { "name": "sound_of", "arguments": "{\"animal\": \"fox\"}" } }],
        },
        { "role": "tool", "content": "gekker", "tool_call_id": "call-1" },
    ]);
    ensure!(sent == expected, "{sent} instead of {expected}");
    let last = shown(browser)?;
    ensure!(last[2].0 == "Result of sound_of" && last[3].1 == "It says gekker.", "{last:?}");
    no_errors(browser)
}

/// An answer that is stopped stays, and the conversation goes on. Nothing moves.
pub fn stop(browser: &mut Browser, slow: &Server) -> Result<()> {
    for look in [Look::DESK, Look::PHONE] {
        open(browser, slow, look)?;
        send(browser, "One day")?;
        browser.wait("document.querySelectorAll('.token').length > 1")?;
        let before: Vec<f64> = browser.get(PLACES)?;
        browser.wait("document.querySelectorAll('.token').length > 3")?;
        let now: Vec<f64> = browser.get(PLACES)?;
        ensure!(now == before, "parts of the page move: from {before:?} to {now:?}");
        if look.width == Look::DESK.width {
            browser.press("Escape")?;
        } else {
            browser.click("#stop-answer")?;
        }
        browser.wait(ANSWERED)?;
        let (took, text): (String, String) =
            browser.get("[conversation.messages[1].took, conversation.messages[1].text]")?;
        ensure!(took.ends_with(", stopped") && !text.is_empty(), "{took}: {text:?}");
        send(browser, "Another day")?;
        browser.wait("conversation.messages.length === 4 && run !== null")?;
        browser.press("Escape")?;
        browser.wait(IDLE)?;
        ensure!(browser.get::<bool>("conversation.messages[1].text !== ''")?, "it is gone");
        no_errors(browser)?;
    }
    Ok(())
}

/// What the server refuses leaves the conversation whole, and the page says why there.
pub fn refused(browser: &mut Browser, server: &Server, limited: &Server) -> Result<()> {
    let problem = "element('messages').contains(element('problem')) && !element('problem').hidden";
    open(browser, server, Look::DESK)?;
    set_number(browser, "max_tokens", "8")?;
    say(browser, "One day, a small fox met an owl.")?;
    let before = shown(browser)?;
    // More than the context holds: nothing can be answered, neither to a new message nor to an edited one.
    let long = "a fox and an owl ".repeat(200);
    press(browser, 0, "Edit")?;
    browser.press("Control+a")?;
    browser.type_text(&long)?;
    browser.press("Enter")?;
    browser.wait(problem)?;
    let (messages, edited): (Vec<(String, String)>, String) = browser
        .get(&format!("[{SHOWN}, document.querySelector('.message form textarea').value]"))?;
    ensure!(
        messages == before && edited == long.trim(),
        "an edit that is refused takes something"
    );
    press(browser, 0, "Cancel")?;
    send(browser, &long)?;
    browser.wait(&format!("conversation.messages.length === 3 && {problem}"))?;
    let said: String = browser.get("element('problem').textContent")?;
    ensure!(said.contains("512"), "it says {said:?}");
    ensure!(shown(browser)?[..2] == before, "an answer is gone");
    no_errors_but(browser, "status of 400")?;

    open(browser, limited, Look::DESK)?;
    send(browser, "One day")?;
    browser.wait(problem)?;
    let (said, state): (String, String) =
        browser.get("[element('problem').textContent, element('send').ariaDisabled]")?;
    ensure!(said.starts_with("Too many requests: ") && state == "true", "{said}, {state}");
    ensure!(shown(browser)?.len() == 1, "the message is gone");
    browser.wait("element('problem').hidden && element('send').ariaDisabled === 'false'")?;
    press(browser, 0, "Retry")?;
    browser.wait(ANSWERED)?;
    ensure!(shown(browser)?.len() == 2);
    no_errors_but(browser, "status of 429")
}

/// A server that dies in the middle of an answer: what there is of it stays. What was to be replaced comes
/// back.
pub fn lost(browser: &mut Browser, slow: Server) -> Result<()> {
    open(browser, &slow, Look::DESK)?;
    set_number(browser, "max_tokens", "3")?;
    say(browser, "One day")?;
    set_number(browser, "max_tokens", "200")?;
    send(browser, "Another day")?;
    browser.wait("run !== null && conversation.messages[3]?.run.tokens.length > 0")?;
    drop(slow);
    browser.wait(&format!("{IDLE} && !element('problem').hidden"))?;
    let (said, took): (String, String) =
        browser.get("[element('problem').textContent, conversation.messages[3].took]")?;
    ensure!(said.starts_with("The connection broke off"), "it says {said:?}");
    ensure!(took.ends_with("broken off"), "it took {took:?}");
    let before = shown(browser)?;
    press(browser, 3, "Retry")?;
    browser.wait(&format!(
        "{IDLE} && element('problem').textContent.startsWith('The server does not answer.')"
    ))?;
    ensure!(shown(browser)? == before, "an answer that was to be replaced is gone");
    Ok(())
}
