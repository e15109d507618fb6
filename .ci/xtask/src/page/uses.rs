//! What a person does on the page, and what has to come of it.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::browser::{Browser, Look};
use crate::server::Server;

/// Nothing is being generated.
pub const IDLE: &str = "run === null";

/// The page shows the candidates of the next token.
pub const SETTLED: &str = "candidates.answer !== null && candidates.after === candidates.text()";

/// A row of the table of candidates, as it is shown.
#[derive(Debug, Deserialize)]
struct Bar {
    token: String,
    /// The widths of the bars, in percent.
    model: f64,
    sampled: f64,
    /// The percentages in words.
    numbers: Vec<String>,
    is_removed: bool,
    is_chosen: bool,
}

const BARS: &str = "[...document.querySelectorAll('#bars tbody tr')].map((row) => ({
    token: row.querySelector('.name').textContent,
    model: parseFloat(row.querySelector('.model').style.width),
    sampled: parseFloat(row.querySelector('.sampled').style.width),
    numbers: [...row.cells].slice(2).map((cell) => cell.textContent),
    is_removed: row.classList.contains('removed'),
    is_chosen: row.classList.contains('chosen'),
}))";

/// What the server says of the next token, with the settings that the page shows.
const ASKED: &str = "fetch('candidates', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
        prompt: candidates.text(),
        count: 10,
        temperature: element('temperature').valueAsNumber,
        top_k: element('top_k').valueAsNumber,
        top_p: element('top_p').valueAsNumber,
    }),
}).then((response) => response.json()).then((answer) => globalThis.asked = answer)";

/// The tops of all parts of the page: they must not move while tokens arrive.
const PLACES: &str = "['#story', '#stats', '#candidates', '#summary', '#sampler', 'footer']
    .map((part) => document.querySelector(part).getBoundingClientRect().top + scrollY)";

pub(super) const FOCUS: &str = "document.activeElement.id || document.activeElement.className || document.activeElement.localName";

/// Opens the page, and waits until it shows the candidates.
pub fn open(browser: &mut Browser, url: &str, look: Look) -> Result<()> {
    browser.open(url, look)?;
    browser.wait(SETTLED)
}

pub(super) fn no_errors(browser: &mut Browser) -> Result<()> {
    let errors = browser.errors();
    ensure!(errors.is_empty(), "the page reports: {}", errors.join("; "));
    Ok(())
}

/// The parser of the stream finds the same events wherever the pieces of the stream end.
pub fn parser(browser: &mut Browser, server: &Server) -> Result<()> {
    open(browser, &server.url, Look::DESK)?;
    // As JSON, which JavaScript reads.
    let stream = Value::from(
        "\u{feff}data: one\r\n\r\n: a comment\rdata:two\r\rdata: né 🦊\ndata\ndata:  more\n\nevent: x\nid: 7\n\n\n\r\ndata: {}\r\n\r\ndata: not ended\n",
    );
    let events: Vec<Vec<String>> = browser.get(&format!(
        "(() => {{
            const stream = {stream};
            const found = new Set();
            for (let a = 0; a <= stream.length; a += 1) {{
                for (let b = a; b <= stream.length; b += 1) {{
                    const parser = new EventParser();
                    const pieces = [stream.slice(0, a), stream.slice(a, b), stream.slice(b)];
                    found.add(JSON.stringify(pieces.flatMap((piece) => parser.push(piece))));
                }}
            }}
            return [...found].map((events) => JSON.parse(events));
        }})()"
    ))?;
    ensure!(events == [["one", "two", "né 🦊\n\n more", "{}"]], "the events are {events:?}");
    no_errors(browser)
}

