//! What a reader does that is not in the book: prompts that are too long, seeds that are none, keys that
//! mdBook has for itself, print, no JavaScript. A widget holds, and says what happens.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::Proof;
use crate::browser::Look;

type Part = fn(&mut Proof) -> Result<()>;

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    let parts: [(&str, Part); 8] = [
        ("loading", loading),
        ("a refused prompt", refused),
        ("keys", keys),
        ("seeds", seeds),
        ("begin again", again),
        ("a long text", long_text),
        ("print", print),
        ("no JavaScript", without_scripts),
    ];
    for (name, part) in parts {
        part(proof).with_context(|| name.to_owned())?;
    }
    Ok(())
}

/// While the engine is loaded, the widget says how much that is.
fn loading(proof: &mut Proof) -> Result<()> {
    // Far below the window, so that nothing is loaded before this looks.
    let url = proof.host.url("quantized.html");
    proof.browser.open(&url, Look::DESK)?;
    proof.browser.run(
        "(() => { window.seen = []; const output = document.querySelector('.widget output'); \
         new MutationObserver(() => window.seen.push(output.textContent)) \
             .observe(output, { subtree: true, childList: true, characterData: true }); })()",
    )?;
    proof.settle()?;
    let seen: Vec<String> = proof.browser.get("window.seen")?;
    let bytes = super::super::engine_bytes(&proof.root.join(super::super::FOLDER))?;
    let expected = format!("Loading {:.1} MB: ", bytes as f64 / 1e6);
    let said: Vec<&String> = seen.iter().filter(|text| text.starts_with("Loading")).collect();
    ensure!(
        !said.is_empty() && said.iter().all(|text| text.starts_with(&expected)),
        "{seen:?}"
    );
    let last = seen.last().context("the widget says nothing")?;
    ensure!(!last.starts_with("Loading"), "the end is {last:?}");
    Ok(())
}

/// A prompt that does not fit leaves nothing of the text before, and the buttons that would go on are
/// disabled. The next prompt works.
fn refused(proof: &mut Proof) -> Result<()> {
    let long = "frog ".repeat(600);
    for (page, widget, go, text) in [
        (
            "greedy.html",
            "candidates",
            "Draw ten",
            ".widget-steps, thead th:not(:first-child)",
        ),
        ("naive-loop.html", "loops", "Ten steps", ".widget-pair .fig"),
        ("first-light.html", "story", "Write", ".widget-story"),
        ("quantized.html", "formats", "Write", ".widget-text"),
    ] {
        proof.open(page, Look::DESK)?;
        let place = format!("document.querySelector('[data-widget={widget}]')");
        let input = format!("[data-widget={widget}] input[type=text]");
        let said = format!("{place}.querySelector('output').textContent");
        proof.press(widget, go)?;
        proof.browser.wait(&format!("'shown' in {place}.dataset || 'ids' in {place}.dataset"))?;
        proof.set(&input, &long)?;
        let begins = widget != "candidates" && widget != "loops";
        if begins {
            proof.press(widget, "Write")?;
        }
        proof.browser.wait(&format!("{said}.includes('512')")).with_context(|| page.to_owned())?;
        if !begins {
            let disabled: bool = proof.browser.get(&format!(
                "[...{place}.querySelectorAll('button')].filter((button) => \
                 /Draw|tep/.test(button.textContent)).every((button) => \
                 button.getAttribute('aria-disabled') === 'true')"
            ))?;
            ensure!(disabled, "{page}: the buttons are not disabled");
            proof.press(widget, go)?;
        }
        std::thread::sleep(Duration::from_millis(200));
        let left: String = proof.browser.get(&format!(
            "[...{place}.querySelectorAll({text:?})].map((part) => \
             part.textContent + part.querySelectorAll('path').length).join('')"
        ))?;
        let left = left.replace(long.trim_end(), "").replace(['0', ' '], "");
        ensure!(left.is_empty(), "{page}: after a refused prompt, there is {left:?}");
        let still: bool = proof.browser.get(&format!("{said}.includes('512')"))?;
        ensure!(still, "{page}: the reason is gone");
        proof.forget(widget, "shown")?;
        proof.set(&input, "One day")?;
        if begins {
            proof.press(widget, "Write")?;
        }
        proof.browser.wait(&format!("'shown' in {place}.dataset || 'ids' in {place}.dataset"))?;
    }
    Ok(())
}

