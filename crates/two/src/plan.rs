//! Plans: the steps of a computation, with the form of every value. A plan also has the groups of
//! pieces that share rounds, and the OTs and triples of each group. The parties compare its digest
//! before a run.

use crate::{
    COEFFICIENTS, TwoError,
    distance::{Distance, PIECE},
    encrypted::EncryptedLayer,
    lower::ROUND,
    prim::{OwnTalk, PlanInput, Products, StepWay, Two, way},
    strings,
    talk::opened_bytes,
    tally::Tally,
};
use hushwire_compute::{Computation, Scalar};
use hushwire_machine::{Channel, Cost, Meter};
use hushwire_plan::{Local, PlanSteps, Prim, Runtime, Slot, StepPiece, Talk};
use std::{collections::BTreeSet, time::Duration};

/// The time that a node of a computation took at a party, and the bytes that it sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// The total time, including OTs, messages and waiting.
    pub all: Duration,
    /// The time for products of matrices and kernels.
    pub products: Duration,
    /// The meter's count for the node, if the party has a meter.
    pub cost: Cost,
}

/// AGREEMENT: the most triples that are made before their use.
const TRIPLES: u64 = 1 << 22;

/// AGREEMENT: the most rows that a sorting network may order.
const NETWORK: usize = 64;

/// An output: its value and type, and the parties that learn it.
#[derive(Clone, Debug)]
pub(crate) struct PlanOutput {
    pub(crate) slot: Slot,
    pub(crate) scalar: Scalar,
    pub(crate) lengths: Vec<usize>,
    pub(crate) to: [bool; 2],
}

impl PlanOutput {
    pub(crate) fn elements(&self) -> usize {
        self.lengths.iter().product()
    }
}

/// The steps of a computation. They are the same for both parties.
pub struct Plan {
    pub(crate) steps: PlanSteps<Two>,
    pub(crate) inputs: Vec<PlanInput>,
    pub(crate) outputs: Vec<PlanOutput>,
    pub(crate) digest: [u8; 32],
}

/// The bytes with which a run begins: a digest of the run, and whether the party wants OTs made
/// ahead.
pub(crate) const BEGIN: usize = blake3::OUT_LEN + 1;

/// The count of a meter on a channel, if there is a meter.
pub(crate) fn read(meter: Option<&Meter>, channel: &Channel) -> Cost {
    meter.map_or(Cost::default(), |meter| meter.lane(channel.lane()))
}

impl Plan {
    /// Returns the plan of a computation without symbols, with all products by OT. `owners` has for
    /// each input, in order, the party 0 or 1 that brings it. `learns` tells for each output which
    /// parties learn it.
    ///
    /// # Errors
    /// A length has no number yet, or circuits do not have an operation.
    ///
    /// # Panics
    /// If `owners` does not have an entry for each input, or `learns` for each output (the caller's
    /// bug).
    pub fn new(computation: &Computation, owners: &[usize], learns: &[[bool; 2]]) -> Result<Plan, TwoError> {
        Plan::with(computation, owners, learns, Products::Ot)
    }

    /// The same. Matrices and kernels that only one party has are multiplied by the means in
    /// `products`.
    ///
    /// # Errors
    /// As [`Self::new`], and one run opens more results under encryption than a session hides
    /// ([`COEFFICIENTS`]).
    ///
    /// # Panics
    /// As [`Self::new`].
    pub fn with(
        computation: &Computation,
        owners: &[usize],
        learns: &[[bool; 2]],
        products: Products,
    ) -> Result<Plan, TwoError> {
        Plan::with_lists(computation, owners, learns, products, u64::MAX)
    }

    /// The same with lists of at most about `most` bytes, including the programs of circuits. It
    /// fails before it takes more memory.
    ///
    /// # Errors
    /// As [`Self::with`], and if the lists would be longer.
    ///
    /// # Panics
    /// As [`Self::new`].
    pub fn with_lists(
        computation: &Computation,
        owners: &[usize],
        learns: &[[bool; 2]],
        products: Products,
        most: u64,
    ) -> Result<Plan, TwoError> {
        assert!(owners.iter().all(|owner| *owner < 2), "owners are parties 0 and 1");
        assert_eq!(owners.len(), computation.inputs().count(), "an owner for each input");
        assert_eq!(learns.len(), computation.outputs().len(), "who learns each output");
        let plan = Plan::cheapest(computation, owners, learns, products, most)?;
        let found = plan.coefficients();
        if found > COEFFICIENTS { Err(TwoError::TooMany { found }) } else { Ok(plan) }
    }

