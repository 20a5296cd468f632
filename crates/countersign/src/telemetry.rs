//! Logging, and spans for an OpenTelemetry collector. Both contain ids and durations, never the
//! content of a call.
//!
//! Without a collector there is no exporter, no thread and no layer for it; a span that nobody wants
//! costs one look at a flag.

use std::time::Duration;

use axum::http::{HeaderMap, Method};
use countersign_gate::records::view::{ApprovalView, CallView};
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{Protocol, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use tracing::Span;
use tracing::field::Empty;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::filter::{EnvFilter, LevelFilter, Targets};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::complaint::Complaint;

/// The spans that a collector is sent, and no others: what libraries say about themselves may
/// contain anything.
const SPANS: &str = "countersign::spans";
/// How long a collector may take for one batch.
const EXPORT_TIME_MAX: Duration = Duration::from_secs(5);
/// How long the last batch may take when the gateway stops.
const STOP_TIME_MAX: Duration = Duration::from_secs(3);

/// Keeps spans going out; what is left of them goes when it is stopped.
#[derive(Debug)]
pub(crate) struct Telemetry {
    provider: Option<SdkTracerProvider>,
}

/// Begins to log to standard error, and to send spans to the collector at `endpoint` if there is one.
/// Must be called outside a runtime, because what sends has one of its own.
pub(crate) fn start(endpoint: Option<&str>) -> Result<Telemetry, Complaint> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    // Only a second start in one process could fail to take hold, and then the first still holds.
    let Some(endpoint) = endpoint else {
        let log = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .with_target(false);
        drop(log.try_init());
        return Ok(Telemetry { provider: None });
    };
    let provider = provider(endpoint)?;
    let log = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_target(false)
        .with_filter(filter);
    let spans = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("countersign"))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_filter(Targets::new().with_target(SPANS, LevelFilter::DEBUG));
    drop(
        tracing_subscriber::registry()
            .with(log)
            .with(spans)
            .try_init(),
    );
    Ok(Telemetry {
        provider: Some(provider),
    })
}

impl Telemetry {
    /// Sends what is left.
    pub(crate) fn stop(self) {
        if let Some(provider) = self.provider
            && let Err(error) = provider.shutdown_with_timeout(STOP_TIME_MAX)
        {
            tracing::warn!(%error, "the last spans did not reach the collector");
        }
    }
}

fn provider(endpoint: &str) -> Result<SdkTracerProvider, Complaint> {
    let wrong = |why: String| {
        Complaint::usage(
            format!("`telemetry.otlp.endpoint` cannot be used: {why}"),
            "give the address of a collector that takes OTLP over HTTP: http://127.0.0.1:4318",
        )
    };
    let is_url = endpoint.starts_with("http://") || endpoint.starts_with("https://");
    if !is_url {
        return Err(wrong(format!("`{endpoint}` is no http or https address")));
    }
    // Another part of the process may have chosen already; the first choice holds.
    let _chosen = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::blocking::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(EXPORT_TIME_MAX)
        .build()
        .map_err(|error| wrong(error.to_string()))?;
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_http_client(client)
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(EXPORT_TIME_MAX)
        .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
        .build()
        .map_err(|error| wrong(error.to_string()))?;
    let resource = Resource::builder().with_service_name("countersign").build();
    Ok(SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        // Who asks may say which trace it belongs to, but not that it is not to be seen.
        .with_sampler(Sampler::AlwaysOn)
        .with_resource(resource)
        .build())
}

/// Returns the span of a request, under the trace that its sender says it belongs to.
pub(crate) fn request(method: &Method, route: &str, headers: &HeaderMap) -> Span {
    let span = tracing::debug_span!(
        target: SPANS,
        "request",
        otel.name = %format_args!("{method} {route}"),
        otel.kind = "server",
        http.request.method = %method,
        http.route = route,
        http.response.status_code = Empty,
        countersign.call_id = Empty,
        countersign.run_id = Empty,
        countersign.approval_id = Empty,
        countersign.tool = Empty,
        countersign.verdict = Empty,
        countersign.status = Empty,
    );
    if !span.is_disabled() && headers.contains_key("traceparent") {
        let parent = TraceContextPropagator::new().extract(&Headers(headers));
        // Refused where only the log listens, which has no traces.
        let _set = span.set_parent(parent);
    }
    span
}

/// Notes in the current span which call it was about.
pub(crate) fn note_call(call: &CallView) {
    let span = Span::current();
    if span.is_disabled() {
        return;
    }
    span.record("countersign.call_id", call.call_id.as_str());
    span.record("countersign.run_id", call.run_id.as_str());
    span.record("countersign.approval_id", call.approval_id.as_deref());
    span.record("countersign.tool", call.tool.as_str());
    span.record("countersign.verdict", call.verdict.word());
    span.record("countersign.status", call.status.word());
}

/// Notes in the current span which approval it was about.
pub(crate) fn note_approval(approval: &ApprovalView) {
    let span = Span::current();
    if span.is_disabled() {
        return;
    }
    span.record("countersign.approval_id", approval.approval_id.as_str());
    span.record("countersign.call_id", approval.call_id.as_str());
    span.record("countersign.status", approval.status.word());
}

/// The header that names the trace of a request.
struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(axum::http::HeaderName::as_str).collect()
    }
}
