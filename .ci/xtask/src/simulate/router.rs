//! The policies of routers, in virtual time.

use std::collections::HashSet;
use std::fmt;

use clap::ValueEnum;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::request::Request;

/// How a router chooses a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Route {
    /// Any replica
    Random,
    /// One after the other
    RoundRobin,
    /// The replica with the fewest open requests
    LeastLoaded,
    /// The less loaded of two random replicas
    PowerOfTwo,
    /// A hash of the system prompt
    PrefixHash,
    /// A replica that has the prefix, unless the loads are too far apart
    CacheAware,
}

/// The defaults of sglang-router 0.3: a hit of less than this share of the prompt is none; and
/// above both of these distances between the most and the least loaded, the load decides.
const HIT: f64 = 0.3;
const DISTANCE: usize = 64;
const RATIO: f64 = 1.5;

impl Route {
    pub const ALL: [Self; 6] = [
        Self::Random,
        Self::RoundRobin,
        Self::LeastLoaded,
        Self::PowerOfTwo,
        Self::PrefixHash,
        Self::CacheAware,
    ];
}

impl fmt::Display for Route {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Random => "random",
            Self::RoundRobin => "round robin",
            Self::LeastLoaded => "least loaded",
            Self::PowerOfTwo => "power of two",
            Self::PrefixHash => "prefix hash",
            Self::CacheAware => "cache-aware",
        })
    }
}

/// A router, and what it remembers.
pub struct Router {
    route: Route,
    random: ChaCha8Rng,
    /// Requests so far.
    count: usize,
    /// Which system prompts were sent to which replicas.
    sent: HashSet<(usize, usize)>,
}

impl Router {
    pub fn new(route: Route, seed: u64) -> Self {
        Self {
            route,
            random: ChaCha8Rng::seed_from_u64(seed),
            count: 0,
            sent: HashSet::new(),
        }
    }

    /// The replica for a request. `open[replica]` is how many it has open.
    pub fn choose(&mut self, request: &Request, open: &[usize]) -> usize {
        let all = 0..open.len();
        let replica = match self.route {
            Route::Random => self.any(open.len()),
            Route::RoundRobin => self.count % open.len(),
            Route::LeastLoaded => self.least(all, open),
            Route::PowerOfTwo => {
                let two = [self.any(open.len()), self.any(open.len())];
                self.least(two, open)
            }
            Route::PrefixHash => hash(request) as usize % open.len(),
            Route::CacheAware => {
                let has = |replica: &usize| self.sent.contains(&(request.prefix, *replica));
                let with: Vec<usize> = all.clone().filter(has).collect();
                let is_hit = request.shared as f64 > HIT * request.prompt as f64;
                if is_hit && !with.is_empty() && !is_uneven(open) {
                    self.least(with, open)
                } else {
                    self.least(all, open)
                }
            }
        };
        self.count += 1;
        if request.shared > 0 {
            self.sent.insert((request.prefix, replica));
        }
        replica
    }

    fn any(&mut self, replicas: usize) -> usize {
        (self.random.next_u64() % replicas as u64) as usize
    }

    /// The least loaded of some replicas. Of equal ones, any: the first would get all that comes
    /// to an idle cluster.
    fn least(&mut self, of: impl IntoIterator<Item = usize>, open: &[usize]) -> usize {
        let first = self.any(open.len());
        let turned = |replica: &usize| (replica + open.len() - first) % open.len();
        let least = of.into_iter().min_by_key(|replica| (open[*replica], turned(replica)));
        least.unwrap_or(0)
    }
}

/// Whether the loads are so far apart that a hit is not worth the queue.
fn is_uneven(open: &[usize]) -> bool {
    let most = open.iter().max().copied().unwrap_or(0);
    let least = open.iter().min().copied().unwrap_or(0);
    most - least > DISTANCE && most as f64 > RATIO * least as f64
}

/// A hash of what a request begins with: its system prompt, or all of it.
fn hash(request: &Request) -> u64 {
    let key = if request.shared > 0 {
        request.prefix as u64
    } else {
        // Not one of the system prompts.
        u64::MAX - request.index as u64
    };
    hash_of(key)
}

/// Of similar keys, numbers that have nothing in common.
pub fn hash_of(key: u64) -> u64 {
    ChaCha8Rng::seed_from_u64(key).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(index: usize, shared: usize, prefix: usize) -> Request {
        Request {
            prompt: 100,
            shared,
            prefix,
            output: 1,
            seed: 1,
            index,
            ..Request::default()
        }
    }

    #[test]
    fn each_policy_spreads_requests_that_have_nothing_in_common() {
        for route in Route::ALL {
            let mut router = Router::new(route, 1);
            let mut open = vec![0; 4];
            for index in 0..400 {
                let chosen = router.choose(&request(index, 0, 0), &open);
                open[chosen] += 1;
            }
            let [least, most] = [open.iter().min(), open.iter().max()].map(|n| *n.unwrap());
            let expected = match route {
                Route::RoundRobin | Route::LeastLoaded | Route::CacheAware => 100..=100,
                Route::PowerOfTwo => 95..=105,
                Route::Random | Route::PrefixHash => 70..=130,
            };
            assert!(expected.contains(&least) && expected.contains(&most), "{route}: {open:?}");
        }
    }

    #[test]
    fn a_prefix_stays_where_it_is_until_the_loads_are_too_far_apart() {
        for route in [Route::PrefixHash, Route::CacheAware] {
            let mut router = Router::new(route, 1);
            let mut open = vec![0; 4];
            let first = router.choose(&request(0, 90, 7), &open);
            for index in 1..20 {
                open[first] += 1;
                assert_eq!(router.choose(&request(index, 90, 7), &open), first, "{route}");
            }
            open[first] = 65;
            let then = router.choose(&request(20, 90, 7), &open);
            assert_eq!(then == first, route == Route::PrefixHash, "{route}");
        }
        // A short prefix is no reason.
        let mut router = Router::new(Route::CacheAware, 1);
        let first = router.choose(&request(0, 20, 7), &[0; 4]);
        let mut open = [0; 4];
        open[first] = 1;
        assert_ne!(router.choose(&request(1, 20, 7), &open), first);
    }
}
