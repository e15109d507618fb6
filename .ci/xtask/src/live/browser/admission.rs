//! *16*: the widget's server is that of a second program, which computes when each text begins as its
//! request arrives; and what the page says of a minute is so.

use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{Proof, patiently, same};
use crate::browser::Look;

/// Steps of a second, of a text, and of a client's patience.
const SECOND: u32 = 10;
const TEXT: u32 = 5;
const PATIENCE: u32 = 50;
/// The slider's last place.
const UNBOUNDED: usize = 21;
const MINUTE: u32 = 60 * SECOND;

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    proof.open("server.html", Look::DESK)?;
    proof.press("admission", "A minute")?;
    for notices in [false, true] {
        for rate in [2.5, 0.5, 1.5, 4.0] {
            proof.slide("admission", 0, &rate.to_string())?;
            for bound in [0, 1, 5, 10, 11, 20, UNBOUNDED] {
                proof.slide("admission", 1, &bound.to_string())?;
                let server = Server::after(MINUTE, rate, bound, notices);
                let what = format!("{rate} a second, {bound} places, {notices}");
                patiently(|| same(&proof.data("admission", "shown")?, &server.shown(), &what))?;
                if rate == 2.5 {
                    as_the_page_says(&server)?;
                }
            }
        }
        proof.browser.click("[data-widget=admission] input[type=checkbox]")?;
    }
    Ok(())
}

/// What the chapter says of a minute with 2.5 requests a second.
fn as_the_page_says(server: &Server) -> Result<()> {
    let (answered, refused, gone, unread) = server.fates();
    let (half, most) = server.waits();
    let is_so = match (server.bound, server.notices) {
        (1, false) => (60..70).contains(&server.idle()),
        (5, false) => (answered, unread, half) == (119, 0, Some(21)),
        (10, false) => (answered, unread, half, most) == (119, 0, Some(44), Some(50)),
        (11, false) => (answered, unread) == (119 - 49, 49),
        (UNBOUNDED, false) => (answered, unread) == (119 - 90, 90),
        (UNBOUNDED, true) => (answered, refused, gone, unread) == (119, 0, 15, 0),
        _ => true,
    };
    ensure!(is_so, "the page says something else than {}", server.shown());
    Ok(())
}

/// A request that was accepted.
struct Accepted {
    at: u32,
    /// When its text begins, whether its client is still there or not.
    begins: u32,
}

impl Accepted {
    fn gives_up(&self) -> bool {
        self.begins - self.at > PATIENCE
    }
}

struct Server {
    now: u32,
    rate: f64,
    bound: usize,
    notices: bool,
    arrived: usize,
    accepted: Vec<Accepted>,
}

impl Server {
    fn after(steps: u32, rate: f64, bound: usize, notices: bool) -> Self {
        let mut server = Self {
            now: 0,
            rate,
            bound,
            notices,
            arrived: 0,
            accepted: Vec::new(),
        };
        let mut state = 5_u32;
        for now in 1..=steps {
            server.now = now;
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if f64::from(state) / 4_294_967_296.0 < rate / f64::from(SECOND) {
                server.arrive();
            }
        }
        server
    }

    fn arrive(&mut self) {
        self.arrived += 1;
        let written = self.accepted.iter().rev().find(|one| self.writes(one));
        let is_free_at = written.map_or(0, |one| one.begins + TEXT);
        if is_free_at > self.now && self.bound < UNBOUNDED && self.waiting() >= self.bound {
            return;
        }
        self.accepted.push(Accepted { at: self.now, begins: is_free_at.max(self.now) });
    }

    /// Whether the model writes the text of this request.
    fn writes(&self, one: &Accepted) -> bool {
        !(self.notices && one.gives_up())
    }

    fn waiting(&self) -> usize {
        let leaves = |one: &Accepted| {
            if self.writes(one) {
                one.begins
            } else {
                one.at + PATIENCE + 1
            }
        };
        self.accepted.iter().filter(|one| leaves(one) > self.now).count()
    }

    /// Requests that were answered, refused, and given up, and texts that nobody read.
    fn fates(&self) -> (usize, usize, usize, usize) {
        let count =
            |fate: &dyn Fn(&Accepted) -> bool| self.accepted.iter().filter(|one| fate(one)).count();
        let is_written = |one: &Accepted| self.writes(one) && one.begins + TEXT <= self.now;
        (
            count(&|one| is_written(one) && !one.gives_up()),
            self.arrived - self.accepted.len(),
            count(&|one| one.gives_up() && one.at + PATIENCE < self.now),
            count(&|one| is_written(one) && one.gives_up()),
        )
    }

    /// How long clients waited until their texts began: the median, and the longest.
    fn waits(&self) -> (Option<u32>, Option<u32>) {
        let begun = self.accepted.iter().filter(|one| !one.gives_up() && one.begins <= self.now);
        let mut waits: Vec<u32> = begun.map(|one| one.begins - one.at).collect();
        waits.sort_unstable();
        (waits.get(waits.len() / 2).copied(), waits.last().copied())
    }

    fn idle(&self) -> u32 {
        let begun = self.accepted.iter().filter(|one| self.writes(one) && one.begins <= self.now);
        self.now - begun.map(|one| TEXT.min(self.now - one.begins)).sum::<u32>()
    }

    fn shown(&self) -> Value {
        let (answered, refused, gone, unread) = self.fates();
        let (half, most) = self.waits();
        json!({
            "rate": self.rate, "bound": self.bound, "notices": self.notices, "now": self.now,
            "arrived": self.arrived, "answered": answered, "refused": refused, "gone": gone,
            "unread": unread, "idle": self.idle(), "queue": self.waiting(), "half": half, "most": most,
        })
    }
}
