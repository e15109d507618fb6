//! The page where the server refuses, or is gone.

use anyhow::{Result, ensure};

use super::uses::{FOCUS, IDLE, SETTLED, open};
use crate::browser::{Browser, Look};
use crate::server::Server;

/// The page asks for the API key, says when it is wrong, and keeps it for the tab only.
pub fn key(browser: &mut Browser, locked: &Server, key: &str) -> Result<()> {
    browser.open(&locked.url, Look::DESK)?;
    browser.wait("!element('key-form').hidden")?;
    ensure!(browser.get::<String>(FOCUS)? == "body", "a page that opens takes the focus");
    let (shown, said): (String, String) = browser
        .get("[getComputedStyle(element('bars')).visibility, element('summary').textContent]")?;
    ensure!(
        shown == "hidden" && said.contains("API key"),
        "without a key: {shown}, {said:?}"
    );
    browser.press("Control+Enter")?;
    browser.wait("document.activeElement.id === 'key'")?;
    browser.type_text("wrong-key-123")?;
    browser.press("Enter")?;
    browser.wait("element('key-form').textContent.includes('is not one of those')")?;
    browser.wait("document.activeElement.id === 'key'")?;
    browser.type_text(key)?;
    browser.press("Enter")?;
    browser.wait(SETTLED)?;
    ensure!(browser.get::<bool>("element('key-form').hidden")?);
    browser.press("Control+Enter")?;
    browser.wait(&format!("story.tokens.length > 0 && {IDLE}"))?;
    let kept: String = browser.get("Object.values(sessionStorage).join()")?;
    ensure!(kept.contains(key), "the key is not kept");
    ensure!(browser.get::<bool>("localStorage.length === 0 && document.cookie === ''")?);
    no_errors_but(browser, "status of 401")
}

/// A server that has had enough says for how long, and so does the page. Then it goes on.
pub fn rate(browser: &mut Browser, limited: &Server) -> Result<()> {
    browser.open(&limited.url, Look::DESK)?;
    // The page asks for the model and for the candidates: one request more than it may.
    browser.wait("!element('problem').hidden")?;
    let (said, state): (String, String) =
        browser.get("[element('problem').textContent, element('generate').ariaDisabled]")?;
    let begin = "Too many requests: the next one may come in ";
    ensure!(said.starts_with(begin) && said.ends_with(" left"), "it says {said:?}");
    ensure!(state == "true", "Generate is not disabled");
    browser.press("Control+Enter")?;
    ensure!(browser.get::<bool>(IDLE)?, "it does not wait");
    browser.wait("element('problem').hidden && element('generate').ariaDisabled === 'false'")?;
    browser.press("Control+Enter")?;
    browser.wait(&format!("story.tokens.length > 0 && {IDLE}"))?;
    no_errors_but(browser, "status of 429")
}

/// A server that dies in the middle of a text: the page keeps what there is of it, and blames the
/// connection.
pub fn lost(browser: &mut Browser, slow: Server) -> Result<()> {
    open(browser, &format!("{}/#mode=text", slow.url), Look::DESK)?;
    browser.press("Control+Enter")?;
    browser.wait("story.tokens.length > 0")?;
    drop(slow);
    browser.wait(&format!("{IDLE} && !element('problem').hidden"))?;
    let (said, tokens): (String, usize) =
        browser.get("[element('problem').textContent, story.tokens.length]")?;
    ensure!(said.starts_with("The connection broke off"), "it says {said:?}");
    ensure!(tokens > 0, "the text is gone");
    Ok(())
}

/// A server that is gone is missed, and the page goes on when it is back.
pub fn gone(browser: &mut Browser, start: impl Fn(&[&str]) -> Result<Server>) -> Result<()> {
    let server = start(&[])?;
    open(browser, &server.url, Look::DESK)?;
    let port = server.port().to_owned();
    drop(server);
    browser.press("Control+Enter")?;
    browser.wait(&format!("{IDLE} && !element('problem').hidden"))?;
    let said: String = browser.get("element('problem').textContent")?;
    ensure!(said.starts_with("The server does not answer."), "it says {said:?}");
    let _server = start(&["--port", &port])?;
    browser.wait("element('problem').hidden")?;
    browser.press("Control+Enter")?;
    browser.wait(&format!("story.tokens.length > 0 && {IDLE}"))
}

pub(super) fn no_errors_but(browser: &mut Browser, expected: &str) -> Result<()> {
    let errors = browser.errors();
    let unexpected = errors.iter().find(|error| !error.contains(expected));
    ensure!(unexpected.is_none(), "the page reports: {unexpected:?}");
    Ok(())
}
