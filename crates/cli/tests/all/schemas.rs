//! Compares reports for programs with the JSON Schemas in `docs/reference/reports`.
//!
//! Every report that a test of this program sees is compared. Each field must be in its schema and
//! have its type, and no field that the schema requires may be missing. With
//! `HUSHWIRE_WRITE_SCHEMAS=1`, schemas are widened to what the tests see. They take the meanings of
//! fields from the tables of the pages and of `docs/reference/fields.md`. Delete a schema's file
//! first to have it written anew.

use crate::common::Place;
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
};

/// Objects whose keys are user-defined names, by their place in a report.
const FREE: [&str; 4] = ["symbols", "outputs", "public", "lengths"];

/// The reports that have schemas.
const REPORTS: [&str; 36] = [
    "circuit-info",
    "circuit-make-microcode",
    "client-aes-ctr",
    "client-infer",
    "client-query",
    "client-run",
    "compute-cost",
    "compute-eval",
    "compute-explain",
    "doctor",
    "error",
    "explain",
    "init",
    "job-show",
    "keys-init",
    "keys-rotate",
    "keys-show",
    "local-aes-ctr",
    "local-compute",
    "local-infer",
    "local-psi",
    "local-query",
    "local-run",
    "model-check",
    "model-plan",
    "ot-recv",
    "ot-send",
    "party-aes-ctr",
    "party-compute",
    "party-infer",
    "party-psi",
    "party-query",
    "party-run",
    "plan-size",
    "serve-model",
    "table-describe",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn file_of(name: &str) -> PathBuf {
    root().join("docs/reference/reports").join(format!("{name}.schema.json"))
}

/// Returns the report's name: its command's name, or for a member the name of its job's kind.
fn name_of(report: &Map<String, Value>) -> Option<String> {
    let command = report.get("command")?.as_str()?;
    report.get("version")?.as_str()?;
    let kinds = [
        ("sql", "query"),
        ("network", "infer"),
        ("computation", "compute"),
        ("reveal", "psi"),
        ("key", "aes-ctr"),
        ("circuit", "run"),
        ("numbers", "draw"),
    ];
    let kind = kinds.iter().find(|(field, _)| report.contains_key(*field));
    Some(match (command, kind) {
        ("party" | "client", Some((_, kind))) => format!("{command}-{kind}"),
        (command, _) => command.replace(' ', "-"),
    })
}

/// Compares a text with its schema, if it is a report.
pub(crate) fn see(text: &str) {
    if !text.starts_with('{') {
        return;
    }
    let Ok(Value::Object(report)) = serde_json::from_str(text) else { return };
    if let Some(name) = name_of(&report) {
        see_as(&name, &Value::Object(report));
    }
}

/// Compares the reports in the files of a directory.
pub(crate) fn see_files(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|end| end == "json" || end == "stdout") {
            see(&fs::read_to_string(path).unwrap_or_default());
        }
    }
}

/// Compares a report whose command is not in it.
pub(crate) fn see_as(name: &str, report: &Value) {
    static WRITING: Mutex<()> = Mutex::new(());
    let path = file_of(name);
    if std::env::var_os("HUSHWIRE_WRITE_SCHEMAS").is_some() {
        let _guard = WRITING.lock();
        let mut schema = read(&path).unwrap_or_else(|| {
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$id": format!("https://github.com/hushwire/hushwire/docs/reference/reports/{name}.schema.json"),
                "title": format!("Report of hushwire {}", title(name)),
            })
        });
        widen(&mut schema, report, "", &meanings(name));
        fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).unwrap_or_else(|e| panic!("{e}"));
        let text = serde_json::to_string_pretty(&sorted(schema)).unwrap_or_else(|e| panic!("{e}"));
        fs::write(&path, text + "\n").unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        return;
    }
    let Some(schema) = read(&path) else { panic!("there is no schema for {name}: {report}") };
    let misfits = misfits(&schema, report, "");
    assert!(
        misfits.is_empty(),
        "{name}: the report and its schema differ ({misfits:?}); if the report is right, run the tests with \
         HUSHWIRE_WRITE_SCHEMAS=1"
    );
}

