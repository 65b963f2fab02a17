//! The job file of a draw.

use crate::kind::JobKind;
use hushwire_session::{Fault, Member, protocol::MOST_PARTIES, toml_file::Section};
use serde::{Deserialize, Serialize};

/// The most numbers of a draw. A party takes about a hundred bytes of memory for each.
const MOST_NUMBERS: u64 = 1 << 24;

/// The job file of a draw.
///
/// ```toml
/// kind = "draw"
/// parties = 3
/// numbers = 10
/// from = 1
/// to = 5000
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawJob {
    /// The number of parties, at least 2.
    pub parties: u8,
    /// The number of different numbers to draw.
    pub numbers: u64,
    /// The least number of the range.
    pub from: u64,
    /// The greatest number of the range.
    pub to: u64,
}

impl JobKind for DrawJob {
    const NAME: &'static str = "draw";
    const WHOSE: &'static str = "a draw's";

    fn from_section(mut top: Section<'_>) -> Result<Self, Fault> {
        let parties = top.number("parties", 2..=u64::from(MOST_PARTIES))?.unwrap_or(3);
        let numbers = top.need("numbers", "numbers = 10")?;
        let drawn = numbers.number(1..=MOST_NUMBERS)?;
        let from = top.number("from", 0..=u64::MAX)?.unwrap_or(1);
        let to = top.need("to", "to = 5000")?;
        let last = to.number(0..=u64::MAX)?;
        if last < from {
            return Err(to.error(format!("is less than from = {from}"), "name a range that goes up"));
        }
        if last - from < drawn - 1 {
            let cause = format!("is more than the range from {from} to {last} has");
            return Err(numbers.error(cause, "draw fewer numbers, or from a wider range"));
        }
        top.finish()?;
        Ok(Self { parties: parties as u8, numbers: drawn, from, to: last })
    }

    fn command(path: &str) -> String {
        format!("`hushwire local files {path} --dir draw`, then with the commands that it prints")
    }

    fn lines_for(&self, me: &Member) -> Vec<String> {
        // A file for each party: in a rehearsal all of them write into one directory.
        vec![format!("\n[outputs]\nresult = {{ file = \"{}-drawn.txt\" }}", me.key())]
    }
}
