//! A computation whose lengths all have numbers: the part that each member computes alone, and the
//! form in which the parties run the rest.

use super::{
    file::refused,
    public::Public,
    stored,
    threads::{THREADS, far},
    values::Values,
};
use hushwire_block::Wiped;
use hushwire_circuit::{Planes, Program, planes::plane_bytes};
use hushwire_compute::{Computation, Cut, Op, Scalar, Tensor, Type, Value, circuits};
use hushwire_fault::code;
use hushwire_rep3::Addition;
use hushwire_session::{Chosen, Fault, Forecast, Member, Protocol, Seats};
use hushwire_three::{Plan, ThreeError};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

/// The remedy if values or circuits take more memory than was agreed on.
pub(super) const ROOM: &str = "bring fewer rows, or agree on their number under [symbols], as in n = \"<= 100000\", or on more `memory` under [parameters]";
/// AGREEMENT: the approximate number of bytes for each bit of a circuit: the slots where it is
/// written and read, and a label.
const BIT_BYTES: u64 = 32;
/// AGREEMENT: the bytes that a plan's lists may take however little memory was agreed on.
const PLAN_BYTES: u64 = 512 << 20;
/// LOCAL: the most bits that a value of a computation may have on one machine.
const MOST_BITS: usize = 1 << 33;

/// The type and lengths of a value.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    pub(crate) scalar: Scalar,
    pub(crate) lengths: Vec<usize>,
    pub(crate) rows: usize,
    /// The addition of its shares: XOR of bit planes, or sums of words.
    pub(crate) addition: Addition,
}

/// Checks that every value of a computation without symbols, intermediate ones included, has a size
/// that this machine can hold.
///
/// # Errors
/// Names the first value that is too large.
pub fn fits(computation: &Computation) -> Result<(), Fault> {
    fits_shards(computation, 1)
}

/// Like [`fits`], for parties that have this number of shards each.
pub(super) fn fits_shards(computation: &Computation, shards: u16) -> Result<(), Fault> {
    computation.nodes().iter().try_for_each(|node| Extent::new(&node.ty, shards).map(drop))
}

/// Refuses a computation whose live values take more than `most` bytes at a party. A value counts
/// as two shares, from the node that computes it to the last one that reads it. The check runs
/// before anything of these sizes is allocated.
pub(super) fn within(computation: &Computation, most: u64) -> Result<(), Fault> {
    held(computation, most, |elements, bits| {
        elements.checked_mul(bits).map(|bits| 2 * (bits as u64).div_ceil(8))
    })
}

/// Like [`within`], before three parties plan. Their plan knows the sizes of values better and
/// shortens pieces, but its lists have a word for each element. The limit is `most` bytes, but at
/// least [`PLAN_BYTES`].
pub(super) fn plannable(computation: &Computation, most: u64) -> Result<(), Fault> {
    held(computation, most.max(PLAN_BYTES), |elements, _| (elements as u64).checked_mul(8))
}

/// Refuses a computation whose live values take more than `most` bytes at once. `bytes` gives the
/// size of a value from its number of elements and the bits of each.
fn held(
    computation: &Computation,
    most: u64,
    bytes: impl Fn(usize, usize) -> Option<u64>,
) -> Result<(), Fault> {
    let nodes = computation.nodes();
    let mut last: Vec<usize> = (0..nodes.len()).collect();
    for (at, node) in nodes.iter().enumerate() {
        node.arguments.iter().for_each(|read| last[read.0 as usize] = at);
    }
    computation.outputs().iter().for_each(|output| last[output.value.0 as usize] = nodes.len());
    let mut ends = vec![0u64; nodes.len() + 1];
    let (mut live, mut peak) = (0u64, 0);
    for (at, node) in nodes.iter().enumerate() {
        let elements = node.ty.shape.elements();
        let bytes = elements.and_then(|n| bytes(n, node.ty.scalar.bits())).unwrap_or(u64::MAX);
        live = live.saturating_add(bytes);
        ends[last[at]] = ends[last[at]].saturating_add(bytes);
        peak = peak.max(live);
        live -= ends[at].min(live);
    }
    if peak <= most {
        return Ok(());
    }
    let [takes, may] = [peak, most].map(|bytes| bytes.div_ceil(1 << 20));
    let cause = format!("values take {takes} MiB of memory at each party at once, and may take {may} MiB");
    Err(Fault::new(code::COMPUTATION, "the computation", cause, ROOM))
}

