//! Columns from declarations, and from the fields of files.

use crate::{Fault, cell, error::refused};
use hushwire_fault::code;
use hushwire_tables::algebra::{Column, ColumnType, MAX_DIGITS, MAX_TEXT};

/// Parses a type such as `DECIMAL(12, 2)`, `VARCHAR(25)`, `DIGEST(128)` or `DOUBLE(32)`. Case does
/// not matter.
#[must_use]
pub fn parse_type(text: &str) -> Option<ColumnType> {
    let (name, arguments) = match text.trim().split_once('(') {
        Some((name, rest)) => (name.trim(), Some(rest.trim().strip_suffix(')')?)),
        None => (text.trim(), None),
    };
    let numbers: Vec<u16> = arguments
        .map(|list| list.split(',').map(|n| n.trim().parse().ok()).collect::<Option<_>>())
        .map_or(Some(vec![]), |list| list)?;
    let small = |n: u16| u8::try_from(n).ok();
    let ty = match (name.to_ascii_uppercase().as_str(), &numbers[..]) {
        ("BOOLEAN" | "BOOL", []) => ColumnType::Boolean,
        ("SMALLINT", []) => ColumnType::SmallInt,
        ("INTEGER" | "INT", []) => ColumnType::Integer,
        ("BIGINT", []) => ColumnType::BigInt,
        ("DECIMAL" | "NUMERIC", [p]) => ColumnType::Decimal { precision: small(*p)?, scale: 0 },
        ("DECIMAL" | "NUMERIC", [p, s]) => ColumnType::Decimal { precision: small(*p)?, scale: small(*s)? },
        ("DATE", []) => ColumnType::Date,
        ("TIMESTAMP", []) => ColumnType::Timestamp,
        ("VARCHAR" | "CHAR", [n]) => ColumnType::Varchar(*n),
        ("DIGEST", []) => ColumnType::Digest { bits: 64 },
        ("DIGEST", [n]) => ColumnType::Digest { bits: small(*n)? },
        ("DOUBLE", []) => ColumnType::Double { frac: 32 },
        ("DOUBLE", [frac]) => ColumnType::Double { frac: small(*frac)? },
        _ => return None,
    };
    ty.is_valid().then_some(ty)
}

/// The declaration of a column, as [`column()`] reads it. A name that is not one word is quoted.
#[must_use]
pub fn declaration(column: &Column) -> String {
    let name = &column.name;
    if !name.is_empty() && !name.starts_with('"') && !name.contains(char::is_whitespace) {
        return column.to_string();
    }
    let quoted = Column { name: format!("\"{}\"", name.replace('"', "\"\"")), ..column.clone() };
    quoted.to_string()
}

/// The name of a declaration, and the rest. A quoted name may contain blanks and doubled quotes.
fn named(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (name, rest) = text.split_once(char::is_whitespace)?;
        return Some((name.to_owned(), rest));
    };
    let (mut name, mut rest) = (String::new(), quoted);
    loop {
        let (part, behind) = rest.split_once('"')?;
        name.push_str(part);
        match behind.strip_prefix('"') {
            Some(more) => (rest, name) = (more, name + "\""),
            None => return behind.starts_with(char::is_whitespace).then_some((name, behind)),
        }
    }
}

/// Reads a declaration of a column, such as `person INTEGER NOT NULL` or `"first name" VARCHAR(9)`,
/// or the form in which columns are shown. A column without NOT NULL may be NULL.
///
/// # Errors
/// The text is not a name and a type.
pub fn column(text: &str) -> Result<Column, Fault> {
    let wrong = || {
        let remedy = "write it as in \"person INTEGER NOT NULL\", \"cents DECIMAL(12, 2)\" or \"name VARCHAR(25)\"; quote a name with blanks";
        refused(format!("{text:?} declares no column"), remedy)
    };
    let (name, rest) = named(text.trim()).ok_or_else(wrong)?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let not_null = matches!(&words[..], [.., not, null] if not.eq_ignore_ascii_case("not") && null.eq_ignore_ascii_case("null"));
    let ty = if not_null { words[..words.len() - 2].join(" ") } else { words.join(" ") };
    let unknown = || {
        let remedy = match ty.split('(').next().unwrap_or_default().trim().to_ascii_uppercase().as_str() {
            "" => return wrong(),
            "TEXT" | "STRING" | "VARCHAR" | "CHAR" | "NVARCHAR" | "CLOB" => {
                "write VARCHAR(n), where n is the bytes of the longest text, 512 at most; DIGEST holds longer text that no result shows"
            }
            "FLOAT" | "REAL" | "FLOAT8" | "FLOAT4" => {
                "write DOUBLE, or DECIMAL(p, s) for numbers that are exact"
            }
            "TINYINT" | "INT2" => "write SMALLINT",
            "INT4" | "MEDIUMINT" => "write INTEGER",
            "INT8" | "LONG" | "HUGEINT" => "write BIGINT",
            "DATETIME" | "TIMESTAMPTZ" => "write TIMESTAMP, which is in UTC",
            _ => {
                "take BOOLEAN, SMALLINT, INTEGER, BIGINT, DECIMAL(p, s), DOUBLE, DATE, TIMESTAMP, VARCHAR(n) or DIGEST, and NOT NULL behind it"
            }
        };
        refused(format!("{text:?} has the type {ty:?}, which columns do not have"), remedy)
    };
    let made = Column::new(&name, parse_type(&ty).ok_or_else(unknown)?);
    Ok(if not_null { made } else { made.nullable() })
}

