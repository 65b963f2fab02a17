//! Binds CAST: the types that a query names, and texts that are read as values of a type. A literal
//! is read when the query is bound. A column of text becomes calls that read it, with NULL for
//! texts without such a value.

use super::{
    Binder, Env,
    expr::{Calls, placed},
};
use crate::{
    Fault,
    error::{At, fault, refused_at, unsupported},
};
use hushwire_fault::code;
use hushwire_tables::{
    algebra::{ColumnType, Expr, Value, whole},
    functions::with_room,
};
use sqlparser::ast;

impl<'q> Binder<'q> {
    pub(super) fn cast(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        cast: &'q ast::Expr,
        at: At,
    ) -> Result<Expr, Fault> {
        let ast::Expr::Cast {
            kind: kind @ (ast::CastKind::Cast | ast::CastKind::DoubleColon | ast::CastKind::TryCast),
            expr,
            data_type,
            format: None,
            ..
        } = cast
        else {
            let remedy = "write CAST(value AS type), TRY_CAST(value AS type) or value::type; of dates in another form, STRPTIME(text, '%d.%m.%Y')";
            return Err(unsupported(at, "this kind of cast", remedy));
        };
        let room = text_bytes(data_type);
        let around = std::mem::replace(&mut calls.room, room);
        let inner = self.expr(env, calls, expr);
        calls.room = around;
        let inner = inner?;
        let inner = match room {
            Some(room) => with_room(inner, room),
            None => inner,
        };
        let Some(ty) = self.cast_type(data_type, &inner, at)? else {
            return self.call("to_text", vec![inner], at);
        };
        let is_text = matches!(ty, ColumnType::Varchar(_));
        Ok(match &inner {
            Expr::Literal(Value::Null, _) => Expr::Literal(Value::Null, ty),
            Expr::Literal(Value::Text(text), _) if !is_text => {
                let text = String::from_utf8_lossy(text);
                let value = match self.reader().literal(&text, ty) {
                    Err(_) if *kind == ast::CastKind::TryCast => Value::Null,
                    value => placed(value, at)?,
                };
                Expr::Literal(value, ty)
            }
            _ if !is_text && matches!(self.ty(&inner, at)?, ColumnType::Varchar(_)) => {
                self.read_text(inner, ty, at)?
            }
            _ if is_text => self.call("to_text", vec![inner], at)?.cast(ty),
            _ if ty == ColumnType::Boolean && self.ty(&inner, at)?.is_numeric() => {
                self.as_condition(inner, at)?
            }
            _ => inner.cast(ty),
        })
    }

    /// Converts a text to a value of another type. The result is NULL if the text has no such
    /// value.
    fn read_text(&self, of: Expr, ty: ColumnType, at: At) -> Result<Expr, Fault> {
        let number = |scale: u8, of: Expr| {
            let scale = Expr::Literal(Value::Number(scale.into()), ColumnType::Integer);
            self.call("to_number", vec![of, scale], at)
        };
        match ty {
            // The text is read with one digit more than is kept, and then rounded.
            ty if ty.is_integer() => Ok(number(1, of)?.cast(ty)),
            ColumnType::Decimal { scale, .. } if scale < 12 => Ok(number(scale + 1, of)?.cast(ty)),
            ColumnType::Double { .. } => Ok(number(9, of)?.cast(ty)),
            ColumnType::Date => {
                let part = |from, length| {
                    let text = self.call("substring", vec![of.clone(), whole(from), whole(length)], at)?;
                    Ok::<_, Fault>(number(0, text)?.cast(ColumnType::Integer))
                };
                let made = self.call("make_date", vec![part(1, 4)?, part(6, 2)?, part(9, 2)?], at)?;
                let alike = of.clone().like("____-__-__");
                Ok(Expr::Case { branches: vec![(alike, made)], otherwise: None })
            }
            ty => {
                let cause = format!("a text of a column is read as {ty}");
                Err(refused_at(at, cause, "declare the column as this type in its schema"))
            }
        }
    }

    /// The type that a CAST names; `None` for a text type without a length.
    fn cast_type(&self, ty: &ast::DataType, of: &Expr, at: At) -> Result<Option<ColumnType>, Fault> {
        use ast::DataType as D;
        match ty {
            D::Varchar(None)
            | D::Text
            | D::String(None)
            | D::CharVarying(None)
            | D::CharacterVarying(None) => {
                let literal = matches!(of, Expr::Literal(Value::Null, _));
                Ok(literal.then_some(ColumnType::Varchar(1)))
            }
            ty => column_type(ty, at).map(Some),
        }
    }
}

/// The length in bytes of a text type, if it has one.
fn text_bytes(ty: &ast::DataType) -> Option<u16> {
    match column_type(ty, At::default()) {
        Ok(ColumnType::Varchar(bytes)) => Some(bytes),
        _ => None,
    }
}

/// The type that a query's text names.
pub(super) fn column_type(ty: &ast::DataType, at: At) -> Result<ColumnType, Fault> {
    use ast::{CharacterLength, DataType as D, ExactNumberInfo as X};
    let made = match ty {
        D::Boolean | D::Bool => ColumnType::Boolean,
        D::SmallInt(None) | D::Int2(None) | D::TinyInt(None) => ColumnType::SmallInt,
        D::Int(None) | D::Integer(None) | D::Int4(None) => ColumnType::Integer,
        D::BigInt(None) | D::Int8(None) | D::HugeInt | D::Signed | D::SignedInteger => ColumnType::BigInt,
        D::Decimal(info) | D::Numeric(info) | D::Dec(info) => {
            let (precision, scale) = match info {
                X::None => (38, 6),
                X::Precision(p) => (*p, 0),
                X::PrecisionAndScale(p, s) => (*p, u64::try_from(*s).unwrap_or(u64::MAX)),
            };
            let small = |n: u64| u8::try_from(n).unwrap_or(u8::MAX);
            ColumnType::Decimal { precision: small(precision), scale: small(scale) }
        }
        D::Date => ColumnType::Date,
        D::Datetime(None) => ColumnType::Timestamp,
        D::Timestamp(None, ast::TimezoneInfo::None | ast::TimezoneInfo::WithoutTimeZone) => {
            ColumnType::Timestamp
        }
        D::Varchar(Some(CharacterLength::IntegerLength { length, .. }))
        | D::CharVarying(Some(CharacterLength::IntegerLength { length, .. }))
        | D::CharacterVarying(Some(CharacterLength::IntegerLength { length, .. }))
        | D::Char(Some(CharacterLength::IntegerLength { length, .. }))
        | D::Character(Some(CharacterLength::IntegerLength { length, .. })) => {
            ColumnType::Varchar(u16::try_from(*length).unwrap_or(u16::MAX))
        }
        D::Double(_) | D::DoublePrecision | D::Float(_) | D::Real => ColumnType::Double { frac: 32 },
        other => return Err(fault(at, code::TYPE_UNSUPPORTED, &[("type", other)])),
    };
    if made.is_valid() {
        Ok(made)
    } else {
        Err(refused_at(at, format!("{ty} cannot be"), "check its digits or its length"))
    }
}