impl Extent {
    fn new(ty: &Type, shards: u16) -> Result<Self, Fault> {
        // In the clear an element takes a word, even if it has fewer bits.
        let bits = ty.shape.elements().and_then(|n| n.checked_mul(ty.scalar.bits().max(64)));
        let lengths =
            ty.shape.lengths().filter(|_| bits.is_some_and(|bits| bits <= MOST_BITS * usize::from(shards)));
        let lengths = lengths.ok_or_else(|| {
            let cause = format!("a value is {ty}, more than this machine takes");
            Fault::new(code::COMPUTATION, "the computation", cause, "bring fewer rows, or split the job")
        })?;
        let rows = lengths.iter().product();
        Ok(Extent { scalar: ty.scalar, lengths, rows, addition: Addition::Xor })
    }

    /// The extent of an output, as a sealed share records it.
    pub(crate) fn sealed(scalar: Scalar, lengths: &[usize], addition: Addition) -> Option<Self> {
        let rows = lengths.iter().try_fold(1usize, |rows, n| rows.checked_mul(*n));
        let rows =
            rows.filter(|rows| rows.checked_mul(scalar.bits().max(64)).is_some_and(|b| b <= MOST_BITS))?;
        // An element must fit in a word.
        let fits = |bytes: u8| scalar.record() <= usize::from(bytes);
        let fits = if let Addition::Words(bytes) = addition { fits(bytes) } else { true };
        fits.then(|| Extent { scalar, lengths: lengths.to_vec(), rows, addition })
    }

    /// The bytes of a share.
    pub(crate) fn bytes(&self) -> usize {
        match self.addition {
            Addition::Xor => self.scalar.bits() * plane_bytes(self.rows),
            Addition::Words(bytes) => self.rows * usize::from(bytes),
        }
    }

    /// Turns records into the value that is shared.
    pub(crate) fn whole(&self, records: Wiped<Vec<u8>>) -> Wiped<Vec<u8>> {
        if self.is_as_records() {
            return records;
        }
        let mut value = Wiped::new(Vec::with_capacity(self.bytes()));
        self.append(&records, &mut value);
        value
    }

    /// Appends the value of these records to other values.
    pub(crate) fn append(&self, records: &[u8], to: &mut Vec<u8>) {
        match self.addition {
            _ if self.is_as_records() => to.extend_from_slice(records),
            Addition::Words(bytes) => {
                let start = to.len();
                to.resize(start + self.bytes(), 0);
                let words = to[start..].chunks_exact_mut(bytes.into());
                for (word, record) in words.zip(records.chunks_exact(self.scalar.record())) {
                    word[..record.len()].copy_from_slice(record);
                }
            }
            Addition::Xor => to.extend_from_slice(&Wiped::from(self.planes(records))),
        }
    }

    /// Whether the words of a value are equal to its records.
    fn is_as_records(&self) -> bool {
        matches!(self.addition, Addition::Words(bytes) if usize::from(bytes) == self.scalar.record())
    }

    /// The records of an opened value.
    pub(crate) fn opened(&self, value: &[u8]) -> Wiped<Vec<u8>> {
        let Addition::Words(bytes) = self.addition else { return self.records(value) };
        let (record, bits) = (self.scalar.record(), self.scalar.bits());
        // Bits above the width are carries from the addition of shares.
        let above = 8 * record - bits;
        if above == 0 && self.is_as_records() {
            return Wiped::new(value.to_vec());
        }
        let mut records = Wiped::new(vec![0; self.rows * record]);
        for (to, word) in records.chunks_exact_mut(record).zip(value.chunks_exact(bytes.into())) {
            to.copy_from_slice(&word[..record]);
            to[record - 1] &= 0xff >> above;
            self.scalar.extend(to);
        }
        records
    }

    /// The bit planes of records.
    pub(crate) fn planes(&self, records: &[u8]) -> Planes {
        Planes::pack(records, self.scalar.bits(), self.rows)
    }

    /// The records of bit planes.
    pub(crate) fn records(&self, planes: &[u8]) -> Wiped<Vec<u8>> {
        let planes = Planes::new(self.scalar.bits(), self.rows, planes.to_vec());
        let planes = planes.expect("as many bytes as the planes take");
        let mut records = Wiped::new(planes.unpack());
        records.chunks_exact_mut(self.scalar.record()).for_each(|record| self.scalar.extend(record));
        records
    }
}

