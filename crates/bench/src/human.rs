//! Formats numbers for people, with three digits and a prefix.

use crate::Unit;

/// A scale that several numbers of one unit share.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    divisor: f64,
    /// The unit with its prefix, such as `M blocks/s`, `GB/s` or `µs`.
    pub(crate) label: String,
}

/// Prefixes and their factors, largest first.
const PREFIXES: [(f64, &str); 7] =
    [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m")];
/// Units of time and their length in milliseconds.
const TIMES: [(f64, &str); 4] = [(1e3, "s"), (1.0, "ms"), (1e-3, "µs"), (1e-6, "ns")];

impl Scale {
    /// The scale on which `value` has one to three digits before the point.
    pub(crate) fn of(value: f64, unit: &Unit) -> Self {
        let steps: &[(f64, &str)] = if *unit == Unit::MS { &TIMES } else { &PREFIXES };
        let smallest = if *unit == Unit::MS { TIMES.len() - 1 } else { 5 };
        // A value of 0.9995 steps would print as "1000" of the step below.
        let step = steps.iter().position(|(factor, _)| value.abs() >= factor * 0.9995);
        let below = if value == 0.0 { smallest } else { steps.len() - 1 };
        let (divisor, prefix) = steps[step.unwrap_or(below)];
        let label = match unit.as_str() {
            "ms" => prefix.to_owned(),
            "bytes" => format!("{prefix}B"),
            "bytes/s" => format!("{prefix}B/s"),
            name if prefix.is_empty() => name.to_owned(),
            name => format!("{prefix} {name}"),
        };
        Self { divisor, label }
    }

    /// The scale of plain numbers.
    pub(crate) fn plain() -> Self {
        Self { divisor: 1.0, label: String::new() }
    }

    /// `value` on this scale, to three digits.
    pub(crate) fn number(&self, value: f64) -> String {
        digits(value / self.divisor)
    }
}

/// A number with its prefix and unit.
pub(crate) fn quantity(value: f64, unit: &Unit) -> String {
    let scale = Scale::of(value, unit);
    format!("{} {}", scale.number(value), scale.label)
}

/// A number with its prefix, without trailing zeros: the label of an axis tick.
pub(crate) fn tick(value: f64, unit: &Unit) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let scale = Scale::of(value, unit);
    let shown = trim(&scale.number(value)).to_owned();
    let prefix = match unit.as_str() {
        "ms" => scale.label.as_str(),
        name => scale.label.strip_suffix(name).unwrap_or(scale.label.trim_end_matches("/s")).trim(),
    };
    if prefix.is_empty() { shown } else { format!("{shown} {prefix}") }
}

/// A count. Thousands are written as `k` and millions as `M` if no digit is lost.
pub(crate) fn count(value: f64) -> String {
    for (factor, prefix) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if value >= factor && (value / factor * 100.0).fract() == 0.0 {
            return format!("{} {prefix}", trim(&format!("{:.2}", value / factor)));
        }
    }
    trim(&format!("{value:.3}")).to_owned()
}

/// Bytes of memory with a binary prefix.
pub(crate) fn memory(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let bytes = bytes as f64;
    for (factor, prefix) in [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        #[expect(clippy::cast_precision_loss, reason = "a power of two")]
        let factor = factor as f64;
        if bytes >= factor {
            return format!("{} {prefix}", digits(bytes / factor));
        }
    }
    format!("{bytes} B")
}

/// A fraction in percent.
pub(crate) fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent >= 9.95 { format!("{percent:.0} %") } else { format!("{} %", significant(percent, 2)) }
}

fn digits(value: f64) -> String {
    significant(value, 3)
}

/// `value` to `wanted` significant digits, never in exponent form.
fn significant(value: f64, wanted: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    // The number is rounded first, so that 9.999 counts as a number with two digits.
    let rough = format!("{:.*e}", usize::try_from(wanted - 1).unwrap_or(0), value);
    let exponent: i32 = rough.rsplit('e').next().and_then(|e| e.parse().ok()).unwrap_or(0);
    let after_point = usize::try_from(wanted - 1 - exponent).unwrap_or(0);
    format!("{value:.after_point$}")
}

fn trim(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_prefix() {
        assert_eq!(quantity(1.234e9, &Unit::BLOCKS_PER_S), "1.23 G blocks/s");
        assert_eq!(quantity(999.96e6, &Unit::BYTES_PER_S), "1.00 GB/s");
        assert_eq!(quantity(0.0125, &Unit::MS), "12.5 µs");
        assert_eq!(quantity(72_000.0, &Unit::MS), "72.0 s");
        assert_eq!(quantity(0.0, &Unit::OT_PER_S), "0 OT/s");
        assert_eq!(quantity(12.0, &Unit::OT_PER_S), "12.0 OT/s");
    }

    #[test]
    fn ticks_counts_and_shares() {
        assert_eq!(tick(2e6, &Unit::BLOCKS_PER_S), "2 M");
        assert_eq!(tick(5e9, &Unit::BYTES_PER_S), "5 GB");
        assert_eq!(tick(0.1, &Unit::MS), "100 µs");
        assert_eq!((tick(0.0, &Unit::BLOCKS_PER_S), tick(-0.0, &Unit::MS)), ("0".into(), "0".into()));
        assert_eq!((count(1024.0), count(1e6)), ("1024".into(), "1 M".into()));
        assert_eq!((percent(0.876), percent(0.0123)), ("88 %".into(), "1.2 %".into()));
        assert_eq!(memory(3 << 20), "3.00 MiB");
    }
}
