//! What all requests share.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;

use super::Settings;
use super::error::ApiError;
use super::metrics::Metrics;
use super::queue_wait::QueueWait;
use super::rate_limit::RateLimit;
use super::service::Service;

/// A handle to what all requests share.
#[derive(Clone)]
pub(super) struct App(Arc<Shared>);

struct Shared {
    /// The name of the model in the API.
    name: String,
    settings: Settings,
    metrics: Metrics,
    rate_limit: Option<RateLimit>,
    queue_wait: QueueWait,
    /// In seconds since 1970.
    started: u64,
    service: OnceLock<Arc<Service>>,
    draining: watch::Sender<bool>,
}

impl App {
    pub(super) fn new(settings: Settings) -> Self {
        Self(Arc::new(Shared {
            name: settings.served_name(),
            metrics: Metrics::new(),
            rate_limit: RateLimit::new(&settings),
            queue_wait: QueueWait::new(settings.max_running),
            started: unix_time(),
            service: OnceLock::new(),
            draining: watch::Sender::new(false),
            settings,
        }))
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The name of the model in the API.
    pub(super) fn name(&self) -> &str {
        &self.0.name
    }

    /// The names that a request can give as its model: that of the model, and those of its adapters.
    pub(super) fn model_names(&self) -> Vec<String> {
        let adapters = self.loaded().map(|service| service.pretrained.adapters.names());
        [self.name().to_owned()].into_iter().chain(adapters.into_iter().flatten()).collect()
    }

    pub(super) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub(super) fn rate_limit(&self) -> Option<&RateLimit> {
        self.0.rate_limit.as_ref()
    }

    pub(super) fn queue_wait(&self) -> &QueueWait {
        &self.0.queue_wait
    }

    pub(super) fn started(&self) -> u64 {
        self.0.started
    }

    /// From now on requests are served.
    pub(super) fn open(&self, service: Service) {
        // Called once.
        let _ = self.0.service.set(Arc::new(service));
    }

    /// From now on new requests are refused.
    pub(super) fn drain(&self) {
        self.0.draining.send_replace(true);
    }

    pub(super) fn is_draining(&self) -> bool {
        *self.0.draining.borrow()
    }

    /// Is ready when new requests are refused.
    pub(super) fn draining(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut draining = self.0.draining.subscribe();
        async move {
            // It fails if nobody is left who could say so.
            let _ = draining.wait_for(|&is_draining| is_draining).await;
        }
    }

    /// The model, if it is loaded, whether or not new requests are accepted.
    pub(super) fn loaded(&self) -> Option<&Arc<Service>> {
        self.0.service.get()
    }

    /// The model, for a new request.
    pub(super) fn service(&self) -> Result<&Arc<Service>, ApiError> {
        if self.is_draining() {
            return Err(ApiError::shutting_down());
        }
        self.loaded().ok_or_else(|| {
            let message = "the model is being loaded: try again in a moment";
            ApiError::unavailable("model_loading", message, Duration::from_secs(1))
        })
    }
}

/// Seconds since 1970.
pub(super) fn unix_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
