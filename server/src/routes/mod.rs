//! The routes.

mod adapters;
mod candidates;
mod chat;
mod completions;
mod document;
mod embeddings;
mod generate;
mod health;
mod info;
mod models;
mod page;
mod refusals;
mod responses;
mod sglang;
mod tokenize;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::timeout::RequestBodyDeadlineLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::access::log_and_count;
use super::auth::require_key;
use super::connections::limit_connections;
use super::error::ApiError;
use super::host::check_host;
use super::rate_limit::limit_rate;
use super::settings::Origins;
use super::state::App;

/// The document at `/openapi.json`, to which each route adds itself.
#[derive(OpenApi)]
#[openapi(info(
    title = "Slow Burn",
    description = "A language model over HTTP, with the API of OpenAI, routes that clients of other servers ask for, and a few routes of its own."
))]
struct Api;

// ANCHOR: router
/// All routes, and the layers around them: a request passes them from the last to the first.
pub(super) fn router(app: &App) -> Router {
    let (limited, mut of_limited) = limited().split_for_parts();
    document::describe_key(&mut of_limited, app.settings().api_key.is_some());
    document::describe_rate_limit(&mut of_limited);
    let limited = limited
        .route_layer(from_fn_with_state(app.clone(), require_key))
        .route_layer(from_fn_with_state(app.clone(), limit_rate))
        .route_layer(from_fn_with_state(app.clone(), limit_connections));
    let (keyed, mut of_keyed) = keyed().split_for_parts();
    document::describe_key(&mut of_keyed, app.settings().api_key.is_some());
    let keyed = keyed.route_layer(from_fn_with_state(app.clone(), require_key));
    let (open, mut document) = open().split_for_parts();
    document.merge(of_limited);
    document.merge(of_keyed);

    let settings = app.settings();
    let router = limited
        .merge(keyed)
        .merge(open)
        .merge(document::router(document))
        .merge(page::router())
        .fallback(no_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(settings.body_limit()))
        .layer(RequestBodyDeadlineLayer::new(settings.read_timeout.0))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(app.clone(), check_host));
    let router = match &settings.cors_origins {
        Some(origins) => router.layer(cors(origins)),
        None => router,
    };
    router
        .layer(from_fn_with_state(app.clone(), log_and_count))
        .layer(PropagateRequestIdLayer::x_request_id())
        .layer(SetRequestIdLayer::x_request_id(MakeRequestUuid))
        .with_state(app.clone())
}
// ANCHOR_END: router

/// The routes that need a key, where one is needed, and that count for the rate limit. Connections
/// beyond the limits cannot ask them.
fn limited() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(models::list))
        .routes(routes!(models::one))
        // No document of its own: a path of OpenAPI has no parameter with slashes.
        .route("/v1/models/{model}/{*rest}", get(models::one_with_slashes))
        .routes(routes!(adapters::load))
        .routes(routes!(adapters::unload))
        .routes(routes!(completions::complete))
        .routes(routes!(chat::complete))
        .routes(routes!(responses::respond))
        .routes(routes!(embeddings::embed))
        .routes(routes!(generate::generate))
        .routes(routes!(candidates::candidates))
        .routes(routes!(tokenize::tokenize))
        .routes(routes!(tokenize::detokenize))
        .routes(routes!(info::props))
        .routes(routes!(info::health_generate))
}

/// The routes that need a key, where one is needed, and that answer however busy the server is.
fn keyed() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(health::metrics))
        .routes(routes!(info::version))
        .routes(routes!(info::server_info))
        .routes(routes!(info::get_server_info))
        .routes(routes!(info::model_info))
        .routes(routes!(info::get_model_info))
        .routes(routes!(info::get_load))
}

/// The routes that everyone may ask.
fn open() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Api::openapi())
        .routes(routes!(health::health))
        .routes(routes!(health::ready))
}

async fn no_route(request: Request) -> ApiError {
    ApiError::no_route(request.uri().path())
}

async fn wrong_method(request: Request) -> ApiError {
    ApiError::wrong_method(request.method().as_str(), request.uri().path())
}

fn panicked(panic: Box<dyn std::any::Any + Send>) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text =
        text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it gave no reason");
    let message = text.lines().next().unwrap_or_default();
    ApiError::internal(format!("a route panicked: {message}")).into_response()
}

fn cors(origins: &Origins) -> CorsLayer {
    let origins = match origins {
        Origins::All => AllowOrigin::any(),
        Origins::These(origins) => AllowOrigin::list(origins.clone()),
    };
    CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([axum::http::Method::GET, axum::http::Method::POST])
        .allow_headers(AllowHeaders::mirror_request())
}