/// A prompt is typed and continued. The text is what the server gives to everyone.
pub fn generate(browser: &mut Browser, server: &Server) -> Result<()> {
    open(browser, &server.url, Look::DESK)?;
    type_prompt(browser, "One day, a small")?;
    // As long as the server has said nothing of this prompt, there is nothing to show.
    let is_honest = "candidates.after === element('prompt').value \
        || !document.querySelector('#bars tbody tr:not(.empty)')";
    ensure!(browser.get::<bool>(is_honest)?, "candidates of another prompt are shown");
    browser.click("#generate")?;
    browser.wait(&format!("story.tokens.length > 0 && {IDLE}"))?;
    same_text(browser, "One day, a small")?;
    let has_stats: bool = browser
        .get("[...document.querySelectorAll('#stats dd')].every((dd) => dd.textContent !== '–')")?;
    ensure!(has_stats, "a figure is missing");

    // The whole text goes on, with the keys and values of what was there.
    browser.click("#clear")?;
    set_number(browser, "max_tokens", "70")?;
    let mut said = 0;
    for _ in 0..2 {
        browser.click("#generate")?;
        browser.wait(&format!("story.tokens.length > {said} && {IDLE}"))?;
        said += browser.get::<usize>("Number(element('stat-tokens').textContent)")?;
    }
    let tokens: usize = browser.get("document.querySelectorAll('.token').length")?;
    ensure!(tokens == said && tokens > 70, "{tokens} tokens after two runs with {said}");
    let cached: String = browser.get("element('stat-cached').textContent")?;
    ensure!(!cached.starts_with("0 "), "cached: {cached}");

    let whole: String = browser.get("story.text()")?;
    browser.click("#edit")?;
    let prompt: String = browser.get("element('prompt').value")?;
    ensure!(prompt == whole, "{prompt:?} is to be edited instead of {whole:?}");
    browser.go(&server.url)?;
    browser.wait(SETTLED)?;
    let prompt: String = browser.get("element('prompt').value")?;
    ensure!(prompt == whole, "the text is lost with a reload: {prompt:?}");
    no_errors(browser)
}

/// The tokens on the page are those that the server gives in one piece for the same request.
fn same_text(browser: &mut Browser, prompt: &str) -> Result<()> {
    let shown: Vec<String> = browser
        .get("[...document.querySelectorAll('.token')].map((token) => token.textContent)")?;
    let whole: Value = browser.get(
        "fetch('generate', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ prompt: element('prompt').value, ...settings }),
        }).then((response) => response.json())",
    )?;
    ensure!(shown.concat() == whole["text"], "{shown:?} instead of {}", whole["text"]);
    let tokens = whole["tokens"].as_array().map_or(0, Vec::len);
    ensure!(shown.len() == tokens, "{} tokens instead of {tokens}", shown.len());
    let said: String = browser.get("element('stat-tokens').textContent")?;
    ensure!(said == tokens.to_string(), "{said} tokens are said instead of {tokens}");
    let base: String = browser.get("element('base').textContent")?;
    ensure!(base == prompt, "the text begins with {base:?}");
    Ok(())
}

fn type_prompt(browser: &mut Browser, text: &str) -> Result<()> {
    browser.click("#prompt")?;
    browser.press("Control+a")?;
    browser.type_text(text)
}

pub(super) fn set_number(browser: &mut Browser, id: &str, text: &str) -> Result<()> {
    browser.run(&format!("element({id:?}).focus()"))?;
    browser.press("Control+a")?;
    browser.type_text(text)
}

/// The bars follow the sliders, and show what the server says.
pub fn sliders(browser: &mut Browser, server: &Server) -> Result<()> {
    open(browser, &server.url, Look::DESK)?;
    // What comes next is far from certain, so that each rule changes something.
    type_prompt(browser, "Once upon a time, there was a little frog called")?;
    let moves = [
        ("temperature", &["ArrowLeft", "ArrowLeft", "Home", "End"][..]),
        (
            "top_k",
            &[
                "Home",
                "ArrowRight",
                "ArrowRight",
                "ArrowRight",
                "End",
                "ArrowLeft",
            ],
        ),
        ("top_p", &["ArrowLeft", "Home", "ArrowRight"]),
    ];
    let mut shown = Vec::new();
    for (name, keys) in moves {
        for key in keys {
            browser.run(&format!("element('{name}-slider').focus()"))?;
            browser.press(key)?;
            follow(browser).with_context(|| format!("{name}, {key}"))?;
            shown.push(browser.get::<String>("element('bars').tBodies[0].innerText")?);
        }
        browser.click("#reset")?;
        follow(browser).context("reset")?;
    }
    shown.sort();
    shown.dedup();
    ensure!(shown.len() >= 8, "only {} different pictures", shown.len());

    set_number(browser, "top_k", "3")?;
    set_number(browser, "temperature", "0.72")?;
    follow(browser).context("numbers")?;
    set_number(browser, "top_p", "1")?;
    follow(browser).context("numbers")?;
    browser.wait("location.hash === '#temperature=0.72&top_k=3&top_p=1'")?;
    let summary: String = browser.get("element('summary').textContent")?;
    ensure!(summary.starts_with("The rules keep 3 of "), "{summary}");
    // What is no number of the setting counts for nothing.
    set_number(browser, "temperature", "7")?;
    browser
        .wait("element('temperature').ariaInvalid === 'true' && settings.temperature === 0.72")?;
    browser.press("Tab")?;
    browser.wait("element('temperature').value === '0.72'")?;
    let address: String = browser.get("location.href")?;
    open(browser, &address, Look::DESK)?;
    browser.wait("settings.top_k === 3 && element('temperature').value === '0.72'")?;
    follow(browser).context("from the address")?;
    no_errors(browser)
}

