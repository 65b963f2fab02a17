//! The spellings of numbers and dates that a survey tries on columns of text.

use super::survey::{Family, Spelling};
use hushwire_session::Dialect;

/// A spelling to try.
pub(super) struct Trial {
    pub(super) spelling: Spelling,
    pub(super) dialect: Dialect,
}

/// The spellings to try, the plainer ones first.
pub(super) fn trials() -> Vec<Trial> {
    const UNITS: (&str, &str) = ("units", "yes");
    let numbers: [&[(&str, &str)]; 10] = [
        &[("decimal", ",")],
        &[("thousands", ",")],
        &[("thousands", "'")],
        &[("thousands", "space")],
        &[("decimal", ","), ("thousands", ".")],
        &[("decimal", ","), ("thousands", "space")],
        &[UNITS],
        &[("decimal", ","), UNITS],
        &[("thousands", ","), UNITS],
        &[("decimal", ","), ("thousands", "."), UNITS],
    ];
    let formats = [
        "%Y-%m-%d",
        "%d.%m.%Y",
        "%d/%m/%Y",
        "%m/%d/%Y",
        "%d-%m-%Y",
        "%m-%d-%Y",
        "%Y/%m/%d",
        "%Y.%m.%d",
        "%d.%m.%y",
        "%d/%m/%y",
        "%m/%d/%y",
        "%d %b %Y",
        "%d-%b-%Y",
        "%d-%b-%y",
        "%b %d, %Y",
        "%d.%m.%Y %H:%M",
        "%d.%m.%Y %H:%M:%S",
        "%d/%m/%Y %H:%M",
        "%d/%m/%Y %H:%M:%S",
        "%m/%d/%Y %H:%M",
        "%m/%d/%Y %H:%M:%S",
        "%m/%d/%Y %I:%M %p",
        "%m/%d/%Y %I:%M:%S %p",
        "%d-%m-%Y %H:%M",
        "%d-%m-%Y %H:%M:%S",
        "%Y/%m/%d %H:%M",
        "%Y/%m/%d %H:%M:%S",
    ];
    let trial = |options: Vec<(&'static str, &'static str)>, family| {
        let mut dialect = Dialect::default();
        // Each option accepts the value that is set here.
        let is_set = options.iter().all(|(name, value)| dialect.set_list(name, &[value]).is_ok());
        let spelling = Spelling { options, family, fits: 0, misfits: vec![], words: (vec![], 0) };
        is_set.then_some(Trial { spelling, dialect })
    };
    let numbers = numbers.into_iter().map(|options| (options.to_vec(), Family::Numbers));
    let formats = formats.into_iter().map(|format| (vec![("date-format", format)], Family::Moments));
    numbers.chain(formats).filter_map(|(options, family)| trial(options, family)).collect()
}
