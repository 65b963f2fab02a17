//! A computation on several shards of each member: the elements of a value that each shard holds,
//! and how they get from shard 0 to the others and back.
//!
//! Every shard runs the whole plan on its range of every value's elements, as
//! [`hushwire_session::shards::range`] cuts it.
//!
//! ```text
//! whole at shard 0      computed there alone ─► each shard's elements go to it
//! rows at each shard    computed there alone, where an element follows from the same rows;
//!                       else put together at shard 0, and as above
//! ```

use super::{
    BoundComputation, ComputeTask,
    bound::{Extent, RunForm},
    engine::Records,
    threads::within_shards,
    values::Values,
};
use hushwire_block::Wiped;
use hushwire_compute::Value;
use hushwire_fault::code;
use hushwire_session::{Chosen, Fault, Member, MemberConfig, Protocol, Shards, shards::range};
use hushwire_three::{Cut, ThreeError};
use std::{collections::BTreeMap, time::Duration};

const PLANNING: &str = "planning the job";

/// Refuses a job on several shards that only runs on one.
pub(super) fn check<'m>(
    shards: u16,
    protocol: Protocol,
    mut members: impl Iterator<Item = &'m Member>,
) -> Result<(), Fault> {
    if shards <= 1 {
        return Ok(());
    }
    let refuse = |cause: String, remedy: &str| Err(Fault::new(code::COMPUTATION, PLANNING, cause, remedy));
    if protocol != Protocol::Rep3 {
        let cause = format!("it runs on {shards} shards with protocol {protocol}, which has none");
        return refuse(cause, "take protocol rep3, or leave out `shards`");
    }
    match members.find(|member| !member.is_connected()) {
        Some(odd) => {
            let cause = format!("it runs on {shards} shards, and {odd} is not connected");
            refuse(
                cause,
                "let a party or a client bring the rows and learn the result, or leave out `shards`",
            )
        }
        None => Ok(()),
    }
}

/// Tests whether a process with this configuration reads and writes its member's files. Only the
/// first shard does.
pub(crate) fn is_first(config: &MemberConfig) -> bool {
    config.shard.as_ref().is_none_or(|place| place.shard == 0)
}

/// Sends the lengths that shard 0 knows from its member's inputs to every shard.
pub(super) fn symbols(shards: &Shards, own: &BTreeMap<String, u64>) -> Result<BTreeMap<String, u64>, Fault> {
    let wrong = |e: serde_json::Error| Fault::internal("telling shards lengths", e);
    let told = serde_json::to_vec(own).map_err(wrong)?;
    let told = shards.scatter((shards.shard() == 0).then(|| vec![told; shards.shards()]))?;
    serde_json::from_slice(&told).map_err(wrong)
}

/// Refuses a form that does not run on shards.
pub(super) fn runs(form: &RunForm) -> Result<(), Fault> {
    match form {
        RunForm::Steps(_) => Ok(()),
        _ => {
            let cause = "it runs as a circuit, which is not cut into shards";
            Err(Fault::new(code::COMPUTATION, PLANNING, cause, "leave out `shards`"))
        }
    }
}

/// Refuses a form that does not run on shards, and a plan that takes more memory at a shard than
/// was agreed on.
pub(super) fn fits(
    bound: &BoundComputation,
    form: &RunForm,
    task: &ComputeTask,
    shards: usize,
) -> Result<(), Fault> {
    runs(form)?;
    let RunForm::Steps(plan) = form else { return Ok(()) };
    let operation = |node| bound.computation.operation_of(bound.origin(node));
    let cut = Cut::new(task.threads(), Duration::ZERO);
    within_shards(plan, cut, shards, task.job().memory, operation).map(drop)
}

impl Extent {
    /// The extent of a shard's elements.
    fn of_shard(&self, shard: usize, shards: usize) -> Self {
        let rows = range(shard, shards, self.rows).len();
        Self { rows, lengths: vec![rows], ..self.clone() }
    }

