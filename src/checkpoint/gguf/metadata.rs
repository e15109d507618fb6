//! The metadata: keys with typed values.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use super::cursor::Cursor;
use crate::error::{Error, LoadError, Result};

/// How deeply arrays may be nested. No published file nests them at all.
const MOST_NESTED: usize = 4;

/// A value of the metadata, with all sizes of integers read as one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Texts(Vec<String>),
    Floats(Vec<f32>),
    Integers(Vec<i32>),
    Flags(Vec<bool>),
    /// An array of any other type, without its elements: no key that this crate reads has one.
    OtherArray,
    /// A text, or an array of texts, that is not UTF-8.
    NotUtf8,
}

impl Value {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        let kind = Kind::read(cursor)?;
        Ok(match kind {
            Kind::U8 => Self::Unsigned(u8::from_le_bytes(cursor.array()?).into()),
            Kind::I8 => Self::Signed(i8::from_le_bytes(cursor.array()?).into()),
            Kind::U16 => Self::Unsigned(u16::from_le_bytes(cursor.array()?).into()),
            Kind::I16 => Self::Signed(i16::from_le_bytes(cursor.array()?).into()),
            Kind::U32 => Self::Unsigned(cursor.u32()?.into()),
            Kind::I32 => Self::Signed(i32::from_le_bytes(cursor.array()?).into()),
            Kind::U64 => Self::Unsigned(cursor.u64()?),
            Kind::I64 => Self::Signed(i64::from_le_bytes(cursor.array()?)),
            Kind::F32 => Self::Float(as_written(f32::from_le_bytes(cursor.array()?))),
            Kind::F64 => Self::Float(f64::from_le_bytes(cursor.array()?)),
            Kind::Bool => Self::Bool(read_flag(cursor)?),
            Kind::Text => cursor.text_or_none()?.map_or(Self::NotUtf8, Self::Text),
            Kind::Array => Self::read_array(cursor)?,
        })
    }

    fn read_array(cursor: &mut Cursor<'_>) -> Result<Self> {
        let (kind, count) = array_start(cursor)?;
        match kind {
            Kind::Text => {
                let mut texts = Some(Vec::new());
                for _ in 0..count {
                    match (cursor.text_or_none()?, &mut texts) {
                        (Some(text), Some(texts)) => texts.push(text),
                        _ => texts = None,
                    }
                }
                Ok(texts.map_or(Self::NotUtf8, Self::Texts))
            }
            Kind::F32 => {
                let bytes = cursor.bytes(4 * count)?;
                let (numbers, _) = bytes.as_chunks();
                Ok(Self::Floats(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()))
            }
            Kind::I32 => {
                let bytes = cursor.bytes(4 * count)?;
                let (numbers, _) = bytes.as_chunks();
                Ok(Self::Integers(numbers.iter().map(|bytes| i32::from_le_bytes(*bytes)).collect()))
            }
            Kind::Bool => {
                // One by one: the count may be any number.
                let mut flags = Vec::new();
                for _ in 0..count {
                    flags.push(read_flag(cursor)?);
                }
                Ok(Self::Flags(flags))
            }
            _ => {
                skip_elements(cursor, kind, count, 1)?;
                Ok(Self::OtherArray)
            }
        }
    }
}

impl Value {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    fn texts(&self) -> Option<&[String]> {
        match self {
            Self::Texts(texts) => Some(texts),
            _ => None,
        }
    }

    fn floats(&self) -> Option<&[f32]> {
        match self {
            Self::Floats(numbers) => Some(numbers),
            _ => None,
        }
    }

    fn integers(&self) -> Option<&[i32]> {
        match self {
            Self::Integers(numbers) => Some(numbers),
            _ => None,
        }
    }

    fn flags(&self) -> Option<&[bool]> {
        match self {
            Self::Flags(flags) => Some(flags),
            _ => None,
        }
    }
}

