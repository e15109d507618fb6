//! The names that a server without a key answers to.

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{Uri, Version, header};
use axum::middleware::Next;
use axum::response::Response;

use super::error::ApiError;
use super::state::App;

/// Refuses requests that do not say for which host they are, as HTTP/1.1 demands, and those for
/// other hosts, where the server listens on this machine only and has no key.
///
/// A page of any site can let its own name point to 127.0.0.1 (DNS rebinding), and then the browser
/// takes this server for a part of that site. The `Host` header still says the site's name.
pub(super) async fn check_host(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let header = header(&request)?;
    let settings = app.settings();
    if settings.host.is_loopback() && settings.api_key.is_none() && !settings.no_auth {
        let of_uri = request.uri().authority().map(Authority::as_str);
        if let Some(other) = header.into_iter().chain(of_uri).find(|host| !is_own(host)) {
            return Err(ApiError::forbidden_host(other));
        }
    }
    Ok(next.run(request).await)
}

/// The `Host` header. Only HTTP/1.0 may do without.
fn header(request: &Request) -> Result<Option<&str>, ApiError> {
    let mut headers = request.headers().get_all(header::HOST).iter();
    let Some(host) = headers.next() else {
        return match request.version() {
            Version::HTTP_10 => Ok(None),
            _ => Err(ApiError::wrong_host("no `Host` header")),
        };
    };
    if headers.next().is_some() {
        return Err(ApiError::wrong_host("more than one `Host` header"));
    }
    let host = host.to_str().ok().filter(|host| host.is_empty() || is_host(host));
    host.map(Some).ok_or_else(|| ApiError::wrong_host("a `Host` header that is no host"))
}

/// Whether this is a name or an address, with or without a port.
fn is_host(host: &str) -> bool {
    !host.contains('@') && host.parse::<Authority>().is_ok()
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
    use axum::body::Body;

    use super::*;

    #[test]
    fn one_host_is_expected() {
        let request = |version, hosts: &[&[u8]]| {
            let mut request = Request::builder().version(version);
            for host in hosts {
                request = request.header(header::HOST, *host);
            }
            request.body(Body::empty()).unwrap()
        };
        let wrong: [&[&[u8]]; 6] = [
            &[],
            &[b"localhost", b"localhost"],
            &[b"\xff"],
            &[b"a b"],
            &[b"a/b"],
            &[b"me@localhost"],
        ];
        for hosts in wrong {
            let request = request(Version::HTTP_11, hosts);
            assert!(header(&request).is_err(), "{hosts:?}");
        }
        assert_eq!(header(&request(Version::HTTP_10, &[])).unwrap(), None);
        for host in ["", "localhost", "[::1]:8080", "my_server:1", "10.0.0.1"] {
            let request = request(Version::HTTP_11, &[host.as_bytes()]);
            assert_eq!(header(&request).unwrap(), Some(host));
        }
    }

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
