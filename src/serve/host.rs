//! The names that a server without a key answers to.

use axum::extract::{Request, State};
use axum::http::{Uri, header};
use axum::middleware::Next;
use axum::response::Response;

use super::error::ApiError;
use super::state::App;

/// Refuses requests for other hosts, where the server listens on this machine only and has no key.
///
/// A page of any site can let its own name point to 127.0.0.1 (DNS rebinding), and then the browser
/// takes this server for a part of that site. The `Host` header still says the site's name.
pub(super) async fn check_host(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let settings = app.settings();
    if settings.host.is_loopback() && settings.api_key.is_none() && !settings.no_auth {
        let header = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let host = header.or_else(|| request.uri().authority().map(|authority| authority.as_str()));
        if let Some(host) = host
            && !is_own(host)
        {
            return Err(ApiError::forbidden_host(host));
        }
    }
    Ok(next.run(request).await)
}

/// Whether a `Host` header, with or without a port, names this machine.
fn is_own(host: &str) -> bool {
    let Ok(uri) = host.parse::<Uri>() else {
        return false;
    };
    let name = uri.host().unwrap_or_default();
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let is_address = name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    is_address || name.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_answered_to() {
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:80",
            "127.8.9.1",
            "[::1]:8080",
        ] {
            assert!(is_own(host), "{host}");
        }
        for host in [
            "example.com",
            "localhost.example.com:8080",
            "127.0.0.1.nip.io",
            "",
            "10.0.0.1",
        ] {
            assert!(!is_own(host), "{host}");
        }
    }
}