fn title(name: &str) -> String {
    match name.split_once('-') {
        Some((member @ ("party" | "client"), kind)) => format!("{member}, of a job of kind {kind}"),
        Some((first, rest)) => format!("{first} {rest}"),
        None => name.to_owned(),
    }
}

fn read(path: &Path) -> Option<Value> {
    let text = fs::read_to_string(path).ok()?;
    Some(serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

/// Returns the type's name in a schema.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the types that a schema allows.
fn types(schema: &Value) -> Vec<String> {
    match &schema["type"] {
        Value::String(one) => vec![one.clone()],
        Value::Array(all) => all.iter().filter_map(|t| Some(t.as_str()?.to_owned())).collect(),
        _ => vec![],
    }
}

fn is_free(at: &str) -> bool {
    FREE.contains(&at.rsplit('.').next().unwrap_or(at))
}

/// Returns the places in which a value violates its schema. A field that the schema lacks is one of
/// them: JSON Schema allows it, but this test does not.
fn misfits(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let own = type_of(value);
    let allowed = types(schema);
    let fits = allowed.iter().any(|t| t == own || (t == "number" && own == "integer"));
    if !fits && !allowed.is_empty() {
        return vec![format!("{at} is {own}, and not {}", allowed.join(" or "))];
    }
    let mut all = vec![];
    match value {
        Value::Object(fields) => {
            let more = &schema["additionalProperties"];
            for (key, value) in fields {
                let at = format!("{at}.{key}");
                match (schema["properties"].get(key), more.is_object()) {
                    (Some(schema), _) => all.extend(misfits(schema, value, &at)),
                    (None, true) => all.extend(misfits(more, value, &at)),
                    (None, false) => all.push(format!("{at} is not in the schema")),
                }
            }
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let missing = required.filter(|key| !fields.contains_key(*key));
            all.extend(missing.map(|key| format!("{at}.{key} is missing")));
        }
        Value::Array(elements) => {
            elements.iter().for_each(|e| all.extend(misfits(&schema["items"], e, &format!("{at}[]"))));
        }
        _ => {}
    }
    all
}

/// Gives a field its meaning: the meaning of its whole path in the report, or of the path's end.
fn describe(schema: &mut Value, at: &str, meanings: &BTreeMap<String, String>) {
    let place = at.trim_start_matches('.').replace("clients[]", "parties[]");
    let ends = place.match_indices('.').map(|(dot, _)| &place[dot + 1..]);
    if let Some(meaning) = std::iter::once(&*place).chain(ends).find_map(|end| meanings.get(end)) {
        schema["description"] = json!(meaning);
    }
}

/// Gives all fields of a schema their meanings, and returns those that have none.
fn described(schema: &mut Value, at: &str, meanings: &BTreeMap<String, String>) -> Vec<String> {
    let mut without = vec![];
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (key, field) in fields.into_iter().flatten() {
        let at = format!("{at}.{key}");
        // A meaning that no page has any more is removed.
        field.as_object_mut().map(|field| field.remove("description"));
        describe(field, &at, meanings);
        if field["description"].is_null() {
            without.push(at.clone());
        }
        without.extend(described(field, &at, meanings));
    }
    if schema["items"].is_object() {
        without.extend(described(&mut schema["items"], &format!("{at}[]"), meanings));
    }
    without
}

/// Widens a schema so that it also allows a value.
fn widen(schema: &mut Value, value: &Value, at: &str, meanings: &BTreeMap<String, String>) {
    let mut all = types(schema);
    let own = type_of(value).to_owned();
    let is_new = !all.contains(&"object".to_owned());
    if !all.contains(&own) {
        all.push(own);
    }
    if all.contains(&"number".to_owned()) {
        all.retain(|t| t != "integer");
    }
    all.sort();
    schema["type"] = if all.len() == 1 { json!(all[0]) } else { json!(all) };
    describe(schema, at, meanings);
    match value {
        Value::Object(fields) if is_free(at) => {
            let mut more = if schema["additionalProperties"].is_object() {
                schema["additionalProperties"].clone()
            } else {
                json!({})
            };
            fields.values().for_each(|value| widen(&mut more, value, &format!("{at}.*"), meanings));
            schema["additionalProperties"] = more;
        }
        Value::Object(fields) => {
            let known: Vec<String> = match schema["required"].as_array() {
                Some(required) => required.iter().filter_map(|key| Some(key.as_str()?.to_owned())).collect(),
                None if is_new => fields.keys().cloned().collect(),
                None => vec![],
            };
            let mut required: Vec<String> =
                known.into_iter().filter(|key| fields.contains_key(key)).collect();
            required.sort();
            schema["required"] = json!(required);
            for (key, value) in fields {
                let mut field = schema["properties"].get(key).cloned().unwrap_or_else(|| json!({}));
                widen(&mut field, value, &format!("{at}.{key}"), meanings);
                schema["properties"][key] = field;
            }
        }
        Value::Array(elements) => {
            let mut items = if schema["items"].is_object() { schema["items"].clone() } else { json!({}) };
            elements.iter().for_each(|e| widen(&mut items, e, &format!("{at}[]"), meanings));
            schema["items"] = items;
        }
        _ => {}
    }
}

/// Returns the same value with its keys in order, whatever order this build keeps.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let all: BTreeMap<String, Value> = map.into_iter().collect();
            Value::Object(all.into_iter().map(|(key, value)| (key, sorted(value))).collect())
        }
        Value::Array(all) => Value::Array(all.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// Returns the rows of a page's tables, without the marks of code.
fn rows(page: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join(page)).unwrap_or_default();
    let cells = |line: &str| {
        let line = line.replace("\\|", "\u{1}");
        line.split('|').map(|cell| cell.trim().replace('\u{1}', "|").replace('`', "")).collect()
    };
    text.lines().filter(|line| line.starts_with("| `")).map(cells).collect()
}

/// Returns the meanings of fields. They come from the page of all fields, and from the tables of
/// the pages. The rows of the tables are `` | `field` | commands | unit | meaning | ``, or without
/// the unit.
fn meanings(name: &str) -> BTreeMap<String, String> {
    let page = match name {
        name if name.contains("psi") => "docs/psi.md",
        name if name.contains("query") => "docs/sql.md",
        name if name.contains("infer") || name.contains("model") => "docs/models.md",
        name if name.contains("table") => "docs/files.md",
        "plan-size" => "docs/shards.md",
        name if name.contains("doctor") || name.contains("keys") || name == "init" => "docs/operating.md",
        _ => "docs/jobs.md",
    };
    let mut all = BTreeMap::new();
    for cells in rows("docs/reference/fields.md") {
        let (report, field) = cells[1].split_once('.').unwrap_or(("", &cells[1]));
        match REPORTS.iter().any(|name| !report.is_empty() && name.contains(report)) {
            true if name.contains(report) => all.insert(field.to_owned(), cells[2].clone()),
            true => None,
            false => all.insert(cells[1].clone(), cells[2].clone()),
        };
    }
    // A table of reports names commands in its second column.
    let commands =
        ["local", "party", "client", "check", "plan", "plan-size", "serve-model", "explain", "cost"];
    let is_field = |cells: &Vec<String>| {
        [5, 6].contains(&cells.len()) && cells[2].split(", ").any(|command| commands.contains(&command))
    };
    for cells in rows(page).into_iter().filter(is_field) {
        let unit = if cells.len() == 6 && !["–", ""].contains(&cells[3].as_str()) {
            format!(" ({})", cells[3])
        } else {
            String::new()
        };
        let meaning = format!("{}{unit}", cells[cells.len() - 2]);
        for field in cells[1].split(", ") {
            all.entry(field.to_owned()).or_insert_with(|| meaning.clone());
        }
    }
    all
}

/// Each field has a description in the words of the pages.
#[test]
fn every_field_of_a_schema_has_the_meaning_of_its_page() {
    let mut missing = vec![];
    for name in REPORTS {
        let schema = read(&file_of(name)).unwrap_or_else(|| panic!("{name}"));
        let mut new = schema.clone();
        let without = described(&mut new, "", &meanings(name));
        missing.extend(without.iter().map(|at| format!("{name}{at}")));
        if std::env::var_os("HUSHWIRE_WRITE_SCHEMAS").is_some() {
            let text = serde_json::to_string_pretty(&sorted(new)).unwrap_or_else(|e| panic!("{e}"));
            fs::write(file_of(name), text + "\n").unwrap_or_else(|e| panic!("{name}: {e}"));
        } else {
            assert!(new == schema, "{name}: run the tests with HUSHWIRE_WRITE_SCHEMAS=1");
        }
    }
    assert!(missing.is_empty(), "no page says what {missing:?} are; docs/reference/fields.md may");
}

#[test]
fn every_report_has_a_schema_and_every_schema_a_report() {
    let dir = root().join("docs/reference/reports");
    let entries = fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())).flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut found: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".schema.json")?.to_owned())).collect();
    found.sort();
    assert_eq!(found, REPORTS);
    for name in REPORTS {
        let schema = read(&file_of(name)).unwrap_or_else(|| panic!("{name}"));
        let fields = if name == "error" { &schema["properties"]["error"] } else { &schema };
        assert!(fields["properties"].as_object().is_some_and(|all| all.len() > 3), "{name}");
    }
}

