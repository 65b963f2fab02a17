//! The OpenAPI document, made from the table of endpoints and the types of bodies and answers.

use crate::{
    access::{CallerRole, Quotas},
    api::{self, ENDPOINTS},
    http::Problem,
    records::{
        datasets::{Dataset, NewDataset},
        jobs::{JobView, Submitted},
        policies::Policy,
        proposals::{Proposal, Proposed},
    },
};
use serde_json::{Map, Value, json};
use utoipa::{OpenApi, openapi::Info};

/// All types that the document names.
#[derive(OpenApi)]
#[openapi(components(schemas(
    Problem,
    api::Health,
    api::Readiness,
    api::GroupView,
    api::Log,
    NewDataset,
    Dataset,
    api::Datasets,
    api::MissingParts,
    api::NewGrant,
    Proposed,
    Proposal,
    api::Proposals,
    api::Judgement,
    api::SignedPolicy,
    Policy,
    api::Policies,
    Submitted,
    JobView,
    api::Jobs,
    api::Arrived,
    api::Challenge,
    api::JobMeeting,
    api::Tokens,
    api::NewToken,
    api::GivenToken,
    api::Tenants,
    Quotas,
    CallerRole
)))]
struct Types;

/// The OpenAPI document.
pub(crate) fn document() -> Value {
    let mut types = Types::openapi();
    types.info = Info::new("Hushwire, one party's service", env!("CARGO_PKG_VERSION"));
    let mut document = serde_json::to_value(&types).unwrap_or_default();
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in ENDPOINTS {
        let of = |name: &str| json!({ "schema": { "$ref": format!("#/components/schemas/{name}") } });
        let names = endpoint.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let parameters: Vec<Value> = names
            .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
            .collect();
        let (status, answer) = endpoint.answer;
        let mut good = json!({ "description": endpoint.summary });
        if let Some(answer) = answer {
            good["content"] = json!({ "application/json": of(answer) });
        }
        let problem =
            json!({ "description": "What is wrong", "content": { "application/json": of("Problem") } });
        let mut operation = json!({
            "summary": endpoint.summary,
            "parameters": parameters,
            "responses": { status.to_string(): good, "default": problem },
        });
        if let Some(body) = endpoint.body {
            operation["requestBody"] =
                json!({ "required": true, "content": { "application/json": of(body) } });
        }
        if !endpoint.roles.is_empty() {
            let roles: Vec<_> = endpoint.roles.iter().map(|role| role.name()).collect();
            operation["security"] = json!([{ "token": [] }]);
            operation["description"] = json!(format!("For: {}.", roles.join(", ")));
        }
        if status == 201 {
            // A repeated request gets 200.
            operation["responses"]["200"] = operation["responses"]["201"].clone();
        }
        if endpoint.path == "/readyz" {
            operation["responses"]["503"] = operation["responses"]["200"].clone();
        }
        let path = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        path[endpoint.method.to_ascii_lowercase()] = operation;
    }
    document["paths"] = Value::Object(paths);
    // In `allOf`, each schema sees all fields, so this one must not refuse the proposal's other
    // fields.
    let schemas = &mut document["components"]["schemas"];
    let mut proposed = schemas["Proposed"].clone();
    if let Some(proposed) = proposed.as_object_mut() {
        proposed.remove("additionalProperties");
    }
    schemas["Proposal"]["allOf"][0] = proposed;
    document["components"]["securitySchemes"] = json!({ "token": { "type": "http", "scheme": "bearer" } });
    document
}

/// The document as text, with sorted keys.
pub(crate) fn text() -> String {
    let mut text = serde_json::to_string_pretty(&sorted(document())).unwrap_or_default();
    text.push('\n');
    text
}

/// The same value with the keys of its objects in order, whatever the features of `serde_json`.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut all: Vec<_> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            all.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(all.into_iter().collect())
        }
        Value::Array(all) => Value::Array(all.into_iter().map(sorted).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `HUSHWIRE_WRITE_PAGES=1` writes the file anew.
    #[test]
    fn the_committed_document_is_that_of_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
        let text = text();
        if std::env::var_os("HUSHWIRE_WRITE_PAGES").is_some() {
            std::fs::write(path, &text).expect("it can be written");
        }
        let there = std::fs::read_to_string(path).expect("it is there");
        assert!(there == text, "run this test with HUSHWIRE_WRITE_PAGES=1, and commit openapi.json");
    }

    /// Every schema that an endpoint names exists.
    #[test]
    fn no_reference_leads_nowhere() {
        let document = document();
        let text = document.to_string();
        for part in text.split("#/components/schemas/").skip(1) {
            let name = part.split('"').next().unwrap_or_default();
            assert!(document["components"]["schemas"].get(name).is_some(), "{name}");
        }
    }
}