/// A field of a file, with its spellings as a number and as a date or time in the format of this
/// crate.
#[derive(Clone, Copy, Debug)]
pub struct Spelt<'f> {
    /// The field itself.
    pub text: &'f str,
    /// The field as a number; `None` if it is not a number in the file's format.
    pub number: Option<&'f str>,
    /// The field as a date or time.
    pub moment: &'f str,
}

/// The kinds of values, besides text, that a field may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looks {
    /// A number, whose spelling does not matter beyond its value.
    pub number: bool,
    /// A code: a number that begins with zeros or a plus.
    pub code: bool,
    /// A date or a time.
    pub moment: bool,
    /// True or false.
    pub truth: bool,
}

impl Spelt<'_> {
    /// The kinds of values that the field may have.
    #[must_use]
    pub fn looks(&self) -> Looks {
        let number = self.number.map(str::trim).unwrap_or_default();
        let is_number = is_number(number) || is_real(number, false);
        let begins = self.moment.trim().starts_with(|c: char| c.is_ascii_digit());
        Looks {
            number: is_number && !is_code(number),
            code: is_number && is_code(number),
            moment: begins && cell::read(self.moment, ColumnType::Timestamp).is_ok(),
            truth: is_truth(self.text),
        }
    }
}

fn is_truth(field: &str) -> bool {
    ["true", "false"].iter().any(|word| field.trim().eq_ignore_ascii_case(word))
}

/// The narrowest type that fits all fields of a column, from the fields seen so far.
#[derive(Clone, Debug)]
pub struct Inferred {
    candidates: Vec<ColumnType>,
    whole: u8,
    scale: u8,
    bytes: u16,
    empty: bool,
    any: bool,
    declared: bool,
    /// The fractional bits of the DOUBLE that fits all numbers seen so far; `None` if none does.
    frac: Option<u8>,
}

/// The default number of fractional bits of a DOUBLE.
const FRAC: u8 = 32;

impl Default for Inferred {
    fn default() -> Self {
        use ColumnType::{BigInt, Boolean, Date, Integer, Timestamp};
        let digits = ColumnType::Decimal { precision: MAX_DIGITS, scale: MAX_DIGITS / 2 };
        let double = ColumnType::Double { frac: FRAC };
        let candidates = vec![Boolean, Integer, BigInt, digits, Date, Timestamp, double];
        let (empty, any, declared, frac) = (false, false, false, Some(FRAC));
        Inferred { candidates, whole: 1, scale: 0, bytes: 1, empty, any, declared, frac }
    }
}

impl Inferred {
    /// Restricts the choice to a file's declaration. Numbers stay numbers, of the narrowest type.
    /// Strings, declared as `None`, stay strings.
    pub fn declare(&mut self, ty: Option<ColumnType>) {
        match ty {
            Some(double @ ColumnType::Double { .. }) => {
                let any = self.candidates.iter().any(|c| c.is_numeric());
                self.candidates = if any { vec![double] } else { vec![] };
            }
            Some(ty) if ty.is_numeric() => self.candidates.retain(|c| c.is_numeric()),
            other => self.candidates.retain(|c| Some(*c) == other),
        }
        self.declared = true;
    }

    /// Takes a NULL into account.
    pub fn null(&mut self) {
        self.empty = true;
    }

    /// Takes a field into account. An empty field is NULL.
    ///
    /// # Errors
    /// The field is longer than any string type.
    pub fn see(&mut self, field: &str) -> Result<(), Fault> {
        self.see_spelt(Spelt { text: field, number: Some(field), moment: field })
    }