fn read_flag(cursor: &mut Cursor<'_>) -> Result<bool> {
    let at = cursor.position();
    match cursor.array()? {
        [0] => Ok(false),
        [1] => Ok(true),
        [other] => Err(cursor.damaged(format!("the bool at byte {at} is {other}, not 0 or 1"))),
    }
}

impl Display for Value {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(number) => write!(out, "{number}"),
            Self::Signed(number) => write!(out, "{number}"),
            Self::Float(number) => write!(out, "{number}"),
            Self::Bool(flag) => write!(out, "{flag}"),
            Self::Text(text) => write!(out, "{text:?}"),
            Self::Texts(texts) => write!(out, "an array of {} texts", texts.len()),
            Self::Floats(numbers) => write!(out, "an array of {} floats", numbers.len()),
            Self::Integers(numbers) => write!(out, "an array of {} integers", numbers.len()),
            Self::Flags(flags) => write!(out, "an array of {} bools", flags.len()),
            Self::OtherArray => write!(out, "an array"),
            Self::NotUtf8 => write!(out, "text that is not UTF-8"),
        }
    }
}

/// The number that was rounded to this f32: 1e-5 for 9.999999747e-6. Hyperparameters are decimal
/// fractions, which `config.json` holds as they were written.
fn as_written(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}

/// The type of a value.
#[derive(Debug, Clone, Copy)]
enum Kind {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    Text,
    Array,
    U64,
    I64,
    F64,
}

impl Kind {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        let at = cursor.position();
        Ok(match cursor.u32()? {
            0 => Self::U8,
            1 => Self::I8,
            2 => Self::U16,
            3 => Self::I16,
            4 => Self::U32,
            5 => Self::I32,
            6 => Self::F32,
            7 => Self::Bool,
            8 => Self::Text,
            9 => Self::Array,
            10 => Self::U64,
            11 => Self::I64,
            12 => Self::F64,
            other => {
                let problem = format!("the type of a value at byte {at} is {other}, not 0 to 12");
                return Err(cursor.damaged(problem));
            }
        })
    }

    /// The least bytes that a value takes: a text is at least its length, an array its type and
    /// its length.
    fn least_size(self) -> u64 {
        match self {
            Self::U8 | Self::I8 | Self::Bool => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 | Self::Text => 8,
            Self::Array => 12,
        }
    }
}

/// The type of an array's elements, and how many there are.
fn array_start(cursor: &mut Cursor<'_>) -> Result<(Kind, u64)> {
    let kind = Kind::read(cursor)?;
    let count = cursor.u64()?;
    cursor.check_count(count, kind.least_size(), "elements of an array")?;
    Ok((kind, count))
}

fn skip_elements(cursor: &mut Cursor<'_>, kind: Kind, count: u64, depth: usize) -> Result<()> {
    match kind {
        Kind::Text => (0..count).try_for_each(|_| {
            let length = cursor.u64()?;
            cursor.skip(length)
        }),
        Kind::Array if depth == MOST_NESTED => {
            let problem = format!("an array is nested more than {MOST_NESTED} deep");
            Err(cursor.damaged(problem))
        }
        Kind::Array => (0..count).try_for_each(|_| {
            let (kind, count) = array_start(cursor)?;
            skip_elements(cursor, kind, count, depth + 1)
        }),
        // `array_start` has checked that the product is not more than the file's size.
        _ => cursor.skip(count * kind.least_size()),
    }
}

/// All entries, by their keys.
#[derive(Debug)]
pub(super) struct Metadata {
    origin: String,
    entries: BTreeMap<String, Value>,
}