/// Waits until the bars are what the server says.
fn follow(browser: &mut Browser) -> Result<()> {
    let answer: Value = browser.get(ASKED)?;
    let settled = "JSON.stringify(candidates.answer) === JSON.stringify(globalThis.asked)";
    if let Err(error) = browser.wait(settled) {
        let shown: Value = browser.get("candidates.answer")?;
        return Err(error.context(format!("the page has {shown} instead of {answer}")));
    }
    let bars: Vec<Bar> = browser.get(BARS)?;
    let candidates = answer["candidates"].as_array().context("no candidates")?;
    ensure!(bars.len() == candidates.len() + 1 && bars[candidates.len()].token.is_empty());
    for (bar, candidate) in bars.iter().zip(candidates) {
        let share = |field: &str| candidate[field].as_f64().unwrap_or(f64::NAN);
        let (model, sampled) = (share("probability"), share("sampled"));
        // As JSON: the bar shows quotes.
        let token = candidate["token"].to_string();
        let is_right = bar.token == token
            && bar.numbers == [percent(model), percent(sampled)]
            && (bar.model - 100.0 * model).abs() < 1e-3
            && (bar.sampled - 100.0 * sampled).abs() < 1e-3
            && bar.is_removed == (sampled == 0.0)
            && !bar.is_chosen;
        ensure!(is_right, "{bar:?} is shown for {candidate}");
    }
    Ok(())
}

fn percent(share: f64) -> String {
    match 100.0 * share {
        0.0 => "0%".to_owned(),
        percent if percent < 0.05 => "<0.1%".to_owned(),
        percent => format!("{percent:.1}%"),
    }
}

/// Everything is done with the keyboard alone.
pub fn keyboard(browser: &mut Browser, server: &Server) -> Result<()> {
    open(browser, &format!("{}/#temperature=1.2&seed=3", server.url), Look::DESK)?;
    browser.press("Tab")?;
    ensure!(browser.get::<String>("document.activeElement.value")? == "text", "not the mode");
    browser.press("Tab")?;
    ensure!(browser.get::<String>(FOCUS)? == "prompt");
    browser.press("Control+a")?;
    browser.type_text("Tom had a ")?;
    browser.press("Control+Enter")?;
    browser.wait(&format!("story.tokens.length > 5 && {IDLE} && {SETTLED}"))?;
    browser.wait("document.querySelectorAll('.token').length === story.tokens.length")?;
    ensure!(browser.get::<String>(FOCUS)? == "prompt", "the focus has moved");

    tab_stops(browser)?;
    browser.run("document.querySelector('.token[tabindex=\"0\"]').focus()")?;
    for (key, place) in [
        ("ArrowRight", "1"),
        ("ArrowRight", "2"),
        ("ArrowLeft", "1"),
        ("End", "story.tokens.length - 1"),
        ("ArrowRight", "story.tokens.length - 1"),
        ("Home", "0"),
        ("ArrowLeft", "0"),
    ] {
        browser.press(key)?;
        at_token(browser, place).with_context(|| format!("after {key}"))?;
    }
    browser.press("ArrowDown")?;
    let below: usize = browser.get("candidates.selected.index")?;
    at_token(browser, &below.to_string())?;
    let (from, to): (f64, f64) = browser.get(
        "[0, candidates.selected.index].map((i) => story.tokens[i].span.getClientRects()[0].top)",
    )?;
    ensure!(to > from + 10.0 && to < from + 60.0, "a line below {from} px is at {to} px");
    browser.press("ArrowUp")?;
    ensure!(browser.get::<usize>("candidates.selected.index")? < below);
    browser.press("Escape")?;
    ensure!(browser.get::<String>("element('candidates-title').textContent")? == "Next token");

    // The pointer shows the candidates of a token, for as long as it is there.
    browser.run("void story.tokens[3].span.scrollIntoView({ block: 'nearest' })")?;
    browser.point("#tokens .token:nth-child(4)")?;
    browser.wait("element('candidates-title').textContent === 'Token 4'")?;
    browser.point("h1")?;
    browser.wait("element('candidates-title').textContent === 'Next token'")?;
    no_errors(browser)
}

