//! Runs steps that move rows: sorts, and moves by orders that no party knows.
//!
//! ```text
//! sort      strings of key bits and the row's number ─► shuffle ─► numbers
//!           ─► pairs of a level ─► less ─► open, until the order is known
//! places    where rows go ─► shuffle ─► open
//! ```
//!
//! **Source.** K. Hamada et al., "Practically Efficient Multi-party Sorting Protocols from
//! Comparison Sort Algorithms", ICISC 2012: shuffle, then sort by comparisons whose results are
//! opened. The shuffle consists of two networks, one drawn by each party ([`crate::moves`]).
//!
//! SECURITY: strings are distinct, so shuffled rows have a uniformly random order for any keys. For
//! each party this follows from the other's network. Everything opened is a function of that order.
//! A stage is drawn here, and serves one opening.

use super::ArithmeticParty;
use crate::{
    TwoError,
    form::StepValue,
    kit::Kit,
    moves::{ShareRows, piece, piece_tally},
    network::{Network, NetworkShape, Switch},
    order::{OrderStage, SharedOrder, inverse, number_bits, sorts},
    ring::{pack, pack_bits, packed, unpack, unpack_bits},
    strings::{cut, form_of, pairs_tally, rows_of, strings},
    supply::Lot,
    tally::Tally,
    wide::words_tally,
};
use hushwire_block::Wiped;
use hushwire_circuit::ranking::{RankedPair, Ranking};
use hushwire_machine::{
    Channel, Cost,
    drive::{Abreast, Line},
};
use hushwire_plan::{KeyOrder, Reorder, Size};
use hushwire_prg::Prg;
use std::{future::Future, sync::Arc};

const OPENING: &str = "opening an order";

/// The parts of a party that a step which moves rows needs.
pub(super) struct Mover<'a> {
    pub(super) party: &'a mut ArithmeticParty,
    pub(super) channel: &'a mut Channel,
    /// Returns OTs for pieces with these costs.
    pub(super) lots: &'a mut dyn FnMut(&[Tally]) -> Result<Lot, TwoError>,
    /// Whether the run goes on.
    pub(super) go_on: &'a mut dyn FnMut() -> bool,
    /// The cost of making OTs.
    pub(super) made: Cost,
}

