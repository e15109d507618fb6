//! The library's errors: each says what is wrong, what is expected and what to do. Charts,
//! downloads and the command line have their own error types.

mod device;
mod load;
mod request;
mod service;

pub use device::DeviceError;
pub use load::LoadError;
pub use request::RequestError;
pub use service::ServiceError;

/// An error of loading a model or of serving a request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model was not loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The request cannot be served: ask for something else.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The device cannot do it.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The request may be right, but the service could not serve it.
    #[error(transparent)]
    Service(#[from] ServiceError),
}

/// `std::result::Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests;
