//! A browser that is driven as a person would drive it, over the DevTools protocol of Chromium.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A script that finds what the eye would find wrong with a page.
pub const SEEN: &str = include_str!("book/browser/seen.js");

/// The names of the executable.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// How long anything may take. On a busy machine, a browser is slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// Chromium speaks the protocol on the file descriptors 3 and 4, which a shell can open.
const ON_PIPES: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null"#;

/// The size of the window, and what the person prefers.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    pub width: u32,
    pub height: u32,
    pub is_dark: bool,
    pub is_still: bool,
}

impl Look {
    pub const DESK: Self = Self { width: 1280, height: 900, is_dark: false, is_still: false };
    pub const PHONE: Self = Self { width: 390, height: 844, ..Self::DESK };
}

/// A browser with one page. Dropping it ends the process.
pub struct Browser {
    process: Child,
    to: ChildStdin,
    messages: Receiver<Value>,
    calls: u64,
    target: Option<String>,
    session: Option<String>,
    /// What the page has reported since it was opened.
    events: Vec<Value>,
    _profile: TempDir,
}

impl Browser {
    /// Starts the program that is `given`, or else the first of [`NAMES`] that starts.
    pub fn start(given: Option<&Path>) -> Result<Self> {
        let program = find(given)?;
        let profile = tempfile::tempdir()?;
        let mut process = Command::new("sh")
            .args(["-c", ON_PIPES])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
                // A page of the book may be a file, with scripts that are files too.
                "--allow-file-access-from-files",
            ])
            // The page may load nothing from elsewhere.
            .arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a shell")?;
        let to = process.stdin.take().context("the browser has no input")?;
        let from = process.stdout.take().context("the browser has no output")?;
        let (sender, messages) = mpsc::channel();
        // A thread, so that waiting for a message can come to an end.
        thread::spawn(move || {
            for message in BufReader::new(from).split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).unwrap_or_default();
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let (target, session, events) = (None, None, Vec::new());
        Ok(Self {
            process,
            to,
            messages,
            calls: 0,
            target,
            session,
            events,
            _profile: profile,
        })
    }

    /// Opens a page in a new tab, and closes the tab before it.
    pub fn open(&mut self, url: &str, look: Look) -> Result<()> {
        self.open_with(url, look, "")
    }

    /// The same, with a script that runs before any other of the page.
    pub fn open_with(&mut self, url: &str, look: Look, script: &str) -> Result<()> {
        let old = self.target.take();
        self.session = None;
        self.events.clear();
        let made = self.call("Target.createTarget", json!({ "url": "about:blank" }))?;
        let target = text(&made, "targetId")?;
        if let Some(old) = old {
            self.call("Target.closeTarget", json!({ "targetId": old }))?;
        }
        let attached = json!({ "targetId": target, "flatten": true });
        let attached = self.call("Target.attachToTarget", attached)?;
        self.session = Some(text(&attached, "sessionId")?);
        self.target = Some(target);
        for domain in ["Page", "Runtime", "Log"] {
            self.call(&format!("{domain}.enable"), json!({}))?;
        }
        // As if the window were the one in front: otherwise nothing in it has the focus.
        self.call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }))?;
        self.look(look)?;
        let script = json!({ "source": script });
        self.call("Page.addScriptToEvaluateOnNewDocument", script)?;
        self.go(url)
    }

    /// Loads an address in this tab.
    pub fn go(&mut self, url: &str) -> Result<()> {
        self.call("Page.navigate", json!({ "url": url }))?;
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")
    }

    /// Changes the window.
    pub fn look(&mut self, look: Look) -> Result<()> {
        let Look { width, height, is_dark, is_still } = look;
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size)?;
        self.call("Emulation.setTouchEmulationEnabled", json!({ "enabled": width < 500 }))?;
        let scheme = if is_dark { "dark" } else { "light" };
        let motion = if is_still { "reduce" } else { "no-preference" };
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": motion },
        ]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }))?;
        Ok(())
    }

    /// Shows the page as it would be printed, or on a screen again.
    pub fn print(&mut self, is_printed: bool) -> Result<()> {
        let media = if is_printed { "print" } else { "" };
        self.call("Emulation.setEmulatedMedia", json!({ "media": media })).map(drop)
    }

    /// Lets pages that are opened from now on in this tab run scripts, or not.
    pub fn allow_scripts(&mut self, is_allowed: bool) -> Result<()> {
        self.call("Emulation.setScriptExecutionDisabled", json!({ "value": !is_allowed }))
            .map(drop)
    }

    /// The value of an expression in the page; promises are waited for.
    pub fn get<T: DeserializeOwned>(&mut self, expression: &str) -> Result<T> {
        let asked =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut found = self.call("Runtime.evaluate", asked)?;
        if let Some(exception) = found.get("exceptionDetails") {
            let said = &exception["exception"]["description"];
            bail!("`{expression}` fails: {}", said.as_str().unwrap_or_default());
        }
        serde_json::from_value(found["result"]["value"].take())
            .with_context(|| format!("the value of `{expression}`"))
    }

    /// Evaluates an expression that has no value.
    pub fn run(&mut self, expression: &str) -> Result<()> {
        self.get(expression)
    }

    /// Waits until an expression is true.
    pub fn wait(&mut self, expression: &str) -> Result<()> {
        let begin = Instant::now();
        while !self.get::<bool>(&format!("Boolean({expression})"))? {
            if begin.elapsed() > PATIENCE {
                let shown: String = self.get("document.body.innerText")?;
                bail!("`{expression}` does not come true; the page shows:\n{shown}");
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Presses a key, alone or with Control.
    pub fn press(&mut self, key: &str) -> Result<()> {
        let (modifiers, key) = match key.strip_prefix("Control+") {
            Some(key) => (2, key),
            None => (0, key),
        };
        let (number, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "Escape" => (27, ""),
            "Space" => (32, " "),
            "End" => (35, ""),
            "Home" => (36, ""),
            "ArrowLeft" => (37, ""),
            "ArrowUp" => (38, ""),
            "ArrowRight" => (39, ""),
            "ArrowDown" => (40, ""),
            "a" => (65, "a"),
            _ => bail!("{key} is not a key that this knows"),
        };
        let text = if modifiers == 0 { text } else { "" };
        let value = if key == "Space" { " " } else { key };
        for kind in ["keyDown", "keyUp"] {
            let commands: &[&str] = if (modifiers, key) == (2, "a") {
                &["selectAll"]
            } else {
                &[]
            };
            let event = json!({
                "type": kind, "key": value, "code": key, "modifiers": modifiers,
                "windowsVirtualKeyCode": number, "text": text, "commands": commands,
            });
            self.call("Input.dispatchKeyEvent", event)?;
        }
        Ok(())
    }

    /// Types a text where the focus is.
    pub fn type_text(&mut self, text: &str) -> Result<()> {
        self.call("Input.insertText", json!({ "text": text })).map(drop)
    }

    /// Moves the pointer to the middle of an element.
    pub fn point(&mut self, selector: &str) -> Result<()> {
        let (x, y) = self.middle(selector)?;
        self.mouse("mouseMoved", x, y)
    }

    /// Presses an element with the mouse.
    pub fn click(&mut self, selector: &str) -> Result<()> {
        let (x, y) = self.middle(selector)?;
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.mouse(kind, x, y)?;
        }
        Ok(())
    }

    fn mouse(&mut self, kind: &str, x: f64, y: f64) -> Result<()> {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", event).map(drop)
    }

    fn middle(&mut self, selector: &str) -> Result<(f64, f64)> {
        self.get(&format!(
            "(() => {{ const element = document.querySelector({selector:?}); \
             element.scrollIntoView({{ block: 'nearest' }}); \
             const box = element.getClientRects()[0]; \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ))
    }

    /// Writes a picture of the whole page, also of what is below the window.
    pub fn picture(&mut self, file: &Path) -> Result<()> {
        let size = self.call("Page.getLayoutMetrics", json!({}))?;
        let (width, height) = (&size["cssContentSize"]["width"], &size["cssContentSize"]["height"]);
        self.picture_of([&json!(0), &json!(0), width, height], file)
    }

    /// Writes a picture of a part of the page: `[x, y, width, height]`.
    pub fn picture_of(&mut self, [x, y, width, height]: [&Value; 4], file: &Path) -> Result<()> {
        let clip = json!({ "x": x, "y": y, "width": width, "height": height, "scale": 1 });
        let wanted = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let taken = self.call("Page.captureScreenshot", wanted)?;
        let png = STANDARD.decode(text(&taken, "data")?).context("the picture is not base64")?;
        fs::write(file, png).with_context(|| format!("cannot write {}", file.display()))
    }

    /// The errors that the page or the browser has reported, and forgets them.
    pub fn errors(&mut self) -> Vec<String> {
        let said = |event: Value| {
            let params = &event["params"];
            let message = match event["method"].as_str()? {
                "Runtime.exceptionThrown" => {
                    &params["exceptionDetails"]["exception"]["description"]
                }
                "Runtime.consoleAPICalled" if params["type"] == "error" => &params["args"],
                "Log.entryAdded" if params["entry"]["level"] == "error" => &params["entry"]["text"],
                _ => return None,
            };
            Some(message.to_string())
        };
        self.events.drain(..).filter_map(said).collect()
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.calls += 1;
        let mut request = json!({ "id": self.calls, "method": method, "params": params });
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{request}\0").as_bytes()).context("the browser has ended")?;
        loop {
            let mut message = self
                .messages
                .recv_timeout(PATIENCE)
                .with_context(|| format!("the browser does not answer {method}"))?;
            if message["id"] == self.calls {
                let error = &message["error"];
                ensure!(error.is_null(), "{method}: {error}");
                return Ok(message["result"].take());
            }
            self.events.push(message);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A browser that has ended already needs none of it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn find(given: Option<&Path>) -> Result<PathBuf> {
    let starts = |program: &PathBuf| {
        let mut command = Command::new(program);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let programs =
        given.map_or_else(|| NAMES.map(PathBuf::from).to_vec(), |given| vec![given.to_owned()]);
    programs.into_iter().find(starts).with_context(|| match given {
        Some(given) => format!("{} does not start", given.display()),
        None => "no Chromium is installed; name one with --chromium".to_owned(),
    })
}

fn text(value: &Value, field: &str) -> Result<String> {
    let found = value[field].as_str().map(str::to_owned);
    found.with_context(|| format!("the browser's answer has no {field}"))
}
