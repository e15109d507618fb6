//! The rate limit of each client.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota};

use super::Settings;
use super::error::ApiError;
use super::state::App;

/// After so many requests, clients that have not come for long are forgotten.
const CLEAN_UP_AFTER: u32 = 1024;

/// A bucket of tokens for each client: it fills at a steady rate, and a request takes one.
pub(super) struct RateLimit {
    clients: DefaultKeyedRateLimiter<IpAddr>,
    requests: AtomicU32,
}

impl RateLimit {
    /// None where the settings have no limit.
    pub(super) fn new(settings: &Settings) -> Option<Self> {
        let rate = NonZeroU32::new(settings.rate_per_minute?)?;
        let burst = NonZeroU32::new(settings.burst())?;
        let clients = DefaultKeyedRateLimiter::dashmap(Quota::per_minute(rate).allow_burst(burst));
        Some(Self { clients, requests: AtomicU32::new(0) })
    }

    fn check(&self, client: IpAddr) -> Result<(), ApiError> {
        if self.requests.fetch_add(1, Ordering::Relaxed) % CLEAN_UP_AFTER == CLEAN_UP_AFTER - 1 {
            self.clients.retain_recent();
        }
        let refused = |not_until: governor::NotUntil<_>| {
            ApiError::rate_limited(not_until.wait_time_from(DefaultClock::default().now()))
        };
        self.clients.check_key(&network(client)).map_err(refused)
    }
}

/// Whom an address belongs to. A household or a machine has a whole /64 of IPv6.
pub(super) fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
    }
}

/// Refuses clients that ask too often. The client is the address of the connection: a header that
/// names another one could be made up.
pub(super) async fn limit_rate(
    State(app): State<App>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    if let Some(limit) = app.rate_limit() {
        limit.check(client.ip())?;
    }
    Ok(next.run(request).await)
}