    fn cheapest(
        computation: &Computation,
        owners: &[usize],
        learns: &[[bool; 2]],
        products: Products,
        most: u64,
    ) -> Result<Plan, TwoError> {
        let mut hash = blake3::Hasher::new_derive_key("hushwire two plan v7");
        hash.update(&computation.digest());
        hash.update(&[products as u8]);
        for owner in owners {
            hash.update(&[*owner as u8]);
        }
        for to in learns {
            hash.update(&to.map(u8::from));
        }
        // The parties also agree on the form, because it depends on `most`.
        let as_steps = *hash.clone().update(&[0]).finalize().as_bytes();
        let as_circuit = *hash.update(&[1]).finalize().as_bytes();
        let lower = Two::lower(computation, owners, products, most)?;
        let plan = Plan::of(computation, lower.plan()?, learns, as_steps);
        let rows = computation.nodes().iter().filter(|node| node.ty.scalar == Scalar::Place);
        let rows = rows.filter_map(|node| node.ty.shape.elements()).max();
        if rows.is_none_or(|rows| rows > NETWORK) {
            return Ok(plan);
        }
        // For few rows, a sorting network may take less. One circuit then has the network and all
        // steps that read its order.
        let mut lower = Two::lower(computation, owners, products, most)?;
        let Ok(slots) = Two::as_one(&mut lower) else { return Ok(plan) };
        let one = Plan::of(computation, lower.into_steps(slots), learns, as_circuit);
        let work = |plan: &Plan| {
            let tally = plan.tally(Distance::Near);
            tally.ots() as u64 + ROUND * tally.rounds
        };
        Ok(if work(&one) <= work(&plan) { one } else { plan })
    }

    fn of(
        computation: &Computation,
        (mut steps, two): (PlanSteps<Two>, Two),
        learns: &[[bool; 2]],
        mut digest: [u8; 32],
    ) -> Plan {
        // These messages differ from those that earlier versions send for the same computation.
        let shares = |step| matches!(way(step), StepWay::Encrypted(layer) if layer.linear.together() > 1);
        if steps.iter().any(shares) {
            digest = blake3::derive_key("hushwire two plan, images share ciphertexts v1", &digest);
        }
        // Layers with the same parameters, ring and evaluator share a key.
        let mut keys = BTreeSet::new();
        steps.each_talk(|talk| {
            if let Talk::Own(OwnTalk::Encrypted(layer)) = talk {
                layer.first = keys.insert(layer.name());
            }
        });
        let outputs = computation.outputs().iter().zip(steps.outputs()).zip(learns);
        let output = |((output, slot), to): ((&hushwire_compute::Output, &Slot), &[bool; 2])| {
            let ty = &computation.node(output.value).ty;
            let lengths = ty.shape.lengths().unwrap_or_default();
            PlanOutput { slot: *slot, scalar: ty.scalar, lengths, to: *to }
        };
        let outputs = outputs.map(output).collect();
        Plan { steps, inputs: two.inputs, outputs, digest }
    }

    /// Layers under encryption, each with its step.
    pub(crate) fn layers(&self) -> impl Iterator<Item = (Slot, &EncryptedLayer)> {
        let layer =
            |(at, step)| if let StepWay::Encrypted(layer) = way(step) { Some((at, layer)) } else { None };
        self.steps.iter().enumerate().filter_map(layer)
    }

    /// Returns the number of products that layers under encryption compute.
    #[must_use]
    pub fn encrypted_products(&self) -> u64 {
        self.layers().map(|(_, layer)| layer.linear.coefficients() * layer.linear.conv().terms()).sum()
    }

    /// The input whose words a step has, in any order.
    pub(crate) fn input_of(&self, at: Slot) -> Option<usize> {
        match &self.steps[at].prim {
            Prim::Local(Local::Input(k, _)) => Some(*k),
            Prim::Local(Local::Pick(_)) => self.input_of(self.steps[at].reads[0]),
            _ => None,
        }
    }

