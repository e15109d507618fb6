//! Uses every widget in a browser as a reader would, and compares it with the library.
//!
//! The library runs beside the browser in the arithmetic of wasm32, without fused multiply-add. So
//! the same requests must have the same answers: the same tokens, and the same probabilities but for
//! the last digits, which are the `exp` of another platform.

mod admission;
mod allowed;
mod anatomy;
mod candidates;
mod formats;
mod guess;
mod holds;
mod host;
mod lines;
mod looks;
mod loops;
mod native;
mod reach;
mod recall;
mod router;
mod scheduler;
mod story;
mod stream;
mod tile;
mod tokens;
mod way;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::browser::{Browser, Look};
use host::Host;
use native::Native;

/// A book in a browser, and the library.
pub struct Proof {
    pub browser: Browser,
    pub native: Native,
    pub host: Host,
    pub root: PathBuf,
}

type Check = fn(&mut Proof, &Path) -> Result<()>;

/// The checks by name: one for each widget, and their looks.
const CHECKS: [(&str, Check); 19] = [
    ("story", story::check),
    ("candidates", candidates::check),
    ("tokens", tokens::check),
    ("loops", loops::check),
    ("formats", formats::check),
    ("scheduler", scheduler::check),
    ("guess", guess::check),
    ("allowed", allowed::check),
    ("anatomy", anatomy::check),
    ("way", way::check),
    ("tile", tile::check),
    ("router", router::check),
    ("stream", stream::check),
    ("lines", lines::check),
    ("reach", reach::check),
    ("admission", admission::check),
    ("recall", recall::check),
    ("holds", holds::check),
    ("looks", looks::check),
];

pub fn run(chromium: Option<&Path>, root: &Path, only: &str, pictures: &Path) -> Result<()> {
    fs::create_dir_all(pictures)?;
    let built = Command::new("mdbook").args(["build", "book"]).current_dir(root).status()?;
    ensure!(built.success(), "mdbook has failed");
    let native = Native::start(root)?;
    let host = Host::start(&root.join("book/book"))?;
    let mut proof = Proof {
        browser: Browser::start(chromium)?,
        native,
        host,
        root: root.to_owned(),
    };
    for (name, check) in CHECKS.iter().filter(|(name, _)| name.contains(only)) {
        let begin = Instant::now();
        check(&mut proof, pictures).with_context(|| (*name).to_owned())?;
        // As the check has left them.
        proof.pictures(pictures, &format!("used-{name}"))?;
        let errors = proof.browser.errors();
        ensure!(errors.is_empty(), "{name}: the page reports: {}", errors.join("; "));
        println!("{name}: {:.1} s", begin.elapsed().as_secs_f64());
    }
    println!("the widgets: no problems; pictures of them are in {}", pictures.display());
    Ok(())
}

impl Proof {
    /// Opens a page, and waits until its widgets can be used.
    pub fn open(&mut self, page: &str, look: Look) -> Result<()> {
        self.browser.open(&self.host.url(page), look)?;
        self.settle()
    }

    /// Scrolls to each widget, since they begin when they are nearly in sight.
    pub fn settle(&mut self) -> Result<()> {
        let count: usize = self.browser.get("document.querySelectorAll('.widget').length")?;
        for i in 0..count {
            let widget = format!("document.querySelectorAll('.widget')[{i}]");
            self.browser.run(&format!("void {widget}.scrollIntoView({{ block: 'nearest' }})"))?;
            let done = format!("'ready' in {widget}.dataset || 'failed' in {widget}.dataset");
            self.browser.wait(&done)?;
            let failed: bool = self.browser.get(&format!("'failed' in {widget}.dataset"))?;
            if failed {
                let text: String = self.browser.get(&format!("{widget}.innerText"))?;
                anyhow::bail!("a widget does not start: {text}");
            }
        }
        Ok(())
    }