/// The check finds a new field, a missing field, and a field of another type.
#[test]
fn reports_that_differ_from_their_schemas_are_found() {
    let schema = json!({
        "type": "object",
        "properties": {
            "command": { "type": "string" },
            "rows": { "type": ["integer", "null"] },
            "parties": { "type": "array", "items": { "type": "object", "properties": { "x": { "type": "number" } } } },
            "symbols": { "type": "object", "additionalProperties": { "type": "integer" } },
        },
        "required": ["command", "rows"],
    });
    let good = json!({ "command": "a", "rows": null, "parties": [{ "x": 1 }, {}], "symbols": { "n": 3 } });
    assert_eq!(misfits(&schema, &good, ""), Vec::<String>::new());
    for (report, found) in [
        (json!({ "command": "a" }), ".rows is missing"),
        (json!({ "command": "a", "rows": 1, "new": 1 }), ".new is not in the schema"),
        (json!({ "command": "a", "rows": 1.5 }), ".rows is number, and not integer or null"),
        (json!({ "command": "a", "rows": 1, "parties": [{ "x": "1" }] }), ".parties[].x is string"),
        (json!({ "command": "a", "rows": 1, "symbols": { "n": "3" } }), ".symbols.n is string"),
    ] {
        let all = misfits(&schema, &report, "");
        assert!(all.len() == 1 && all[0].starts_with(found), "{all:?}");
    }
    // A schema allows every value to which it was widened.
    let mut wide = json!({});
    let reports = [good, json!({ "command": "a", "rows": 7, "parties": [] })];
    reports.iter().for_each(|report| widen(&mut wide, report, "", &BTreeMap::new()));
    reports.iter().for_each(|report| assert_eq!(misfits(&wide, report, ""), Vec::<String>::new()));
    assert_eq!(wide["required"], json!(["command", "parties", "rows"]));
}

