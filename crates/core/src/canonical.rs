//! Canonical JSON: strict parsing in, RFC 8785 out.
//!
//! Naive canonicalisation is not injective: parsers differ on doubled keys, and numbers beyond
//! 2⁵³−1 fall together (255 neighbouring 64-bit ids share one form). Both are refused here, so two
//! calls that differ never share a digest.

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::call::ARGUMENT_DEPTH_MAX;

/// The largest whole number that every JSON reader keeps exactly.
pub const WHOLE_NUMBER_MAX: u64 = (1 << 53) - 1;

/// Why a value has no canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// A whole number that not every reader keeps exactly.
    #[error("a whole number beyond 2^53-1; send it as a string, or the arguments as `args_raw`")]
    NumberTooLarge,
    /// Deeper than is judged.
    #[error("nested deeper than 64 levels")]
    TooDeep,
}

/// Parses `bytes` as one JSON value; a key that stands twice in one object is an error.
pub fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice::<Strict>(bytes).map(|strict| strict.0)
}

/// Returns the canonical form (RFC 8785) of `value`.
pub fn canonical(value: &Value) -> Result<Vec<u8>, CanonicalError> {
    let mut out = Vec::with_capacity(256);
    write(&mut out, value, 0)?;
    Ok(out)
}

fn write(out: &mut Vec<u8>, value: &Value, depth: usize) -> Result<(), CanonicalError> {
    if depth > ARGUMENT_DEPTH_MAX {
        return Err(CanonicalError::TooDeep);
    }
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_number(out, number)?,
        Value::String(text) => write_text(out, text),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(out, item, depth + 1)?;
            }
            out.push(b']');
        }
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            // RFC 8785 sorts by UTF-16 code units, which differs from bytes beyond the BMP.
            keys.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
            out.push(b'{');
            for (index, key) in keys.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_text(out, key);
                out.push(b':');
                write(out, map.get(key).unwrap_or(&Value::Null), depth + 1)?;
            }
            out.push(b'}');
        }
    }
    Ok(())
}

fn write_number(out: &mut Vec<u8>, number: &Number) -> Result<(), CanonicalError> {
    if let Some(whole) = number.as_u64() {
        if whole > WHOLE_NUMBER_MAX {
            return Err(CanonicalError::NumberTooLarge);
        }
        out.extend_from_slice(whole.to_string().as_bytes());
    } else if let Some(whole) = number.as_i64() {
        if whole.unsigned_abs() > WHOLE_NUMBER_MAX {
            return Err(CanonicalError::NumberTooLarge);
        }
        out.extend_from_slice(whole.to_string().as_bytes());
    } else {
        let float = number.as_f64().unwrap_or(f64::NAN);
        // A whole number written as a float is one all the same: `1e300` and its neighbours fall
        // together too.
        #[expect(clippy::cast_precision_loss, reason = "the limit itself is exact")]
        let limit = WHOLE_NUMBER_MAX as f64;
        if !float.is_finite() || (float.abs() > limit && float.fract() == 0.0) {
            return Err(CanonicalError::NumberTooLarge);
        }
        out.extend_from_slice(ryu_js::Buffer::new().format(float).as_bytes());
    }
    Ok(())
}

/// Appends `text` in its canonical form.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    out.push(b'"');
    if text.bytes().all(is_plain) {
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return;
    }
    for letter in text.chars() {
        match letter {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\u{8}' => out.extend_from_slice(b"\\b"),
            '\u{9}' => out.extend_from_slice(b"\\t"),
            '\u{a}' => out.extend_from_slice(b"\\n"),
            '\u{c}' => out.extend_from_slice(b"\\f"),
            '\u{d}' => out.extend_from_slice(b"\\r"),
            control if u32::from(control) < 0x20 => {
                out.extend_from_slice(format!("\\u{:04x}", u32::from(control)).as_bytes());
            }
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

/// A value in which no key stands twice in one object.
#[derive(Debug)]
pub struct Strict(pub Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Seed.deserialize(deserializer).map(Self)
    }
}

#[derive(Clone, Copy)]
struct Seed;

impl<'de> DeserializeSeed<'de> for Seed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            let value = access.next_value_seed(self)?;
            if map.contains_key(&key) {
                return Err(A::Error::custom(format_args!(
                    "the key `{key}` occurs twice"
                )));
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_key_that_stands_twice_is_an_error_at_any_depth() {
        let error = parse(br#"{"a": {"b": 1, "b": 2}}"#).unwrap_err();
        assert!(error.to_string().contains("`b` occurs twice"), "{error}");
    }

    #[test]
    fn anything_else_reads_as_serde_json_reads_it() {
        let text =
            r#"{"a":[1,-2,3.5,true,null,"x\u00e9\n"],"b":{"c":{}},"d":18446744073709551615}"#;
        let expected: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(parse(text.as_bytes()).unwrap(), expected);
    }
}
