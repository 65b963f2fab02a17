//! Stored data sets: inputs of members that take no part in a run.
//!
//! [`StoredData`] is one party's view of a data set: seeds of its shares, and parts with the shares
//! that no seed gives. The parts are read in order, once a run.

use crate::Fault;
use hushwire_block::Wiped;
use hushwire_fault::code;
use hushwire_rep3::{
    Role,
    stored::{self, StoredColumn},
};
use std::{collections::BTreeMap, sync::Arc};

/// The step, as errors name it.
pub const STORED: &str = "taking stored inputs";

/// The parts of a data set at one party, in the form in which a [`Dealer`](stored::Dealer) dealt
/// them.
pub trait StoredParts: Send + Sync {
    /// Reads a part. It is called once a run for each part, in order.
    ///
    /// # Errors
    /// The part cannot be read, or is not the one that was stored.
    fn part(&self, part: u32) -> Result<Wiped<Vec<u8>>, Fault>;
}

impl StoredParts for Vec<Wiped<Vec<u8>>> {
    fn part(&self, part: u32) -> Result<Wiped<Vec<u8>>, Fault> {
        let missing =
            || Fault::new(code::DATA_SET, STORED, format!("part {part} is missing"), "put it again");
        self.get(part as usize).cloned().ok_or_else(missing)
    }
}

/// A data set at one party. No `Debug`: it holds seeds of shares.
#[derive(Clone)]
pub struct StoredData {
    /// The data set's columns, in the order in which they were dealt.
    pub columns: Vec<StoredColumn>,
    /// The seeds of this party's share and of the next party's.
    pub seeds: Wiped<[u8; 32]>,
    /// The parts of the data set.
    pub parts: Arc<dyn StoredParts>,
}

impl StoredData {
    /// Finds the column of an input with elements of `bits` bits along `lengths`. `None` if the
    /// lengths are not known yet.
    ///
    /// # Errors
    /// There is no such column, or its elements differ.
    pub fn column(
        &self,
        data: &str,
        input: &str,
        bits: usize,
        lengths: Option<&[usize]>,
    ) -> Result<usize, Fault> {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let wrong = |cause: String, remedy: String| Fault::new(code::DATA_SET, STORED, cause, remedy);
        let Some(at) = names.iter().position(|name| *name == input) else {
            let cause = format!("data set {data} has no column {input}");
            return Err(wrong(cause, crate::suggest::remedy(input, &names)));
        };
        let column = &self.columns[at];
        if column.bits as usize != bits {
            let cause = format!(
                "column {input} of data set {data} has elements of {} bits, and the job takes {bits}",
                column.bits
            );
            let remedy = "declare the column in the job as the data set declares it";
            return Err(wrong(cause, remedy.to_owned()));
        }
        let same = |lengths: &&[usize]| lengths.iter().map(|n| *n as u64).eq(column.lengths.iter().copied());
        match lengths.filter(|lengths| !same(lengths)) {
            None => Ok(at),
            Some(lengths) => {
                let cause = format!(
                    "column {input} of data set {data} has lengths {:?}, and the job says {lengths:?}",
                    column.lengths
                );
                Err(wrong(cause, "write the data set's number of rows in the job".to_owned()))
            }
        }
    }

    /// Reads the parts in order, and passes on what this party keeps of each column.
    pub(crate) fn each_part(
        &self,
        data: &str,
        party: Role,
        mut take: impl FnMut(u32, &BTreeMap<usize, &[u8]>),
    ) -> Result<(), Fault> {
        for part in 0..stored::parts(&self.columns) {
            let bytes = self.parts.part(part)?;
            let held = stored::held(&self.columns, party, part);
            let expected = stored::part_bytes(&self.columns, party, part);
            if bytes.len() != expected {
                let cause = format!(
                    "part {part} of data set {data} has {} bytes, and its columns take {expected}",
                    bytes.len()
                );
                return Err(Fault::new(code::DATA_SET, STORED, cause, "put the data set again"));
            }
            take(part, &held.into_iter().map(|(column, place)| (column, &bytes[place])).collect());
        }
        Ok(())
    }
}

/// An input that a data set brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredInput {
    /// The data set's name in the job.
    pub data: String,
    /// The input's place among the inputs of the batch.
    pub input: usize,
    /// The column's place in the data set.
    pub column: usize,
}
