//! The SQL function AGE.

use super::{
    Arguments, ComputedBy, FnDef, Leaks, Meaning, Primitive, Reader, by_owners,
    calendar::{dated, month_days},
    call,
    definition::as_call,
    text::varchar,
};
use crate::{
    Fault,
    algebra::{Arithmetic, Call, ColumnType, DAY, Expr, Value, whole},
    plain::numbers::civil,
};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["age"],
    arity: 2..=2,
    usage: "AGE(last, first)",
    gives: "VARCHAR(64)",
    doc: "the years, months, days and time from the first time to the last one, as a text; EXTRACT(YEAR FROM AGE(last, first)) and MONTH are numbers, which parties compute too; AGE(first) is up to CURRENT_DATE",
    example: "AGE(day, born)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&AGE, |of, arguments| {
        let [last, first] = arguments.exactly()?;
        let one = |e: Expr| dated(e, arguments.reader);
        let both = arguments.reader.united(vec![one(last)?, one(first)?])?;
        Ok(of.call(both, vec![]))
    }),
};

static AGE: Primitive = Primitive {
    name: "AGE",
    strict: true,
    by: ComputedBy::OwnerOnly,
    check: |operands| match operands.types[0].ty {
        ColumnType::Date | ColumnType::Timestamp => Ok(varchar(64)),
        _ => Err(operands.refused("give it DATEs or TIMESTAMPs")),
    },
    plain: |typed, values| {
        let unit = if typed.ty(0) == ColumnType::Date { DAY } else { 1 };
        match [&values[0], &values[1]].map(Value::number) {
            [Some(last), Some(first)] => Value::text(&shown(between(last * unit, first * unit))),
            _ => Value::Null,
        }
    },
    lower: by_owners,
    shown: as_call,
};

/// The months, days and microseconds from one time to another.
fn between(last: i128, first: i128) -> [i128; 3] {
    let fields = |at: i128| {
        let [year, month, day] = civil(at.div_euclid(DAY));
        [year, month, day, at.rem_euclid(DAY)]
    };
    let (sign, late, early) = if last < first { (-1, first, last) } else { (1, last, first) };
    let (late, early) = (fields(late), fields(early));
    let mut months = 12 * (late[0] - early[0]) + late[1] - early[1];
    let (mut days, mut micros) = (late[2] - early[2], late[3] - early[3]);
    if micros < 0 {
        (days, micros) = (days - 1, micros + DAY);
    }
    if days < 0 {
        // A month is as long as the month of the first time.
        (months, days) = (months - 1, days + month_days(early[0], early[1]));
    }
    [sign * months, sign * days, sign * micros]
}

/// The text of an INTERVAL: `2 years 1 month 3 days 04:05:06`.
fn shown([months, days, micros]: [i128; 3]) -> String {
    let part = |n: i128, unit: &str| {
        let ending = if n.abs() == 1 { "" } else { "s" };
        (n != 0).then(|| format!("{n} {unit}{ending}"))
    };
    let size = micros.abs();
    let sign = if micros < 0 { "-" } else { "" };
    let seconds = size / 1_000_000;
    let behind = match size % 1_000_000 {
        0 => String::new(),
        n => format!(".{n:06}").trim_end_matches('0').to_owned(),
    };
    let time = format!("{sign}{:02}:{:02}:{:02}{behind}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let is_none = months == 0 && days == 0;
    let parts = [
        part(months / 12, "year"),
        part(months % 12, "month"),
        part(days, "day"),
        (micros != 0 || is_none).then_some(time),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// A part of an AGE as a number; `None` if the expression is not an AGE.
pub(super) fn part_of_age(arguments: &Arguments<'_>, unit: &str, of: &Expr) -> Option<Result<Expr, Fault>> {
    match of {
        Expr::Call(Call { primitive, operands, .. }) if **primitive == AGE => {
            Some(part(arguments, unit, &operands[0], &operands[1]))
        }
        _ => None,
    }
}

fn part(arguments: &Arguments<'_>, unit: &str, last: &Expr, first: &Expr) -> Result<Expr, Fault> {
    let reader = arguments.reader;
    let (month, year) = (Arithmetic::Remainder, Arithmetic::DivideWhole);
    let op = match unit {
        "year" => year,
        "month" => month,
        _ => {
            return Err(arguments.unsupported(
                &format!("EXTRACT of {unit} from AGE"),
                "write EXTRACT(YEAR FROM AGE(last, first)) or MONTH; whole days are DATE_DIFF('day', first, last), and seconds EXTRACT(EPOCH FROM last - first)",
            ));
        }
    };
    let forward = passed(last, first, reader)?;
    let back = Expr::Negate(Box::new(passed(first, last, reader)?));
    let is_back = reader.compared(Comparison::Less, last.clone(), first.clone())?;
    let months = Expr::Case { branches: vec![(is_back, back)], otherwise: Some(Box::new(forward)) };
    let null =
        (last.clone().is_null().or(first.clone().is_null()), Expr::Literal(Value::Null, ColumnType::BigInt));
    let part = reader.arithmetic(op, months, whole(12))?;
    Ok(Expr::Case { branches: vec![null], otherwise: Some(Box::new(part)) })
}

/// The number of whole months from a time to a later one. A month is complete on the same day of
/// the next one, at the same time.
fn passed(last: &Expr, first: &Expr, reader: Reader<'_>) -> Result<Expr, Fault> {
    let part = |name: &str, of: &Expr| call(name, vec![of.clone()], reader);
    let number = |of: &Expr| {
        let years = reader.arithmetic(Arithmetic::Multiply, part("year", of)?, whole(12))?;
        reader.arithmetic(Arithmetic::Add, years, part("month", of)?)
    };
    // The time since the beginning of the month.
    let within = |of: &Expr| -> Result<Expr, Fault> {
        let month = Expr::literal(Value::text("month"), ColumnType::Varchar(5));
        let begins = call("date_trunc", vec![month, of.clone()], reader)?;
        Ok(of.clone().arithmetic(Arithmetic::Subtract, begins))
    };
    let months = reader.arithmetic(Arithmetic::Subtract, number(last)?, number(first)?)?;
    let early = reader.compared(Comparison::Less, within(last)?, within(first)?)?;
    let early = Expr::Case { branches: vec![(early, whole(1))], otherwise: Some(Box::new(whole(0))) };
    reader.arithmetic(Arithmetic::Subtract, months, early)
}

#[cfg(test)]
mod tests {
    use super::{between, shown};
    use crate::functions::calendar::days;

    /// The results of DuckDB 0.10.3.
    #[test]
    fn ages_are_years_months_and_days() {
        let day = |y, m, d| days(y, m, d) * super::DAY;
        let age = |last, first| shown(between(last, first));
        assert_eq!(age(day(2022, 1, 10), day(2024, 3, 15)), "-2 years -2 months -5 days");
        let hour = 3_600_000_000;
        let last = day(2024, 3, 15) + hour + 123_000_000;
        assert_eq!(age(last, day(2022, 1, 10) + 5 * hour), "2 years 2 months 4 days 20:02:03");
        assert_eq!(age(day(2024, 1, 1), day(2024, 1, 1)), "00:00:00");
        assert_eq!(age(day(2024, 1, 2), day(2023, 12, 31)), "2 days");
        assert_eq!(age(day(2024, 2, 1), day(2024, 1, 1) + 500_000), "30 days 23:59:59.5");
    }
}