    /// Returns the number of results that a run opens under encryption, which noise must hide.
    #[must_use]
    pub fn coefficients(&self) -> u64 {
        self.layers().map(|(_, layer)| layer.linear.coefficients()).sum()
    }

    /// Whether a step is in one piece for any number of rows.
    pub(crate) fn is_whole(&self, at: Slot) -> bool {
        !self.steps.extent(at).cuts
    }

    /// The cost of a piece.
    pub(crate) fn tally_of(&self, (at, rows): &StepPiece) -> Tally {
        self.tally_of_rows(*at, rows.len())
    }

    /// The cost of some rows of a step.
    fn tally_of_rows(&self, at: Slot, rows: usize) -> Tally {
        let (reads, made) = self.steps.piece_sizes(at, rows);
        let price = |talk| Two::price(&mut (), talk, &reads, made, rows);
        self.steps[at].talk().map_or(Tally::default(), price)
    }

    /// The costs of pieces that share their rounds.
    pub(crate) fn tallies(&self, group: &[StepPiece]) -> Vec<Tally> {
        group.iter().map(|piece| self.tally_of(piece)).collect()
    }

    /// The costs of all pieces that share their rounds, in the order of a run. The costs of a sort
    /// are estimates.
    pub(crate) fn lots(&self, distance: Distance) -> impl Iterator<Item = Vec<Tally>> + Send {
        let groups = self.steps.waves().into_iter().flat_map(move |wave| self.groups(&wave, distance));
        groups.flat_map(move |group| self.lots_of(&group, distance))
    }

    /// The costs of pieces that share their rounds. A piece that moves rows has several lots, one
    /// after the other.
    pub(crate) fn lots_of(&self, group: &[StepPiece], distance: Distance) -> Vec<Vec<Tally>> {
        if let [(at, _)] = group
            && let (step, reads) = (&self.steps[*at], self.steps.sizes_read(*at))
            && let StepWay::Reorder(reorder) = way(step)
        {
            return strings::lots(reorder, &reads, step.size.rows(), distance);
        }
        vec![self.tallies(group)]
    }

    /// Whether steps move rows. Their lots depend on opened values, so no OTs are made ahead of
    /// such a run.
    pub(crate) fn moves(&self) -> bool {
        self.steps.iter().any(|step| matches!(way(step), StepWay::Reorder(_)))
    }

    /// The steps of a wave, cut into pieces and grouped by shared rounds. AGREEMENT.
    pub(crate) fn groups(&self, wave: &[Slot], distance: Distance) -> Vec<Vec<StepPiece>> {
        let (mut groups, mut group, mut held) = (vec![], vec![], Tally::default());
        for at in wave {
            let rows = self.steps.rows_read(*at);
            let is_alone = matches!(way(&self.steps[*at]), StepWay::Reorder(_) | StepWay::Encrypted(_));
            let mut start = 0;
            loop {
                let most = if self.is_whole(*at) { rows } else { self.fitting(*at, rows - start) };
                let piece = (*at, start..start + most);
                if is_alone {
                    // It runs before the others, because it has messages of its own.
                    groups.insert(0, vec![piece]);
                    break;
                }
                let next = held.beside(self.tally_of(&piece));
                if !group.is_empty()
                    && (next.cots.iter().any(|n| *n > distance.cots()) || next.triples > TRIPLES)
                {
                    groups.push(std::mem::take(&mut group));
                    held = Tally::default();
                }
                held = held.beside(self.tally_of(&piece));
                group.push(piece);
                start += most;
                if start >= rows {
                    break;
                }
            }
        }
        if !group.is_empty() {
            groups.push(group);
        }
        groups
    }

    /// The most rows of a piece within the limits of OTs and triples. It is a multiple of 64 unless
    /// it is all rows.
    fn fitting(&self, at: Slot, rows: usize) -> usize {
        let fits = |n: usize| {
            let tally = self.tally_of_rows(at, n);
            tally.cots.iter().all(|cots| *cots <= PIECE) && tally.triples <= TRIPLES
        };
        let mut most = rows;
        while most > 64 && !fits(most) {
            most = (most / 2).next_multiple_of(64);
        }
        most
    }

    /// Bytes of a share of an output that is opened.
    pub(crate) fn opened_bytes(&self, output: &PlanOutput) -> usize {
        opened_bytes(output.scalar, self.steps[output.slot].size)
    }
}
