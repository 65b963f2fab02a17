//! The parameters of a case.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Named parameters, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Params(Map<String, Value>);

impl Params {
    /// Returns an empty list of parameters.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a parameter. An integer stays an integer, and a string a string.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// Adds all of these parameters.
    pub(crate) fn and(mut self, more: Self) -> Self {
        self.0.extend(more.0);
        self
    }

    /// Returns the keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the keys and the values' texts, in order.
    pub fn texts(&self) -> impl Iterator<Item = (&str, String)> {
        self.0.iter().map(|(key, value)| (key.as_str(), plain(value)))
    }

    /// Returns the text of one value.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<String> {
        self.0.get(key).map(plain)
    }

    /// Returns one value if it is an integer.
    #[must_use]
    pub fn integer(&self, key: &str) -> Option<i64> {
        self.0.get(key).and_then(Value::as_i64)
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (key, value)) in self.texts().enumerate() {
            let gap = if i == 0 { "" } else { " " };
            write!(f, "{gap}{key}={value}")?;
        }
        Ok(())
    }
}
