//! Canonical JSON: each value has exactly one text, so a signature over the text is one over the
//! value.
//!
//! ```text
//! object    members sorted by the bytes of their names, each name once
//! number    a whole number of 64 bits
//! string    escaped where JSON demands it, and nowhere else
//! between   nothing
//! ```

use crate::SealError;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Writes the canonical text of a value.
///
/// # Errors
/// The value contains a number that is not whole, or cannot be written as JSON.
pub fn canonical(value: &impl Serialize) -> Result<String, SealError> {
    let value = serde_json::to_value(value).map_err(|e| SealError::format("a value", e))?;
    let mut text = String::new();
    write(&value, &mut text)?;
    Ok(text)
}

/// Reads a text that [`canonical`] wrote. Other texts of the same value are refused.
///
/// # Errors
/// The text is not canonical, or not a value of this type.
pub fn from_canonical<T: Serialize + DeserializeOwned>(
    what: &'static str,
    bytes: &[u8],
) -> Result<T, SealError> {
    let value: T = serde_json::from_slice(bytes).map_err(|e| SealError::format(what, e))?;
    if canonical(&value)?.as_bytes() != bytes {
        return Err(SealError::format(what, "it is not canonical JSON"));
    }
    Ok(value)
}

fn write(value: &Value, text: &mut String) -> Result<(), SealError> {
    let scalar = |value: &Value| serde_json::to_string(value).map_err(|e| SealError::format("a value", e));
    match value {
        Value::Array(items) => {
            text.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    text.push(',');
                }
                write(item, text)?;
            }
            text.push(']');
        }
        Value::Object(members) => {
            text.push('{');
            // The map's order depends on features of other crates.
            let mut names: Vec<_> = members.iter().collect();
            names.sort_by_key(|(name, _)| name.as_bytes());
            for (i, (name, value)) in names.into_iter().enumerate() {
                if i > 0 {
                    text.push(',');
                }
                *text += &scalar(&Value::String(name.clone()))?;
                text.push(':');
                write(value, text)?;
            }
            text.push('}');
        }
        Value::Number(number) if !(number.is_i64() || number.is_u64()) => {
            return Err(SealError::format(
                "a value",
                format_args!("{number} is not a whole number of 64 bits"),
            ));
        }
        scalars => *text += &scalar(scalars)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_has_one_text() {
        let text = canonical(&json!({"b": [1, -2, "ü\n"], "a": {"z": null, "y": true}}));
        assert_eq!(text.as_deref(), Ok(r#"{"a":{"y":true,"z":null},"b":[1,-2,"ü\n"]}"#));
        assert!(canonical(&json!({"a": 1.5})).is_err());
        for other in [
            r#"{"a":1,"b":2} "#,
            r#"{"b":2,"a":1}"#,
            r#"{"a": 1,"b":2}"#,
            r#"{"a":1,"a":1,"b":2}"#,
            r#"{"a":1e0,"b":2}"#,
            r#"{"\u0061":1,"b":2}"#,
            "",
            "{",
        ] {
            assert!(from_canonical::<Value>("a value", other.as_bytes()).is_err(), "{other}");
        }
        assert!(from_canonical::<Value>("a value", br#"{"a":1,"b":2}"#).is_ok());
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let deep = "[".repeat(1 << 20);
        assert!(from_canonical::<Value>("a value", deep.as_bytes()).is_err());
    }
}
