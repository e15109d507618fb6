//! *17*: the widget's clusters are those of a second program, whose router calls the answers to the
//! exercises, and what the page says of them is so.

#[path = "../../../../../solutions/src/beyond/bounded_hash.rs"]
mod bounded_hash;

use std::collections::VecDeque;
use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::Proof;
use crate::browser::Look;
use crate::simulate::router::hash_of;
use bounded_hash::bounded_hash;

const REPLICAS: usize = 4;
const PREFIXES: usize = 12;
const KILLED: usize = 2;

pub fn check(proof: &mut Proof, _: &Path) -> Result<()> {
    proof.open("beyond.html", Look::DESK)?;
    for share in [35, 10, 60] {
        proof.press("router", "Begin again")?;
        proof.slide("router", 0, &share.to_string())?;
        let policies = [
            Policy::RoundRobin,
            Policy::LeastLoaded,
            Policy::Modulo,
            Policy::Ring,
            Policy::Bounded,
        ];
        let mut clusters = policies.map(|policy| Cluster::new(policy, f64::from(share) / 100.0));
        for (fifties, button) in [
            (4, "Kill replica 2"),
            (2, "Start replica 2"),
            (1, "Kill replica 2"),
        ] {
            for _ in 0..fifties {
                proof.press("router", "Fifty steps")?;
                clusters.iter_mut().for_each(|cluster| cluster.steps(50));
            }
            agree(proof, share, &clusters)?;
            if share == 35 && clusters[0].now == 200 {
                as_the_page_says(&clusters)?;
            }
            proof.press("router", button)?;
            clusters.iter_mut().for_each(Cluster::toggle);
            agree(proof, share, &clusters)?;
        }
        let moved = clusters.each_ref().map(|cluster| cluster.moved);
        ensure!(moved == [None, None, Some(7), Some(3), Some(3)], "prefixes moved: {moved:?}");
        // Other settings keep the steps, and what happened to the replica.
        proof.slide("router", 0, "50")?;
        for cluster in &mut clusters {
            *cluster = Cluster::new(cluster.policy, 0.5);
            for steps in [200, 100, 50] {
                cluster.steps(steps);
                cluster.toggle();
            }
        }
        agree(proof, 50, &clusters)?;
    }
    drawn(proof)
}

/// What the chapter says of the first two hundred steps, which is what the reader is asked to find.
fn as_the_page_says(clusters: &[Cluster]) -> Result<()> {
    let percents =
        clusters.iter().map(|one| (100.0 * one.cached as f64 / one.prompt as f64).round());
    let percents: Vec<f64> = percents.collect();
    let waits: Vec<u32> = clusters.iter().map(Cluster::wait).collect();
    ensure!(percents == [34.0, 28.0, 73.0, 72.0, 65.0], "cached: {percents:?}");
    ensure!(waits == [23, 25, 22, 58, 17], "waits: {waits:?}");
    Ok(())
}

/// Waits until the page shows these clusters.
fn agree(proof: &mut Proof, share: u32, clusters: &[Cluster]) -> Result<()> {
    let rows: Vec<Value> = clusters.iter().map(Cluster::row).collect();
    let (now, arrived) = (clusters[0].now, clusters[0].arrived);
    let expected = json!({ "share": share, "now": now, "arrived": arrived, "rows": rows });
    super::patiently(|| {
        let found: Value = proof.data("router", "shown")?;
        super::same(&found, &expected, &format!("{share}% with prefix A, step {now}"))
    })
}