/// Arrow keys do in a control what they do there, and never turn the page.
fn keys(proof: &mut Proof) -> Result<()> {
    for page in super::looks::PAGES {
        proof.open(page, Look::DESK)?;
        let count: usize = proof.browser.get(
            "(() => { window.stops = [...document.querySelectorAll('.widget')].flatMap((widget) => \
             [widget, ...widget.querySelectorAll('button, input, select, textarea, [tabindex]')]) \
             .filter((stop) => stop.checkVisibility()); return window.stops.length; })()",
        )?;
        ensure!(count > 2, "{page}: {count} controls");
        let address: String = proof.browser.get("location.href")?;
        for stop in 0..count {
            proof.browser.run(&format!("window.stops[{stop}].focus()"))?;
            for key in ["ArrowRight", "ArrowLeft"] {
                proof.browser.press(key)?;
            }
            let now: (String, bool) = proof
                .browser
                .get("[location.href, 'stops' in window]")
                .with_context(|| format!("{page}: the page is left at control {stop}"))?;
            ensure!(now == (address.clone(), true), "{page}: control {stop} turns the page");
        }
    }
    // The rules that one can look at are drawn anew when a slider takes one away, and keep the focus.
    proof.open("top-k.html", Look::DESK)?;
    let rules = "document.querySelectorAll('.widget-stages input')";
    let before: usize = proof.browser.get(&format!("{rules}.length"))?;
    proof.browser.run(&format!("[...{rules}].at(-1).focus()"))?;
    proof.slide("candidates", 0, "60")?;
    proof.browser.wait(&format!("{rules}.length < {before}"))?;
    let kept: bool =
        proof.browser.get("document.activeElement.matches('.widget-stages :checked')")?;
    ensure!(kept, "the rule that was looked at is drawn anew, and the focus is lost");
    // A slider moves, and a button that is disabled keeps the focus.
    proof.open("top-k.html", Look::DESK)?;
    let slider = "document.querySelector('.widget input[type=range]')";
    proof.browser.run(&format!("{slider}.focus()"))?;
    proof.browser.press("ArrowRight")?;
    proof.browser.wait(&format!("{slider}.value === '6'"))?;
    proof.press("candidates", "Draw ten")?;
    proof.press("candidates", "Stop")?;
    proof.browser.wait(
        "document.querySelector('#pressed').getAttribute('aria-disabled') === 'true' && \
         document.activeElement.id === 'pressed'",
    )
}

/// A seed that is none gives way to the one that is used, and a hint says so.
fn seeds(proof: &mut Proof) -> Result<()> {
    proof.open("naive-loop.html", Look::DESK)?;
    let input = "[data-widget=loops] input[type=number]";
    for (typed, used) in [
        ("-1", "0"),
        ("1.7", "1"),
        ("99999999", "999999"),
        ("", "999999"),
    ] {
        proof.set(input, typed)?;
        let (shown, hint): (String, String) = proof.browser.get(
            "[document.querySelector('.widget-number input').value, \
              document.querySelector('.widget-hint').textContent]",
        )?;
        ensure!(shown == used, "{typed:?} is shown as {shown:?}");
        ensure!(
            hint.contains("not a whole number") && hint.contains(used),
            "{typed:?}: {hint:?}"
        );
    }
    proof.set(input, "7")?;
    let hint: String = proof.browser.get("document.querySelector('.widget-hint').textContent")?;
    ensure!(hint.is_empty(), "{hint:?} is said of a seed that is right");
    Ok(())
}

