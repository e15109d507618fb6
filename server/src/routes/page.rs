//! The page at `/`: a few files that are inside the program.

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::state::App;

/// Nothing from elsewhere: no script, style, picture or request, and no frame around the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const SCRIPT: &str = "text/javascript; charset=utf-8";

pub(super) fn router() -> Router<App> {
    let file = |kind: &'static str, text: &'static str| get(async move || file(kind, text));
    Router::new()
        .route("/", file("text/html; charset=utf-8", include_str!("../page/index.html")))
        .route("/page.css", file("text/css; charset=utf-8", include_str!("../page/page.css")))
        .route("/page.js", file(SCRIPT, include_str!("../page/page.js")))
        .route("/api.js", file(SCRIPT, include_str!("../page/api.js")))
        .route("/settings.js", file(SCRIPT, include_str!("../page/settings.js")))
        .route("/tokens.js", file(SCRIPT, include_str!("../page/tokens.js")))
        .route("/text.js", file(SCRIPT, include_str!("../page/text.js")))
        .route("/conversation.js", file(SCRIPT, include_str!("../page/conversation.js")))
}

fn file(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, text).into_response()
}