impl Mover<'_> {
    pub(super) fn run(
        &mut self,
        reorder: &Reorder,
        size: Size,
        reads: &[StepValue],
    ) -> Result<StepValue, TwoError> {
        Ok(match reorder {
            Reorder::Sort { rows, keys } => StepValue::Order(Arc::new(self.sort(*rows, keys, reads)?)),
            Reorder::ToOrder => StepValue::Order(Arc::new(self.places(&reads[0])?)),
            Reorder::Permute { inner } => {
                let rows = self.applied(reads[1].order(), rows_of(&reads[0], *inner))?;
                form_of(&rows, *inner, size)
            }
        })
    }

    /// Runs pieces at the same time, each with its own OTs.
    fn abreast<'p, T: Send + 'p, F>(
        &mut self,
        tallies: &[Tally],
        mut begin: impl FnMut(usize, Kit) -> F,
    ) -> Result<Vec<T>, TwoError>
    where
        F: Future<Output = Result<T, TwoError>> + Send + 'p,
    {
        if !(self.go_on)() {
            return Err(TwoError::Cancelled);
        }
        let lot = (self.lots)(tallies)?;
        self.made = self.made.then(lot.cost);
        let (index, mut plays) = (self.party.index, vec![]);
        for (k, (cots, _)) in lot.pieces.into_iter().enumerate() {
            let context = self.party.next_context();
            plays.push(Line::new(|talk| begin(k, Kit::new(talk, index, &context, cots))));
        }
        let mut abreast = Abreast::new(plays);
        self.party.driver.run(self.channel, &mut abreast)?;
        Ok(abreast.into_machines().map(Line::finish).collect())
    }

    /// The network of a shuffle. This party's half is drawn here.
    fn network(&mut self, rows: usize) -> Arc<Network> {
        let party = &mut *self.party;
        party.shuffles += 1;
        let seed = party.moves.derive("two shuffle", &party.shuffles.to_le_bytes());
        Arc::new(Network::random(&mut Prg::new(party.context.backend, &seed, "two shuffle"), rows))
    }

    /// Permutes rows by the network of one party. This party knows only its own network.
    fn moved(
        &mut self,
        network: &Network,
        mut rows: ShareRows,
        chooser: usize,
        backward: bool,
    ) -> Result<ShareRows, TwoError> {
        let row: usize = rows.widths.iter().map(|w| *w as usize).sum();
        if row == 0 {
            return Ok(rows);
        }
        let each = piece(row, self.party.distance.cots());
        let is_mine = self.party.index == chooser;
        let mut switches = NetworkShape::new(rows.rows()).walk(backward);
        loop {
            let now: Vec<Switch> = switches.by_ref().take(each).collect();
            if now.is_empty() {
                return Ok(rows);
            }
            let tally = piece_tally(now.len(), row, chooser);
            let made = self.abreast(&[tally], |_, mut kit| {
                let (mut rows, now) = (std::mem::take(&mut rows), &now);
                async move {
                    if is_mine {
                        kit.chosen(network, now, &mut rows).await;
                    } else {
                        kit.offered(now, &mut rows).await;
                    }
                    Ok(rows)
                }
            })?;
            rows = made.into_iter().next().expect("one piece");
        }
    }

    /// Permutes rows by both networks.
    fn shuffled(
        &mut self,
        network: &Network,
        rows: ShareRows,
        backward: bool,
    ) -> Result<ShareRows, TwoError> {
        let [first, second] = if backward { [1, 0] } else { [0, 1] };
        let rows = self.moved(network, rows, first, backward)?;
        self.moved(network, rows, second, backward)
    }

    /// Brings rows into an order.
    fn applied(&mut self, order: &SharedOrder, mut rows: ShareRows) -> Result<ShareRows, TwoError> {
        for OrderStage { network, places, inverted } in &order.stages {
            if *inverted {
                let there = inverse(places).ok_or_else(|| self.unordered())?;
                rows = rows.picked(&there);
            }
            if let Some(network) = network {
                rows = self.shuffled(network, rows, *inverted)?;
            }
            if !inverted {
                rows = rows.picked(places);
            }
        }
        Ok(rows)
    }

    fn unordered(&self) -> TwoError {
        TwoError::Unordered { peer: self.channel.from() }
    }

    /// The order that moves each row to its place.
    fn places(&mut self, places: &StepValue) -> Result<SharedOrder, TwoError> {
        let rows = rows_of(places, 1);
        if rows.rows() < 2 {
            return Ok(SharedOrder::default());
        }
        let (network, n, bits) = (self.network(rows.rows()), rows.rows(), rows.widths[0]);
        let rows = self.shuffled(&network, rows, false)?;
        let own: Wiped<Vec<u64>> = Wiped::new(rows.own.iter().map(|x| *x as u64).collect());
        let ours = pack(&own, bits);
        let mut theirs = vec![0; ours.len()];
        self.channel.exchange(OPENING, &ours, &mut theirs)?;
        let sums = own.iter().zip(unpack(&theirs, n, bits));
        let opened = sums.map(|(a, b)| a.wrapping_add(b) & crate::ring::mask(bits));
        let opened: Option<Vec<u32>> = opened.map(|place| u32::try_from(place).ok()).collect();
        let places = opened.and_then(|opened| inverse(&opened)).ok_or_else(|| self.unordered())?;
        #[cfg(test)]
        self.party.orders.push(places.clone());
        Ok(SharedOrder {
            stages: vec![OrderStage { network: Some(network), places: Arc::new(places), inverted: false }],
        })
    }

    /// Sorts rows by keys. The sort is stable.
    fn sort(&mut self, n: usize, keys: &[KeyOrder], reads: &[StepValue]) -> Result<SharedOrder, TwoError> {
        let mut order = SharedOrder::default();
        let bits = reads.iter().map(|form| form.bits().width()).sum();
        for bits in sorts(n, bits) {
            let mut rows = strings(self.party.index, keys, reads, bits);
            rows = self.applied(&order, rows)?;
            let numbers = number_bits(n);
            for (i, own) in (0..).zip(rows.own.iter_mut()) {
                *own = *own << numbers | if self.party.index == 0 { i } else { 0 };
            }
            rows.widths[0] += numbers;
            let stage = self.sorted(rows)?;
            order.stages.push(stage);
        }
        Ok(order)
    }

    /// Sorts distinct strings of bits.
    fn sorted(&mut self, strings: ShareRows) -> Result<OrderStage, TwoError> {
        let (n, bits) = (strings.rows(), strings.widths[0]);
        let network = self.network(n);
        let strings = self.shuffled(&network, strings, false)?;
        let mut numbers = self.numbers(&strings.own, bits)?;
        drop(strings);
        let (mut ranking, mut pairs) = (Ranking::new(n as u32), vec![]);
        loop {
            ranking.ask(&mut pairs);
            if pairs.is_empty() {
                break;
            }
            let answers = self.level(&pairs, &numbers, bits)?;
            let mut before = Wiped::new(vec![]);
            ranking.hear(
                |i| answers[i] == 1,
                |start, from| {
                    let numbers = &mut numbers[start..][..from.len()];
                    before.clear();
                    before.extend_from_slice(numbers);
                    numbers.iter_mut().zip(from).for_each(|(to, from)| *to = before[*from as usize]);
                },
            );
        }
        let places = ranking.order().ok_or_else(|| self.unordered())?.to_vec();
        #[cfg(test)]
        self.party.orders.push(places.clone());
        Ok(OrderStage { network: Some(network), places: Arc::new(places), inverted: false })
    }

    /// Converts strings of bits to numbers modulo 2^(bits + 1).
    fn numbers(&mut self, strings: &[u128], bits: u32) -> Result<Wiped<Vec<u128>>, TwoError> {
        let mut numbers = Wiped::new(Vec::with_capacity(strings.len()));
        for group in cut(strings.len(), self.party.distance, |n| words_tally(n, bits)) {
            let tallies: Vec<Tally> = group.iter().map(|piece| words_tally(piece.len(), bits)).collect();
            let made = self.abreast(&tallies, |k, mut kit| {
                let part = &strings[group[k].clone()];
                async move { Ok(kit.wide_words_of(part, bits).await) }
            })?;
            made.iter().for_each(|made| numbers.extend_from_slice(made));
        }
        Ok(numbers)
    }

    /// Opens for each pair whether its first number is less.
    fn level(&mut self, pairs: &[RankedPair], numbers: &[u128], bits: u32) -> Result<Vec<u8>, TwoError> {
        let mut answers = Vec::with_capacity(pairs.len());
        for group in cut(pairs.len(), self.party.distance, |n| pairs_tally(n, bits)) {
            let tallies: Vec<Tally> = group.iter().map(|piece| pairs_tally(piece.len(), bits)).collect();
            let made = self.abreast(&tallies, |k, mut kit| {
                let pairs = &pairs[group[k].clone()];
                async move {
                    let side = |s: usize| -> Wiped<Vec<u128>> {
                        Wiped::new(pairs.iter().map(|pair| numbers[pair[s] as usize]).collect())
                    };
                    let own = kit.wide_less(&side(0), &side(1), bits).await;
                    let heard = kit.talk.exchange(OPENING, pack_bits(&own), packed(pairs.len(), 1)).await;
                    let theirs = unpack_bits(&heard, pairs.len());
                    Ok(own.iter().zip(theirs).map(|(a, b)| a ^ b).collect::<Vec<u8>>())
                }
            })?;
            made.iter().for_each(|made| answers.extend_from_slice(made));
        }
        Ok(answers)
    }
}