/// A computation between members of a job whose lengths all have numbers. It is cut into the parts
/// that members compute alone, and the rest.
#[derive(Clone)]
pub struct BoundComputation {
    /// The computation.
    pub computation: Arc<Computation>,
    cut: Arc<Cut<Member>>,
    public: Arc<Public>,
    /// The owners of the rest's inputs, and the recipients of its outputs.
    pub(crate) seats: Seats,
    /// The extents of the rest's inputs, in order.
    pub(crate) inputs: Vec<Extent>,
    /// The extents of the rest's outputs, in order.
    pub(crate) outputs: Vec<Extent>,
    /// The names of the data-set columns that hold inputs, where they differ from the default
    /// names.
    columns: Arc<BTreeMap<String, String>>,
    /// The form that was asked for last, since making one takes long.
    last_form: Arc<Mutex<LastForm>>,
}

/// A form and the settings it was made with. `None` before the first one is asked for.
type LastForm = Option<(FormTerms, Arc<RunForm>)>;

/// The settings that determine the form, apart from the computation.
type FormTerms = (Protocol, hushwire_session::Linear, Option<u64>);

/// The byte range of each value when all are concatenated.
pub(super) fn places<'e>(extents: impl Iterator<Item = &'e Extent>) -> Vec<Range<usize>> {
    let mut at = 0;
    let place = |extent: &Extent| {
        at += extent.bytes();
        at - extent.bytes()..at
    };
    extents.map(place).collect()
}

/// The form in which parties run a computation.
pub(crate) enum RunForm {
    /// Steps on shares of words and of bits.
    Steps(Plan),
    /// A circuit that runs once.
    Circuit(Arc<Program>),
    /// Steps of two parties on words and bits.
    #[cfg(feature = "two")]
    Pair(hushwire_two::Plan),
}

impl RunForm {
    /// The AND gates of a circuit; 0 for steps.
    pub(crate) fn ands(&self) -> u64 {
        match self {
            RunForm::Steps(_) => 0,
            RunForm::Circuit(program) => program.ands(),
            #[cfg(feature = "two")]
            RunForm::Pair(_) => 0,
        }
    }
}

impl BoundComputation {
    pub(super) fn new(
        computation: Computation,
        cut: Cut<Member>,
        public: Arc<Public>,
        recipients: Vec<Vec<Member>>,
        columns: BTreeMap<String, String>,
        shards: u16,
    ) -> Result<Self, Fault> {
        let rest = cut.shared();
        let inputs = rest.inputs().map(|(_, ty)| Extent::new(ty, shards)).collect::<Result<_, _>>()?;
        let outputs = rest.outputs().iter().map(|output| Extent::new(&rest.node(output.value).ty, shards));
        let outputs = outputs.collect::<Result<_, _>>()?;
        let owners = cut.brought().iter().map(|(owner, _)| owner.clone()).collect();
        let (computation, cut) = (Arc::new(computation), Arc::new(cut));
        Ok(BoundComputation {
            computation,
            cut,
            public,
            seats: Seats { owners, recipients },
            inputs,
            outputs,
            columns: Arc::new(columns),
            last_form: Arc::default(),
        })
    }

    /// The name of the data-set column that holds an input.
    pub(super) fn column(&self, input: &str, scalar: Scalar) -> String {
        self.columns.get(input).cloned().unwrap_or_else(|| stored::column_name(input, scalar))
    }

    /// Sets the form of each input and output value to the one in which `form` takes and gives it.
    pub(super) fn through(mut self, form: &RunForm) -> Self {
        if let RunForm::Steps(plan) = form {
            let doors = plan.inputs().iter().copied().chain(plan.outputs());
            let extents = self.inputs.iter_mut().chain(&mut self.outputs);
            extents.zip(doors).for_each(|(extent, door)| extent.addition = door.addition());
        }
        self
    }

    /// The part of the computation that no member can compute alone.
    #[must_use]
    pub fn rest(&self) -> &Computation {
        self.cut.shared()
    }

    /// The course of a run in steps: for each wave, the number of steps done when it begins, and
    /// the node of the computation that it works on. Empty if the parties run it as a circuit.
    ///
    /// # Errors
    /// The computation is too large to run.
    pub fn course(&self, chosen: Chosen) -> Result<Vec<(u64, Value)>, Fault> {
        Ok(self.course_of(&*self.form(chosen)?))
    }

