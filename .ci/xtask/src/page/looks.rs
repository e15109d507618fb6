//! How the page looks on a desk and on a phone, in light and dark.

use std::path::Path;

use anyhow::{Result, ensure};

use super::talks;
use super::uses::{self, IDLE, SETTLED};
use crate::browser::SEEN;
use crate::browser::{Browser, Look};
use crate::server::Server;

const SCRIPT: &str = include_str!("looks.js");

/// Looks at the page with a text, and at the page that asks for a key. The pictures go to `folder`.
pub fn check(
    browser: &mut Browser,
    [server, talker, locked]: [&Server; 3],
    folder: &Path,
) -> Result<()> {
    let mut problems = Vec::new();
    for (size, place) in [(Look::DESK, "desk"), (Look::PHONE, "phone")] {
        for (is_dark, scheme) in [(false, "light"), (true, "dark")] {
            let look = Look { is_dark, ..size };
            let mut look_at = |browser: &mut Browser, state: &str| -> Result<()> {
                let file = folder.join(format!("{place}-{scheme}-{state}.png"));
                browser.picture(&file)?;
                let found: Vec<String> =
                    browser.get(&format!("(() => {{ {SEEN}\n{SCRIPT} }})()"))?;
                // A request that is refused is an error for the browser.
                let errors = browser.errors().into_iter();
                let errors = errors.filter(|error| !error.contains("status of 401"));
                let found = found.into_iter().chain(errors);
                problems
                    .extend(found.map(|problem| format!("{place}, {scheme}, {state}: {problem}")));
                Ok(())
            };
            let settings = "#temperature=0.8&top_k=4&top_p=0.9&seed=9007199254740991";
            uses::open(browser, &format!("{}/{settings}", server.url), look)?;
            look_at(browser, "begin")?;
            browser.press("Control+Enter")?;
            browser.wait(&format!("{IDLE} && story.isFresh() && {SETTLED}"))?;
            look_at(browser, "text")?;
            browser.run("story.run.go(20)")?;
            look_at(browser, "token")?;
            browser.run("setDisabled('generate', true)")?;
            browser.point("#generate")?;
            look_at(browser, "disabled")?;
            talks::open(browser, talker, look)?;
            look_at(browser, "no-messages")?;
            talks::everything(browser)?;
            look_at(browser, "messages")?;
            browser.open(&locked.url, look)?;
            browser.wait("!element('key-form').hidden")?;
            look_at(browser, "key")?;
        }
    }
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(())
}