    /// The byte range of a shard's elements in the records of all.
    fn bytes_of_shard(&self, shard: usize, shards: usize) -> std::ops::Range<usize> {
        let (rows, record) = (range(shard, shards, self.rows), self.scalar.record());
        rows.start * record..rows.end * record
    }
}

impl BoundComputation {
    /// The computation as one shard runs it: the extents cover its elements only.
    pub(super) fn of_shard(&self, shard: usize, shards: usize) -> Self {
        let mut part = self.clone();
        for extent in part.inputs.iter_mut().chain(&mut part.outputs) {
            *extent = extent.of_shard(shard, shards);
        }
        part
    }
}

/// A member's inputs at one of its shards.
#[derive(Default)]
pub(super) struct OwnInputs {
    /// The inputs that the first shard holds as a whole.
    pub(super) whole: BTreeMap<String, Values>,
    /// The inputs of which each shard holds its rows.
    pub(super) rows: BTreeMap<String, Values>,
}

/// A shard's elements of the values that its member brings to the rest, in order.
pub(super) fn bring(
    of: &Shards,
    bound: &BoundComputation,
    me: &Member,
    own: OwnInputs,
) -> Result<Vec<Records>, Fault> {
    let OwnInputs { mut whole, rows } = own;
    let values = bound.brought_by(me);
    let parts = rows.keys().map(String::as_str).collect();
    let by_rows = bound.are_by_rows(&values, &parts);
    let some = |is: bool| values.iter().zip(&by_rows).filter(move |(_, by_rows)| **by_rows == is);
    let (first, each): (Vec<_>, Vec<_>) =
        (some(false).map(|(v, _)| *v).collect(), some(true).map(|(v, _)| *v).collect());
    // If an element depends on other rows, the inputs are put together first.
    let behind = bound.inputs_behind(&first);
    let apart: Vec<String> = rows.keys().filter(|name| behind.contains(name.as_str())).cloned().collect();
    if !apart.is_empty() {
        let count = of.shards() as u16;
        let extents = apart.iter().map(|name| bound.extent_of(name, count)).collect::<Result<Vec<_>, _>>()?;
        let extents: Vec<&Extent> = extents.iter().collect();
        let parts: Vec<Records> = apart.iter().map(|name| rows[name].records.clone()).collect();
        let together = take(of, &extents, &parts)?;
        for ((name, extent), records) in apart.into_iter().zip(extents).zip(together) {
            let (scalar, lengths) = (extent.scalar, extent.lengths.clone());
            whole.insert(name, Values { scalar, lengths, records, remark: None });
        }
    }
    let all: Vec<&Extent> = bound.inputs_of(me).map(|(_, extent)| extent).collect();
    let extents: Vec<&Extent> =
        all.iter().zip(&by_rows).filter(|(_, by_rows)| !**by_rows).map(|(extent, _)| *extent).collect();
    let made = (of.shard() == 0).then(|| bound.alone(&first, whole, None)).transpose()?;
    let mut given = give(of, &extents, made)?.into_iter();
    let length = |n: usize| range(of.shard(), of.shards(), n).len();
    let mut made = bound.alone(&each, rows, Some(&length))?.into_iter();
    let lost = || Fault::internal("taking rows", "a value was not made");
    let next = |by_rows: &bool| if *by_rows { made.next() } else { given.next() }.ok_or_else(lost);
    by_rows.iter().map(next).collect()
}