    /// Computes the parts that a member does alone, and returns the records that it brings to the
    /// rest, in order. `own` are its inputs.
    pub(super) fn brought(
        &self,
        me: &Member,
        own: BTreeMap<String, Values>,
    ) -> Result<Vec<Wiped<Vec<u8>>>, Fault> {
        self.alone(&self.brought_by(me), own, None)
    }

    /// The values that a member brings to the rest, in order.
    pub(super) fn brought_by(&self, me: &Member) -> Vec<Value> {
        self.cut.brought().iter().filter(|(owner, _)| owner == me).map(|(_, value)| *value).collect()
    }

    /// Computes records of values that a member has the inputs for. If the inputs hold only some
    /// rows, `rows` maps a number of all rows to the number of rows here.
    pub(super) fn alone(
        &self,
        values: &[Value],
        mut own: BTreeMap<String, Values>,
        rows: Option<&dyn Fn(usize) -> usize>,
    ) -> Result<Vec<Wiped<Vec<u8>>>, Fault> {
        let input = |value: &Value| match &self.computation.node(*value).op {
            Op::Input(name) => Some(name.clone()),
            _ => None,
        };
        let computed: Vec<Value> = values.iter().copied().filter(|value| input(value).is_none()).collect();
        let needs = self.inputs_behind(&computed);
        let tensors: BTreeMap<&str, Tensor> = own
            .iter()
            .filter(|(name, _)| needs.contains(name.as_str()))
            .map(|(name, values)| (name.as_str(), values.tensor()))
            .collect();
        let known = |name: &str| tensors.get(name).or_else(|| self.public.values.get(name));
        let made = match rows {
            None => self.computation.alone(&computed, known),
            Some(rows) => self.computation.some_rows(&computed, known, rows),
        };
        let made = made.map_err(|e| e.fault().coded(code::COMPUTATION).during("computing alone"))?;
        drop(tensors);
        let mut made = made.into_iter();
        let missing = || Fault::internal("reading inputs", "an input was not opened");
        let records = values.iter().map(|value| match input(value) {
            // An input that goes unchanged to the rest is taken, not copied.
            Some(name) => own.remove(&name).map(|values| values.records).ok_or_else(missing),
            None => Ok(Wiped::new(made.next().ok_or_else(missing)?.records())),
        });
        records.collect()
    }

    /// The inputs of the computation on which these values depend.
    pub(super) fn inputs_behind(&self, values: &[Value]) -> BTreeSet<&str> {
        let (mut open, mut seen, mut inputs) = (values.to_vec(), BTreeSet::new(), BTreeSet::new());
        while let Some(value) = open.pop() {
            if seen.insert(value) {
                let node = self.computation.node(value);
                if let Op::Input(name) = &node.op {
                    inputs.insert(name.as_str());
                }
                open.extend(&node.arguments);
            }
        }
        inputs
    }

    /// Whether each of these values can be computed row by row from inputs in `parts` and from
    /// public single elements.
    pub(super) fn are_by_rows(&self, values: &[Value], parts: &BTreeSet<&str>) -> Vec<bool> {
        let known = |name: &str| self.public.values.get(name).is_some_and(|value| value.lengths().is_empty());
        let by_rows = |value: &Value| {
            let inputs = self.computation.by_rows(*value);
            inputs.is_some_and(|inputs| inputs.iter().all(|name| parts.contains(name) || known(name)))
        };
        values.iter().map(by_rows).collect()
    }

    /// The extent of one of the computation's inputs.
    pub(super) fn extent_of(&self, input: &str, shards: u16) -> Result<Extent, Fault> {
        let found = self.computation.inputs().find(|(name, _)| *name == input);
        let (_, ty) = found.ok_or_else(|| Fault::internal("reading inputs", "an input is not there"))?;
        Extent::new(ty, shards)
    }

    /// The form in which the protocol's parties run it. It follows from the protocol and the
    /// computation alone, and is a circuit if the protocol has no other form.
    pub(crate) fn form(&self, chosen: Chosen) -> Result<Arc<RunForm>, Fault> {
        self.form_within(chosen, None)
    }