/// Each policy that is chosen has its replicas drawn.
fn drawn(proof: &mut Proof) -> Result<()> {
    let shown: Value = proof.data("router", "shown")?;
    for policy in 0..5 {
        proof.browser.run(&format!(
            "document.querySelectorAll('[data-widget=router] input[type=radio]')[{policy}].click()"
        ))?;
        let labels: Vec<String> = proof.browser.get(
            "[...document.querySelectorAll('[data-widget=router] .widget-cells p')].map((label) => label.textContent)",
        )?;
        for (replica, label) in labels.iter().enumerate() {
            let open = &shown["rows"][policy]["open"][replica];
            let is_right = match replica {
                KILLED => label == "replica 2: dead",
                _ => label.starts_with(&format!("replica {replica}: {open} open")),
            };
            ensure!(is_right, "policy {policy}: {label:?} instead of {open} open");
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq)]
enum Policy {
    RoundRobin,
    LeastLoaded,
    Modulo,
    Ring,
    Bounded,
}

struct Request {
    prefix: usize,
    arrival: u32,
    /// The tokens of the prompt that are not read yet: `None` before it has begun.
    left: Option<u32>,
    /// The steps of its answer after the first token.
    answer: u32,
}

#[derive(Default)]
struct Replica {
    is_dead: bool,
    open: VecDeque<Request>,
    /// The prefixes in its cache, the latest first.
    cache: Vec<usize>,
    chosen: usize,
}

struct Cluster {
    policy: Policy,
    share: f64,
    state: u32,
    now: u32,
    arrived: u32,
    routed: usize,
    prompt: u32,
    cached: u32,
    longest: u32,
    left: [usize; 2],
    moved: Option<usize>,
    replicas: [Replica; REPLICAS],
}

impl Cluster {
    fn new(policy: Policy, share: f64) -> Self {
        Self {
            policy,
            share,
            state: 1,
            now: 0,
            arrived: 0,
            routed: 0,
            prompt: 0,
            cached: 0,
            longest: 0,
            left: [0, 0],
            moved: None,
            replicas: Default::default(),
        }
    }

    fn random(&mut self) -> f64 {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(self.state) / 4_294_967_296.0
    }

    fn alive(&self) -> Vec<usize> {
        (0..REPLICAS).filter(|&replica| !self.replicas[replica].is_dead).collect()
    }

    /// By the exercise, in which the replicas have the numbers from 0.
    fn on_ring(&self, prefix: usize, percent: usize) -> usize {
        let alive = self.alive();
        let points = |at: usize| {
            let first = 1000 + 8 * alive[at] as u64;
            (first..first + 8).map(move |point| (hash_of(point) % 1200, at))
        };
        let mut ring: Vec<(u64, usize)> = (0..alive.len()).flat_map(points).collect();
        ring.sort_unstable();
        let open = |&replica: &usize| self.replicas[replica].open.len();
        let loads: Vec<usize> = alive.iter().map(open).collect();
        alive[bounded_hash(&ring, hash_of(prefix as u64) % 1200, &loads, percent)]
    }

    fn choose(&self, prefix: usize) -> usize {
        let alive = self.alive();
        match self.policy {
            Policy::RoundRobin => alive[self.routed % alive.len()],
            Policy::LeastLoaded => {
                let key = |replica: usize| {
                    (self.replicas[replica].open.len(), self.replicas[replica].chosen, replica)
                };
                alive.into_iter().min_by_key(|&replica| key(replica)).unwrap_or(0)
            }
            Policy::Modulo => alive[hash_of(prefix as u64) as usize % alive.len()],
            Policy::Ring => self.on_ring(prefix, usize::MAX),
            Policy::Bounded => self.on_ring(prefix, 125),
        }
    }

    fn send(&mut self, request: Request) {
        let replica = self.choose(request.prefix);
        self.routed += 1;
        self.replicas[replica].chosen += 1;
        self.replicas[replica].open.push_back(request);
    }

    fn steps(&mut self, steps: usize) {
        for _ in 0..steps {
            self.step();
        }
    }

    fn step(&mut self) {
        self.now += 1;
        if self.random() < 0.55 {
            let is_first = self.random() < self.share;
            let prefix = if is_first {
                0
            } else {
                1 + (11.0 * self.random()) as usize
            };
            self.arrived += 1;
            self.send(Request { prefix, arrival: self.now, left: None, answer: 4 });
        }
        for replica in self.replicas.iter_mut().filter(|replica| !replica.is_dead) {
            let Some(request) = replica.open.front_mut() else {
                continue;
            };
            let left = request.left.get_or_insert_with(|| {
                let found = replica.cache.contains(&request.prefix);
                replica.cache.retain(|&prefix| prefix != request.prefix);
                replica.cache.insert(0, request.prefix);
                replica.cache.truncate(4);
                self.prompt += 2400;
                self.cached += if found { 2000 } else { 0 };
                if found { 400 } else { 2400 }
            });
            if *left > 0 {
                *left -= 400;
                if *left == 0 {
                    self.longest = self.longest.max(self.now - request.arrival);
                }
            } else {
                request.answer -= 1;
                if request.answer == 0 {
                    replica.open.pop_front();
                }
            }
        }
    }

    fn wait(&self) -> u32 {
        let open = self.replicas.iter().flat_map(|replica| &replica.open);
        let waits = open.filter(|request| request.left != Some(0));
        waits.map(|request| self.now - request.arrival).fold(self.longest, u32::max)
    }

    fn toggle(&mut self) {
        let owners = |one: &Self| -> Option<Vec<usize>> {
            let owner = |prefix| match one.policy {
                Policy::RoundRobin | Policy::LeastLoaded => None,
                Policy::Modulo => Some(one.choose(prefix)),
                Policy::Ring | Policy::Bounded => Some(one.on_ring(prefix, usize::MAX)),
            };
            (0..PREFIXES).map(owner).collect()
        };
        let before = owners(self);
        let is_dead = !self.replicas[KILLED].is_dead;
        let gone = Replica {
            is_dead,
            chosen: self.replicas[KILLED].chosen,
            ..Replica::default()
        };
        let mut left = std::mem::replace(&mut self.replicas[KILLED], gone).open;
        if is_dead {
            let broken = left.pop_front().iter().count();
            self.left = [broken, left.len()];
        }
        left.into_iter().for_each(|request| self.send(request));
        let moved = |(before, after): (Vec<usize>, Vec<usize>)| {
            before.iter().zip(after).filter(|(before, after)| *before != after).count()
        };
        self.moved = before.zip(owners(self)).map(moved);
    }

    fn row(&self) -> Value {
        json!({
            "cached": self.cached,
            "prompt": self.prompt,
            "left": { "broken": self.left[0], "waiting": self.left[1] },
            "moved": self.moved,
            "wait": self.wait(),
            "open": self.replicas.each_ref().map(|replica| replica.open.len()),
        })
    }
}