/// Another program confirms that these are JSON Schemas, and that a report conforms to one.
#[test]
fn schemas_are_those_of_their_standard() {
    let script = "import sys, json, pathlib, jsonschema\n\
        for path in sorted(pathlib.Path(sys.argv[1]).glob('*.json')):\n\
        \x20   jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text()))\n\
        schema = json.loads((pathlib.Path(sys.argv[1]) / 'table-describe.schema.json').read_text())\n\
        validator = jsonschema.Draft202012Validator(schema)\n\
        report = json.load(open(sys.argv[2]))\n\
        assert validator.is_valid(report)\n\
        report['rows'] = 'two'\n\
        assert not validator.is_valid(report)\n";
    let place = Place::new();
    place.put("t.csv", b"id,n\n1,5\n");
    let ran = place.ran("table describe t.csv --json r.json");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let output = Command::new("python3")
        .args(["-c", script])
        .arg(root().join("docs/reference/reports"))
        .arg(place.at("r.json"))
        .output();
    match output {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(words.contains("No module named 'jsonschema'"), "{words}");
            eprintln!("NOT COMPARED with jsonschema, which is not here (pip install jsonschema)");
        }
        Err(e) => eprintln!("NOT COMPARED with jsonschema: there is no python3: {e}"),
    }
}