    /// Like [`BoundComputation::form`], but refuses a circuit whose bits take more than `most`
    /// bytes, before it is made.
    pub(super) fn form_within(&self, chosen: Chosen, most: Option<u64>) -> Result<Arc<RunForm>, Fault> {
        let terms = (chosen.protocol, chosen.linear, most);
        let mut last = self.last_form.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, form)) = last.as_ref().filter(|(of, _)| *of == terms) {
            return Ok(Arc::clone(form));
        }
        let form = Arc::new(self.made_form(chosen, most)?);
        *last = Some((terms, Arc::clone(&form)));
        Ok(form)
    }

    fn made_form(&self, chosen: Chosen, most: Option<u64>) -> Result<RunForm, Fault> {
        let steps = match chosen.protocol {
            Protocol::Rep3 => {
                let kept: Vec<bool> =
                    self.seats.owners.iter().map(|owner| matches!(owner, Member::Data(_))).collect();
                Plan::with_planes(self.rest(), &kept).ok()
            }
            #[cfg(feature = "two")]
            Protocol::Two => return self.pair(chosen.linear, most).map(RunForm::Pair),
            _ => None,
        };
        match steps {
            Some(plan) => Ok(RunForm::Steps(plan)),
            None => {
                let bits = most.map(|most| usize::try_from(most / BIT_BYTES).unwrap_or(usize::MAX));
                let program = match bits {
                    None => self.program()?,
                    Some(bits) => circuits::program_within(self.rest(), bits).map_err(|e| match e {
                        hushwire_compute::ComputeError::Type { cause, .. } => {
                            Fault::new(code::COMPUTATION, "the computation", cause, ROOM)
                        }
                        e => refused(None, &e),
                    })?,
                };
                Ok(RunForm::Circuit(Arc::new(program)))
            }
        }
    }

    /// The plan by which two parties run the rest on words.
    #[cfg(feature = "two")]
    fn pair(&self, linear: hushwire_session::Linear, most: Option<u64>) -> Result<hushwire_two::Plan, Fault> {
        let products = match linear {
            hushwire_session::Linear::Ot => hushwire_two::Products::Ot,
            hushwire_session::Linear::He => hushwire_two::Products::He,
        };
        let (owners, learns) = (self.seats.owners_of_two(), self.seats.learns_of_two());
        let lists = most.unwrap_or(u64::MAX);
        let plan = hushwire_two::Plan::with_lists(self.rest(), &owners, &learns, products, lists);
        plan.map_err(|e| match e {
            hushwire_two::TwoError::Compute(e) => refused(None, &e),
            e @ hushwire_two::TwoError::Memory { .. } => e.fault().remedied(ROOM).during("the computation"),
            e @ hushwire_two::TwoError::TooMany { .. } => e.fault().during("the computation"),
            e => Fault::internal("the computation", e),
        })
    }

    /// The rest as a circuit.
    pub(crate) fn program(&self) -> Result<Program, Fault> {
        circuits::program(self.rest()).map_err(|e| refused(None, &e))
    }

    /// The inputs of the rest that come from data sets: place, data set, and the name of the input
    /// in the computation.
    pub(super) fn stored(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        let inputs = self.rest().inputs().zip(&self.seats.owners).enumerate();
        inputs.filter_map(|(i, ((name, _), owner))| match owner {
            Member::Data(data) => Some((i, data.as_str(), name)),
            _ => None,
        })
    }

    /// The recipients of outputs that are not connected, once each.
    pub(super) fn absent(&self) -> Vec<Member> {
        let learn = self.seats.recipients.iter().flatten();
        let absent: BTreeSet<&Member> = learn.filter(|to| matches!(to, Member::Recipient(_))).collect();
        absent.into_iter().cloned().collect()
    }

    /// The course of a run in this form, as [`BoundComputation::course`] returns it.
    pub(super) fn course_of(&self, form: &RunForm) -> Vec<(u64, Value)> {
        let RunForm::Steps(plan) = form else { return vec![] };
        plan.course().iter().map(|leg| (leg.done as u64, self.origin(leg.node))).collect()
    }

    /// The node of the whole computation that a node of the rest stands for.
    pub(super) fn origin(&self, node: Value) -> Value {
        self.cut.origins()[node.0 as usize]
    }

    /// The inputs of the rest that a member brings, with their places.
    pub(super) fn inputs_of<'a>(&'a self, me: &'a Member) -> impl Iterator<Item = (usize, &'a Extent)> {
        let all = self.seats.owners.iter().zip(self.inputs.iter().enumerate());
        all.filter(move |(owner, _)| *owner == me).map(|(_, input)| input)
    }

    /// The outputs of the rest that a member learns.
    pub(super) fn outputs_of<'a>(&'a self, me: &'a Member) -> impl Iterator<Item = &'a Extent> {
        let all = self.seats.recipients.iter().zip(&self.outputs);
        all.filter(move |(to, _)| to.contains(me)).map(|(_, extent)| extent)
    }

    /// The forecasts of a run of two parties on words, one for each of these OT extensions, on CPUs
    /// with AES instructions. Both parties compute the same ones, whatever their own CPUs are. A
    /// run in another form has no such forecasts.
    ///
    /// # Errors
    /// The computation is too large to run.
    #[cfg(feature = "nn")]
    #[cfg_attr(not(feature = "two"), expect(unused_variables))]
    pub(crate) fn by_extension(
        &self,
        chosen: Chosen,
        of: &[hushwire_ot::Protocol],
    ) -> Result<Vec<Forecast>, Fault> {
        match &*self.form(chosen)? {
            #[cfg(feature = "two")]
            RunForm::Pair(plan) => {
                let with = |ot: &hushwire_ot::Protocol| Chosen { ot: Some(*ot), ..chosen };
                Ok(of.iter().map(|ot| Forecast::of_pair(with(ot), plan, true)).collect())
            }
            _ => Ok(vec![]),
        }
    }

    /// The forecast of a run on a CPU with or without AES instructions, and its number of AND
    /// gates. These are the gates of the circuit, or those that two parties compute on bits in a
    /// run on words. `None` for three parties' steps, which are of many kinds.
    ///
    /// # Errors
    /// The computation is too large to run.
    pub fn forecast(&self, chosen: Chosen, aes_instructions: bool) -> Result<(Forecast, Option<u64>), Fault> {
        self.forecast_of(&*self.form(chosen)?, chosen, aes_instructions)
    }

    /// Like [`BoundComputation::forecast`], with the most bytes that values and work on them take
    /// at each party if it runs in steps. A circuit whose bits take more than `most` bytes is
    /// refused before it is made.
    ///
    /// # Errors
    /// The computation is too large to run, or takes more than `most` bytes.
    pub fn price(
        &self,
        chosen: Chosen,
        aes_instructions: bool,
        threads: u16,
        most: u64,
    ) -> Result<(Forecast, Option<u64>, Option<u64>), Fault> {
        let form = self.form_within(chosen, Some(most))?;
        let (forecast, ands) = self.forecast_of(&form, chosen, aes_instructions)?;
        let memory = match &*form {
            RunForm::Steps(plan) => Some(plan.memory(far(threads))),
            #[cfg(feature = "two")]
            RunForm::Pair(plan) => Some(plan.memory(hushwire_two::Distance::Far)),
            RunForm::Circuit(_) => None,
        };
        Ok((forecast, ands, memory))
    }

    fn forecast_of(
        &self,
        form: &RunForm,
        chosen: Chosen,
        aes_instructions: bool,
    ) -> Result<(Forecast, Option<u64>), Fault> {
        let bound = self.clone().through(form);
        match form {
            RunForm::Circuit(program) => {
                let ands = Some(program.ands());
                Ok((Forecast::of_program(chosen, program, &self.seats, aes_instructions), ands))
            }
            #[cfg(feature = "two")]
            RunForm::Pair(plan) => {
                let triples = plan.tally(hushwire_two::Distance::Near).triples;
                Ok((Forecast::of_pair(chosen, plan, aes_instructions), Some(triples)))
            }
            RunForm::Steps(plan) => {
                let refused = |e: ThreeError| match e {
                    ThreeError::Compute(e) => refused(None, &e),
                    e => Fault::internal("the computation", e),
                };
                // At most one share of each input and output is held in addition.
                let ends: usize = bound.inputs.iter().chain(&bound.outputs).map(Extent::bytes).sum();
                let cost = |cut: hushwire_three::Cut| {
                    let costs = (0..3).map(|party| plan.likely_cost(party, cut));
                    let costs = costs.collect::<Result<Vec<_>, _>>().map_err(refused)?;
                    let rounds = costs.iter().map(|cost| cost.rounds).max().unwrap_or_default();
                    let sent = costs.iter().map(|cost| cost.bytes_sent).max().unwrap_or_default();
                    Ok::<_, Fault>((rounds, sent + ends as u64))
                };
                let far = far(THREADS);
                let near = cost(far.with_few(hushwire_three::Cut::whole().few()))?;
                let room = hushwire_three::Cut::new(THREADS, hushwire_wire::Shape::lan().one_way());
                let farther = [cost(far.with_few(room.few()))?, cost(far)?];
                Ok((Forecast::of_steps(near, farther, aes_instructions), None))
            }
        }
    }
}