    /// Takes a picture of each widget of the page, with a little of what is around it.
    pub fn pictures(&mut self, folder: &Path, name: &str) -> Result<()> {
        const PARTS: &str = "[...document.querySelectorAll('.widget')].map((widget) => {
            const { x, y, width, height } = widget.getBoundingClientRect();
            return [Math.max(0, x - 20), y + scrollY - 60, width + 40, height + 120];
        })";
        for (i, part) in self.browser.get::<Vec<[Value; 4]>>(PARTS)?.iter().enumerate() {
            self.browser.picture_of(part.each_ref(), &folder.join(format!("{name}-{i}.png")))?;
        }
        Ok(())
    }

    /// Writes a value into a control, as typing or dragging does.
    pub fn set(&mut self, selector: &str, value: &str) -> Result<()> {
        self.browser.run(&format!(
            "(() => {{ const input = document.querySelector({selector:?}); input.value = {}; \
             input.dispatchEvent(new Event('input', {{ bubbles: true }})); \
             input.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()",
            Value::from(value)
        ))
    }

    /// Presses the button of a widget that says this.
    pub fn press(&mut self, widget: &str, label: &str) -> Result<()> {
        let mark = format!(
            "(() => {{ const all = [...document.querySelectorAll('[data-widget={widget}] button')]; \
             document.querySelector('#pressed')?.removeAttribute('id'); \
             all.find((button) => button.textContent === {}).id = 'pressed'; }})()",
            Value::from(label)
        );
        self.browser.run(&mark)?;
        self.browser.click("#pressed")
    }

    /// Moves the `i`-th slider of a widget.
    pub fn slide(&mut self, widget: &str, i: usize, value: &str) -> Result<()> {
        self.browser.run(&format!(
            "(() => {{ document.querySelector('#slid')?.removeAttribute('id'); \
             document.querySelectorAll('[data-widget={widget}] input[type=range]')[{i}].id = 'slid'; }})()"
        ))?;
        self.set("#slid", value)
    }

    /// Writes a seed into its control, which is read when the next story begins.
    pub fn seed(&mut self, widget: &str, seed: u64) -> Result<()> {
        self.browser.run(&format!(
            "(() => {{ document.querySelector('[data-widget={widget}] input[type=number]').value = {seed}; }})()"
        ))
    }

    /// What a widget says below all else.
    pub fn said(&mut self, widget: &str) -> Result<String> {
        self.browser
            .get(&format!("document.querySelector('[data-widget={widget}] output').textContent"))
    }

    /// What a widget keeps for this check.
    pub fn data<T: DeserializeOwned>(&mut self, widget: &str, name: &str) -> Result<T> {
        self.browser.get(&format!(
            "JSON.parse(document.querySelector('[data-widget={widget}]').dataset.{name})"
        ))
    }

    /// Takes away what a widget keeps for this check, so that the next can be waited for.
    pub fn forget(&mut self, widget: &str, name: &str) -> Result<()> {
        self.browser.run(&format!(
            "(() => {{ delete document.querySelector('[data-widget={widget}]').dataset.{name}; }})()"
        ))
    }
}

/// Tries until it succeeds, for ten seconds at most.
pub fn patiently<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let begin = Instant::now();
    loop {
        match attempt() {
            Err(_) if begin.elapsed().as_secs() <= 10 => thread::sleep(Duration::from_millis(10)),
            tried => return tried,
        }
    }
}

/// Fails unless two answers are the same, with a tolerance for numbers that are not whole.
pub fn same(found: &Value, expected: &Value, what: &str) -> Result<()> {
    /// More than two `exp` differ by, and less than one can see.
    const TOLERANCE: f64 = 1e-5;
    let same_numbers = |a: f64, b: f64| (a - b).abs() <= TOLERANCE * (1.0 + b.abs());
    match (found, expected) {
        (Value::Object(a), Value::Object(b)) => {
            ensure!(a.len() == b.len(), "{what}: {found} instead of {expected}");
            for (key, value) in b {
                same(&a[key], value, &format!("{what}.{key}"))?;
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            ensure!(a.len() == b.len(), "{what}: {found} instead of {expected}");
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                same(a, b, &format!("{what}[{i}]"))?;
            }
        }
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => {
            let [a, b] = [a, b].map(|number| number.as_f64().unwrap_or(f64::NAN));
            ensure!(same_numbers(a, b), "{what}: {a} instead of {b}");
        }
        _ => ensure!(found == expected, "{what}: {found} instead of {expected}"),
    }
    Ok(())
}