/// "Begin again" and "Stop" do not wait for the steps that were asked for before.
fn again(proof: &mut Proof) -> Result<()> {
    for (page, widget, go, end, length) in [
        ("naive-loop.html", "loops", "Fifty steps", 50, "[0].length"),
        ("paged-kv.html", "scheduler", "Ten steps", 40, ".steps"),
        ("top-p.html", "candidates", "Draw ten", 40, ".step"),
    ] {
        proof.open(page, Look::DESK)?;
        let place = format!("document.querySelector('[data-widget={widget}]')");
        let done = format!("JSON.parse({place}.dataset.shown){length}");
        if widget == "scheduler" {
            proof.press(widget, "Add a request")?;
        }
        for last in ["Stop", "Begin again"] {
            for _ in 0..4 {
                proof.press(widget, go)?;
            }
            proof.press(widget, last)?;
            let idle = format!(
                "[...{place}.querySelectorAll('button')].find((button) => \
                 button.textContent === 'Stop').getAttribute('aria-disabled') === 'true'"
            );
            proof.browser.wait(&idle)?;
            proof.browser.wait(&format!("'shown' in {place}.dataset"))?;
            let steps: u64 = proof.browser.get(&done)?;
            ensure!(steps < end, "{page}: {last} came after {steps} steps");
            ensure!(last == "Stop" || steps == 0, "{page}: {steps} steps after {last}");
        }
    }
    Ok(())
}

/// A text as long as a book is cut, so that the page goes on.
fn long_text(proof: &mut Proof) -> Result<()> {
    proof.open("tokens.html", Look::DESK)?;
    let begin = Instant::now();
    proof.set("[data-widget=tokens] textarea", &"A long text, 🍎 and more. ".repeat(8000))?;
    let said = "document.querySelector('[data-widget=tokens] output').textContent";
    proof.browser.wait(&format!("{said}.startsWith('Your text is long')"))?;
    let took = begin.elapsed();
    ensure!(took < Duration::from_secs(5), "a long text takes {took:?}");
    let shown: usize =
        proof.browser.get("document.querySelectorAll('.widget-tokens li').length")?;
    ensure!((500..=4000).contains(&shown), "{shown} tokens are drawn");
    Ok(())
}

/// Whether each place shows its figure, a note, and whether it shows controls.
const SHOWN: &str = "[...document.querySelectorAll('.widget')].map((widget) => {
    const seen = (selector) => [...widget.querySelectorAll(selector)].some((one) => one.checkVisibility());
    const figure = widget.querySelector('svg[role=img] > title')?.closest('svg');
    const note = [...widget.querySelectorAll('p')].find((note) =>
        note.checkVisibility() && note.textContent.startsWith('In a browser with JavaScript'));
    return [figure?.checkVisibility() ?? false, note !== undefined, seen('button, input, textarea, select, output')];
})";

fn figures_only(proof: &mut Proof, what: &str) -> Result<()> {
    let shown: Vec<[bool; 3]> = proof.browser.get(SHOWN)?;
    ensure!(!shown.is_empty(), "{what}: no widgets");
    let is_right = shown.iter().all(|place| *place == [true, true, false]);
    ensure!(is_right, "{what}: figure, note and controls are shown: {shown:?}");
    Ok(())
}

/// On paper, each widget is its figure, whatever was done with it.
fn print(proof: &mut Proof) -> Result<()> {
    for page in super::looks::PAGES {
        proof.open(page, Look::DESK)?;
        proof.browser.print(true)?;
        figures_only(proof, page)?;
        proof.browser.print(false)?;
        let shown: Vec<[bool; 3]> = proof.browser.get(SHOWN)?;
        ensure!(shown.iter().all(|[.., controls]| *controls), "{page}: no controls on a screen");
    }
    Ok(())
}

/// Without JavaScript, the figure stands there with a note that is right.
fn without_scripts(proof: &mut Proof) -> Result<()> {
    proof.open("tokens.html", Look::DESK)?;
    proof.browser.allow_scripts(false)?;
    for page in super::looks::PAGES {
        let url = proof.host.url(page);
        proof.browser.go(&url)?;
        figures_only(proof, page)?;
    }
    proof.browser.allow_scripts(true)
}