impl Metadata {
    pub(super) fn read(cursor: &mut Cursor<'_>, count: u64, origin: &str) -> Result<Self> {
        /// A key's length, a type, and a value of one byte.
        const LEAST: u64 = 8 + 4 + 1;
        cursor.check_count(count, LEAST, "metadata entries")?;
        let mut entries = BTreeMap::new();
        for _ in 0..count {
            let key = cursor.text_or_none()?;
            let value = Value::read(cursor)?;
            let Some(key) = key else {
                continue; // nothing reads a key of this name
            };
            if entries.contains_key(&key) {
                return Err(cursor.damaged(format!("metadata key {key:?} occurs twice")));
            }
            entries.insert(key, value);
        }
        Ok(Self { origin: origin.to_owned(), entries })
    }

    /// The name of the file in errors.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.entries.get(key)
    }

    /// The first key, besides `except`, that has another value in `other`. Keys that only one of both
    /// has are no difference.
    pub(super) fn difference<'a>(&'a self, other: &Self, except: &[&str]) -> Option<&'a str> {
        let differs = |(key, value): &(&'a String, &Value)| {
            let found = other.entries.get(*key);
            found.is_some_and(|found| found != *value) && !except.contains(&key.as_str())
        };
        self.entries.iter().find(differs).map(|(key, _)| key.as_str())
    }

    /// A size, or none where there is no such key.
    pub(super) fn size(&self, key: &str) -> Result<Option<usize>> {
        let size = |value: &Value| match *value {
            Value::Unsigned(number) => usize::try_from(number).ok(),
            Value::Signed(number) => usize::try_from(number).ok(),
            _ => None,
        };
        self.optional(key, size, "a whole number, 0 or above")
    }

    /// Sizes of so many layers: one of each, or only one, for all of them.
    pub(super) fn sizes(&self, key: &str, layers: usize) -> Result<Option<Vec<usize>>> {
        let sizes = |value: &Value| match value {
            Value::Integers(numbers) if numbers.len() == layers => {
                numbers.iter().map(|number| usize::try_from(*number).ok()).collect()
            }
            Value::Unsigned(number) => Some(vec![usize::try_from(*number).ok()?]),
            Value::Signed(number) => Some(vec![usize::try_from(*number).ok()?]),
            _ => None,
        };
        self.optional(key, sizes, "a whole number, 0 or above, or one for each layer")
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<f64>> {
        let number = |value: &Value| match *value {
            Value::Float(number) => Some(number),
            Value::Unsigned(number) => Some(number as f64),
            Value::Signed(number) => Some(number as f64),
            _ => None,
        };
        self.optional(key, number, "a number")
    }

    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>> {
        let flag = |value: &Value| match *value {
            Value::Bool(flag) => Some(flag),
            _ => None,
        };
        self.optional(key, flag, "true or false")
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<&str>> {
        self.optional(key, Value::text, "a text")
    }

    pub(super) fn texts(&self, key: &str) -> Result<Option<&[String]>> {
        self.optional(key, Value::texts, "an array of texts")
    }

    pub(super) fn floats(&self, key: &str) -> Result<Option<&[f32]>> {
        self.optional(key, Value::floats, "an array of 32-bit floats")
    }

    pub(super) fn integers(&self, key: &str) -> Result<Option<&[i32]>> {
        self.optional(key, Value::integers, "an array of 32-bit integers")
    }

    pub(super) fn flags(&self, key: &str) -> Result<Option<&[bool]>> {
        self.optional(key, Value::flags, "an array of bools")
    }

    /// An error that says what was expected instead of the value of `key`.
    pub(super) fn wrong(&self, key: &str, expected: impl Display) -> Error {
        let value = self.entries.get(key).map_or("missing".to_owned(), Value::to_string);
        Error::Load(LoadError::Metadata {
            origin: self.origin.clone(),
            key: key.to_owned(),
            problem: format!("is {value}, but must be {expected}"),
        })
    }

    fn optional<'a, T>(
        &'a self,
        key: &str,
        read: impl Fn(&'a Value) -> Option<T>,
        expected: &str,
    ) -> Result<Option<T>> {
        match self.entries.get(key) {
            None => Ok(None),
            Some(value) => read(value).map(Some).ok_or_else(|| self.wrong(key, expected)),
        }
    }
}
