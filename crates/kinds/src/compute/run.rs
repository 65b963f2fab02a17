//! A member's endpoint of computations: it sets up an engine, and runs computations on it.
//!
//! ```text
//! lengths agreed ─► computation bound ─► own part computed alone ─► form ─► engine ─► outputs
//! ```

#[cfg(feature = "two")]
use super::pair::PairEngine;
use super::{
    ComputeTask,
    bound::BoundComputation,
    circuits::Circuits,
    client::Client,
    engine::{Engine, GoOn, Records, cancelled},
    lengths::{Lengths, Told, says},
    shards::{self, OwnInputs},
    three::Three,
};
use hushwire_compute::Value;
use hushwire_session::{Chosen, Fault, Member, Protocol, Shards, run::MemberSession, shards::as_many};
use std::collections::BTreeMap;

/// The result of a computation at a member: lengths, and the records of the outputs that it learns.
pub(super) struct Ran {
    pub(super) symbols: BTreeMap<String, u64>,
    pub(super) bound: BoundComputation,
    pub(super) ands: u64,
    pub(super) learnt: Vec<Records>,
}

/// Describes the operation that most of a wave belongs to.
pub(super) type Names<'a> = &'a dyn Fn(&BoundComputation, Value) -> String;

/// Connects to the other members. `brings` tells whether a member owns an input.
pub(super) fn open(
    member: &mut MemberSession,
    chosen: Chosen,
    threads: u16,
    brings: impl Fn(&Member) -> bool,
) -> Result<Box<dyn Engine>, Fault> {
    Ok(match (member.config.me.clone(), chosen.protocol) {
        (me @ (Member::Data(_) | Member::Recipient(_)), _) => {
            return Err(Fault::internal("connecting", format!("{me} takes no part")));
        }
        (me @ Member::Client(_), _) => Box::new(Client::open(member, brings(&me))?),
        (Member::Party(index), Protocol::Rep3) => Box::new(Three::open(member, index, threads, brings)?),
        #[cfg(feature = "two")]
        (Member::Party(_), Protocol::Two) => Box::new(PairEngine::open(member, chosen)?),
        (Member::Party(_), _) => Box::new(Circuits::open(member, chosen, threads)?),
    })
}

/// Agrees on lengths and runs a computation on this member's inputs. Returns records of the outputs
/// that it learns. This member knows `symbols`, unless the computation is bound already. With
/// `names`, observers hear which operation is under way.
pub(super) fn run(
    engine: &mut dyn Engine,
    member: &MemberSession,
    task: &ComputeTask,
    (mut symbols, ready): (BTreeMap<String, u64>, Option<BoundComputation>),
    own: OwnInputs,
    names: Option<Names<'_>>,
    go_on: GoOn<'_>,
) -> Result<Ran, Fault> {
    let me = &member.config.me;
    let of = member.shards.as_ref();
    as_many(task.job().shards.into(), of.map_or(1, Shards::shards))?;
    if let Some(of) = of {
        symbols = shards::symbols(of, &symbols)?;
    }
    let lengths = Lengths::new(task.open_symbols(), &symbols, me);
    let mut told = Told::new();
    if !lengths.is_empty() {
        told = engine.agree(member, lengths)?;
        symbols.extend(told.iter().map(|(symbol, (n, _))| (symbol.clone(), *n)));
    }
    let bound = ready.map_or_else(|| task.bound_within(&symbols, &told), Ok)?;
    // A member on one machine computes its own part before anything that takes long.
    let (mut own, mut alone) = (Some(own), None);
    if of.is_none() {
        alone = own.take().map(|own| bound.brought(me, own.whole)).transpose()?;
    }
    // Clients need it as well: it determines the form of inputs and outputs.
    let form = bound.form_within(task.chosen(), task.most_memory(&told)).map_err(|e| says(&told, e))?;
    let bound = bound.through(&form);
    // Each of several shards runs on its own rows.
    let (own, part) = match of {
        None => (alone.unwrap_or_default(), None),
        Some(of) => {
            shards::fits(&bound, &form, task, of.shards())?;
            let own = shards::bring(of, &bound, me, own.unwrap_or_default())?;
            (own, Some(bound.of_shard(of.shard(), of.shards())))
        }
    };
    let ands = if matches!(me, Member::Party(_)) { form.ands() } else { 0 };
    engine.fit(&form, task, &told)?;
    if !go_on(0, ands) {
        return Err(cancelled());
    }
    let course = names.map_or(vec![], |_| bound.course_of(&form));
    let (mut at, mut last) = (0, String::new());
    let mut steps = |done: u64, whole: u64| {
        // The waves that have begun so far. The last of them is under way.
        let begun = course[at..].iter().take_while(|(from, _)| *from <= done).count();
        if let Some(names) = names.filter(|_| begun > 0 && done < whole) {
            at += begun;
            let phase = names(&bound, course[at - 1].1);
            if phase != last {
                member.enter(&phase);
                last = phase;
            }
        }
        go_on(done, whole)
    };
    let learnt = engine.run(member, part.as_ref().unwrap_or(&bound), &form, own, &mut steps)?;
    let learnt = match of {
        None => learnt,
        Some(of) => shards::take(of, &bound.outputs_of(me).collect::<Vec<_>>(), &learnt)?,
    };
    if ands > 0 {
        go_on(ands, ands);
    }
    Ok(Ran { symbols, bound, ands, learnt })
}