/// Each control is a stop of the tab key, and shows that it has the focus.
fn tab_stops(browser: &mut Browser) -> Result<()> {
    let mut stops = Vec::new();
    loop {
        browser.press("Tab")?;
        let stop: String = browser.get(FOCUS)?;
        if stop == "body" || stops.contains(&stop) || stops.len() > 40 {
            break;
        }
        let outline: String = browser.get(
            "(() => { const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement); \
             return `${outlineStyle} ${outlineWidth}`; })()",
        )?;
        ensure!(outline == "solid 3px", "the focus of {stop} is drawn as {outline}");
        stops.push(stop);
    }
    let expected: Vec<String> = browser.get(
        "[...document.querySelectorAll('button, input:not([type=\"radio\"]), .token[tabindex=\"0\"], a')]
            .filter((control) => control.checkVisibility())
            .map((control) => control.id || control.className || control.localName)",
    )?;
    ensure!(stops == expected, "the tab key stops at {stops:?} instead of {expected:?}");
    Ok(())
}

/// The token at `place` has the focus, and its candidates are shown.
fn at_token(browser: &mut Browser, place: &str) -> Result<()> {
    browser.wait(&format!("document.activeElement === story.tokens[{place}].span"))?;
    let token: Value = browser
        .get(&format!("(({{ top, chosen }}) => ({{ top, chosen }}))(story.tokens[{place}])"))?;
    let bars: Vec<Bar> = browser.get(BARS)?;
    let top = token["top"].as_array().context("no candidates")?;
    ensure!(top.len() == 10, "{} candidates", top.len());
    for (index, (bar, candidate)) in bars.iter().zip(top).enumerate() {
        let probability = candidate["probability"].as_f64().unwrap_or(f64::NAN);
        let is_chosen = token["chosen"] == index;
        let name = candidate["token"].to_string() + if is_chosen { " ✓" } else { "" };
        let is_right = bar.token == name
            && bar.numbers == [percent(probability), String::new()]
            && bar.is_chosen == is_chosen;
        ensure!(is_right, "{bar:?} is shown for {candidate}");
    }
    let chosen = bars.iter().filter(|bar| bar.is_chosen).count();
    ensure!(chosen == 1, "{chosen} tokens are marked as chosen");
    Ok(())
}

/// Tokens arrive one by one, nothing moves, and Escape ends the run also for the server. `slow` is
/// a server with a larger model.
pub fn stop(browser: &mut Browser, slow: &Server) -> Result<()> {
    for look in [Look::DESK, Look::PHONE] {
        open(browser, &format!("{}/#mode=text", slow.url), look)?;
        let before: Vec<f64> = browser.get(PLACES)?;
        browser.press("Control+Enter")?;
        browser.wait("run !== null")?;
        let mut seen = Vec::new();
        // Two are enough to see that they come one after the other.
        while seen.len() < 2 {
            let shown: usize = browser.get("document.querySelectorAll('.token').length")?;
            if shown > seen.last().copied().unwrap_or(0) {
                seen.push(shown);
                let now: Vec<f64> = browser.get(PLACES)?;
                ensure!(now == before, "parts of the page move: from {before:?} to {now:?}");
            }
            ensure!(
                browser.get::<bool>(&format!("!({IDLE})"))?,
                "the run ended after {seen:?} tokens"
            );
        }
        let states: Vec<String> = browser.get(
            "['generate', 'stop', 'again', 'edit', 'clear'].map((id) => element(id).ariaDisabled)",
        )?;
        ensure!(states == ["true", "false", "true", "true", "true"], "{states:?}");
        if look.width == Look::DESK.width {
            browser.press("Escape")?;
        } else {
            browser.click("#stop")?;
        }
        browser.wait(IDLE)?;
        let (tokens, end): (usize, String) =
            browser.get("[story.tokens.length, element('stat-end').textContent]")?;
        ensure!(end == "Stop" && tokens < 200, "{tokens} tokens, ended by {end}");
        let now: Vec<f64> = browser.get(PLACES)?;
        ensure!(now == before, "parts of the page move: from {before:?} to {now:?}");
        no_errors(browser)?;
    }
    // Both runs were cancelled for the server too.
    browser.wait(
        "fetch('metrics').then((response) => response.text()).then((text) => \
         /sequences_finished_total\\{finish_reason=\"cancelled\"\\} [2-9]/.test(text))",
    )?;
    browser.press("Control+Enter")?;
    browser.wait("run !== null")?;
    browser.go("about:blank#")?;
    Ok(())
}

/// Nothing moves where a person wants no motion.
pub fn stillness(browser: &mut Browser, server: &Server) -> Result<()> {
    open(browser, &server.url, Look { is_still: true, ..Look::DESK })?;
    browser.press("Control+Enter")?;
    browser.wait(&format!("story.tokens.length > 0 && {IDLE}"))?;
    let motion: Vec<String> = browser.get(
        "[getComputedStyle(document.querySelector('.token')).animationName, \
          getComputedStyle(document.querySelector('.model')).transitionDuration]",
    )?;
    ensure!(motion == ["none", "0s"], "{motion:?}");
    no_errors(browser)
}