    /// [`Inferred::see`] for a field in a file's own format.
    ///
    /// # Errors
    /// As [`Inferred::see`].
    pub fn see_spelt(&mut self, spelt: Spelt<'_>) -> Result<(), Fault> {
        let Spelt { text: field, number, moment } = spelt;
        if field.is_empty() {
            self.empty = true;
            return Ok(());
        }
        let bytes = u16::try_from(field.len()).ok().filter(|n| *n <= MAX_TEXT).ok_or_else(|| {
            let remedy = format!("shorten it to {MAX_TEXT}, or declare the column DIGEST in a schema");
            refused(format!("a field has {} bytes", field.len()), remedy)
        })?;
        (self.any, self.bytes) = (true, self.bytes.max(bytes));
        let number = number.map(str::trim);
        self.candidates.retain(|ty| match (ty, number) {
            // 0 and 1 count as numbers.
            (ColumnType::Boolean, _) => is_truth(field),
            (ty, None) if ty.is_numeric() => false,
            // A number that begins with zeros or a plus is a code, whose spelling matters.
            (ty, Some(number)) if ty.is_numeric() && is_code(number) => false,
            (ColumnType::Decimal { .. }, Some(number)) => is_number(number),
            // Whether a DOUBLE fits is tracked separately: a number that fits no DOUBLE does not
            // turn the others into strings.
            (ColumnType::Double { .. }, Some(number)) => is_real(number, self.declared),
            (ty, Some(number)) if ty.is_numeric() => cell::read(number, *ty).is_ok(),
            (ty, _) => cell::read(moment, *ty).is_ok(),
        });
        let number = number.unwrap_or_default();
        if self.candidates.iter().any(|ty| matches!(ty, ColumnType::Double { .. })) {
            let held = |frac: &u8| cell::read(number, ColumnType::Double { frac: *frac }).is_ok();
            self.frac = self.frac.and_then(|most| (0..=most).rev().find(held));
        }
        let number = number.trim_start_matches(['+', '-']);
        let (whole, behind) = number.split_once('.').unwrap_or((number, ""));
        self.whole = self.whole.max(whole.len().min(usize::from(MAX_DIGITS)) as u8);
        self.scale = self.scale.max(behind.len().min(usize::from(MAX_DIGITS)) as u8);
        Ok(())
    }

    /// Whether only NULLs were seen and no file declares a type. Any type then fits, and the
    /// column's type is a guess.
    #[must_use]
    pub fn is_a_guess(&self) -> bool {
        !self.any && !self.declared
    }

    /// Whether some DOUBLE fits all numbers so far.
    #[must_use]
    pub fn has_double(&self) -> bool {
        self.frac.is_some()
    }

    /// The column with the inferred type.
    ///
    /// # Errors
    /// All its fields are numbers, and no type fits all of them.
    pub fn column(&self, name: &str) -> Result<Column, Fault> {
        let ty = match self.candidates.first() {
            Some(ColumnType::Integer | ColumnType::BigInt) if self.scale > 0 => self.number()?,
            Some(ColumnType::Decimal { .. }) => self.number()?,
            Some(ColumnType::Double { .. }) if self.any || self.declared => self.double()?,
            Some(ty) if self.any || self.declared => *ty,
            _ => ColumnType::Varchar(self.bytes),
        };
        let made = Column::new(name, ty);
        Ok(if self.empty { made.nullable() } else { made })
    }

    /// The decimal with all digits, or a DOUBLE if a decimal cannot have as many.
    fn number(&self) -> Result<ColumnType, Fault> {
        let ty = ColumnType::Decimal { precision: self.whole.saturating_add(self.scale), scale: self.scale };
        if ty.is_valid() { Ok(ty) } else { self.double() }
    }

    /// The DOUBLE with as many fractional bits as its numbers allow.
    fn double(&self) -> Result<ColumnType, Fault> {
        match self.frac {
            Some(frac) => Ok(ColumnType::Double { frac }),
            None => Err(Fault::of(code::COLUMN_WITHOUT_TYPE, &[])),
        }
    }
}

/// Whether conversion to a number would lose a sign or zeros: `+49`, `007`, `-01`.
fn is_code(field: &str) -> bool {
    let digits = field.strip_prefix('-').unwrap_or(field);
    field.starts_with('+') || digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.")
}

/// Whether a text consists of digits with an optional sign and point, and a decimal can have all
/// digits.
fn is_number(field: &str) -> bool {
    let size = field.strip_prefix(['+', '-']).unwrap_or(field);
    let (whole, behind) = size.split_once('.').unwrap_or((size, ""));
    let digits = whole.len() + behind.len();
    [whole, behind].iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()))
        && (1..=usize::from(MAX_DIGITS)).contains(&digits)
}

/// Whether a text is a floating-point number with an exponent, or with more digits than a decimal
/// can have. Many digits without a point are more likely a name.
fn is_real(field: &str, declared: bool) -> bool {
    let plain = field.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E'));
    let real = plain && (field.contains(['.', 'e', 'E']) || is_number(field));
    (real || declared) && field.parse::<f64>().is_ok()
}