/// Gives each shard its elements of the member's inputs, which shard 0 holds; `extents` are of all
/// elements.
fn give(shards: &Shards, extents: &[&Extent], whole: Option<Vec<Records>>) -> Result<Vec<Records>, Fault> {
    let of = shards.shards();
    let part = |shard: usize, whole: &[Records]| {
        let parts = extents.iter().zip(whole);
        parts
            .flat_map(|(extent, records)| records[extent.bytes_of_shard(shard, of)].iter().copied())
            .collect()
    };
    let parts = whole.map(|whole| (0..of).map(|shard| part(shard, &whole)).collect());
    let own = Wiped::new(shards.scatter(parts)?);
    let sizes = extents.iter().map(|extent| extent.bytes_of_shard(shards.shard(), of).len());
    if own.len() != sizes.clone().sum::<usize>() {
        return Err(Fault::internal("taking rows", "shard 0 gave another number of rows"));
    }
    let mut at = 0;
    let take = |size: usize| {
        at += size;
        Wiped::new(own[at - size..at].to_vec())
    };
    Ok(sizes.map(take).collect())
}

/// Collects the outputs of all shards at shard 0; the other shards return nothing. `extents` are of
/// all elements.
pub(super) fn take(shards: &Shards, extents: &[&Extent], own: &[Records]) -> Result<Vec<Records>, Fault> {
    let of = shards.shards();
    let Some(parts) = shards.gather(own.iter().flat_map(|records| records.iter().copied()).collect())? else {
        return Ok(extents.iter().map(|_| Records::default()).collect());
    };
    let parts: Vec<Records> = parts.into_iter().map(Wiped::new).collect();
    let mut at = vec![0; of];
    let mut all = vec![];
    for extent in extents {
        let mut whole = Wiped::new(Vec::with_capacity(extent.rows * extent.scalar.record()));
        for (shard, part) in parts.iter().enumerate() {
            let end = at[shard] + extent.bytes_of_shard(shard, of).len();
            let wrong =
                || Fault::internal("putting outputs together", format!("shard {shard} has other rows"));
            whole.extend_from_slice(part.get(at[shard]..end).ok_or_else(wrong)?);
            at[shard] = end;
        }
        all.push(whole);
    }
    Ok(all)
}

/// The cost of a run at the busiest shard of the party that sends most.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShardPrice {
    /// Rounds between parties.
    pub rounds: u64,
    /// Bytes to other parties.
    pub bytes_sent: u64,
    /// Bytes to the party's other shards.
    pub to_shards: u64,
    /// Rounds between the party's shards.
    pub exchanges: u64,
    /// The most bytes that values and work on them take.
    pub memory: u64,
    /// An operation of notable size that runs on the first shard alone, if there is one.
    pub whole: Option<String>,
}

impl BoundComputation {
    /// The price of a run with `threads` threads for each of a party's shards, over links on which
    /// a message takes `delay`. `operation` describes a node of the computation.
    ///
    /// # Errors
    /// The computation is too large to plan, or does not run on shards.
    pub fn price_of_shards(
        &self,
        chosen: Chosen,
        (threads, shards): (u16, usize),
        delay: Duration,
        operation: &dyn Fn(Value) -> String,
    ) -> Result<ShardPrice, Fault> {
        let form = self.form(chosen)?;
        runs(&form)?;
        let RunForm::Steps(plan) = &*form else { return Err(Fault::internal(PLANNING, "it has no steps")) };
        let cut = Cut::new(threads, delay);
        let wrong = |e: ThreeError| Fault::internal(PLANNING, e);
        let mut price = ShardPrice::default();
        for party in 0..3 {
            for shard in plan.likely_sharded_cost(party, cut, shards).map_err(wrong)? {
                let between = shard.between_parties.cost;
                price.rounds = price.rounds.max(between.rounds);
                price.bytes_sent = price.bytes_sent.max(between.bytes_sent);
                price.to_shards = price.to_shards.max(shard.to_shards);
                price.exchanges = price.exchanges.max(shard.exchanges);
            }
        }
        for shard in 0..shards {
            let memory = plan.shard_memory(cut, shard, shards);
            price.memory = price.memory.max(memory.bytes);
            price.whole = price.whole.or(memory.whole.map(|(node, _)| operation(self.origin(node))));
        }
        Ok(price)
    }
}
