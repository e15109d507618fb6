//! The library's errors. Each message tells you what is wrong, what was expected and what to do. Charts,
//! downloads and the command line have their own error types.

mod device;
mod load;
mod request;
mod service;

pub use device::DeviceError;
pub use load::LoadError;
pub use request::RequestError;
pub use service::ServiceError;

/// What went wrong while loading a model or serving a request. The variant tells you where to look: at the
/// files, the request, the device or the service.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model was not loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The request can't be served as it is: ask for something else.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The device can't do it.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The request may be right, but the service couldn't serve it.
    #[error(transparent)]
    Service(#[from] ServiceError),
}

/// `std::result::Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests;
