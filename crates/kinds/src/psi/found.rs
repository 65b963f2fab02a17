//! A party's endpoint of finding the intersection, for each method.
//!
//! ```text
//! vole     set sizes 8 ◄──►   digests under the session's name; the machine of hushwire_psi::plain
//! circuit  set sizes 8 ◄──►   digests likewise; hushwire_psi::circuit
//! phasing, scs  all of hushwire_psi::intersect
//! ```

use super::{PsiMethod, PsiSecurity, PsiTask};
use hushwire_block::Wiped;
use hushwire_files::MoreColumns;
use hushwire_machine::{
    Channel,
    drive::{Driver, Machine},
};
use hushwire_ot::{Context, Level};
use hushwire_prg::Seed;
use hushwire_psi::{
    Beside, Carried, Found, Most, Outcome, PsiError, PsiSide, PsiTerms, Set, TableKeys, circuit, intersect,
    plain::{Digester, ItemDigest, Opened, Parameters, Payloads, Receiver, Sender, cost},
};

/// The result of a party's endpoint.
pub(super) struct Ended {
    pub(super) learnt: Learnt,
    /// The numbers of different keys of party 0 and of party 1.
    pub(super) sizes: [usize; 2],
    pub(super) method: PsiMethod,
    /// The bits of a value.
    pub(super) width: usize,
    pub(super) ands: u64,
}

pub(super) enum Learnt {
    Nothing,
    Size(u64),
    Sum {
        count: u64,
        sum: i64,
    },
    /// For each row, whether its key is in both files; the number of different common keys; and, if
    /// keys are kept, whether each row is the first with its key.
    Rows {
        flags: Vec<bool>,
        found: u64,
        first: Vec<bool>,
        theirs: Option<Theirs>,
    },
}

/// Columns of the other party.
pub(super) struct Theirs {
    carried: Carried,
    payloads: Payloads,
    /// For each row, the number of its key among the common keys.
    of_row: Vec<Option<u32>>,
    /// Whether a payload did not open, or does not have these columns.
    ///
    /// SECURITY: the other party must not learn this. A corrupt sender that damaged a key's payload
    /// would otherwise learn whether the key is common.
    pub(super) is_damaged: bool,
}

impl Theirs {
    fn new(carried: &Carried, set: &Set<ItemDigest>, opened: Opened) -> Self {
        let Opened { common, payloads, damaged } = opened;
        let mut ranks = vec![None; set.count()];
        for (item, rank) in common.iter().zip(0..) {
            ranks[*item as usize] = Some(rank);
        }
        let of_row = set.by_row().map(|item| item.and_then(|item| ranks[item])).collect();
        let odd = (0..payloads.count()).filter(|i| carried.fields(payloads.get(*i)).is_none()).count();
        Self { carried: carried.clone(), payloads, of_row, is_damaged: damaged + odd > 0 }
    }

    pub(super) fn beside(&self) -> Beside<'_> {
        Beside { carried: &self.carried, payloads: &self.payloads, of_row: &self.of_row }
    }

    /// The other party's fields for the key of one of this party's rows.
    pub(super) fn fields(&self, row: usize) -> Vec<String> {
        self.beside().fields(row).into_iter().map(str::to_owned).collect()
    }
}

/// A party before its endpoint starts.
pub(super) struct Find<'a> {
    pub(super) task: &'a PsiTask,
    pub(super) index: u8,
    /// Named by fresh bytes of both parties, which are drawn after their sets were read.
    pub(super) context: Context,
    pub(super) observer: &'a mut dyn FnMut(u64, u64),
}

/// The result, and the keys if they are kept.
type Kept = (Ended, Option<TableKeys>);

impl Find<'_> {
    /// Runs the method vole. `payloads` belong to this party's different keys, if it brings columns
    /// for the other party.
    pub(super) fn by_vole(
        mut self,
        channel: &mut Channel,
        keys: TableKeys,
        keep: bool,
        payloads: Payloads,
    ) -> Result<Kept, PsiError> {
        let (mut set, kept) = self.set(keys, keep);
        let sizes = self.sizes(channel, set.count())?;
        let receiver = self.task.receiver(sizes);
        let [receiver_items, sender_items] = if receiver == 0 { sizes } else { [sizes[1], sizes[0]] };
        let security = match self.task.job.security {
            PsiSecurity::SemiHonest => Level::SemiHonest,
            PsiSecurity::Malicious => Level::Malicious,
        };
        let both_learn = self.task.recipients().len() == 2;
        let carried = self.task.carried();
        let payload_bytes = carried.map_or(0, Carried::payload_bytes);
        let store = self.task.store().unwrap_or_default();
        let parameters =
            Parameters { receiver_items, sender_items, security, both_learn, payload_bytes, store };
        let learnt = if self.index == receiver {
            let opened = self.receive(channel, &parameters, set.take_items())?;
            let mut learnt = rows(&set, &opened.common, kept.is_some());
            if let (Learnt::Rows { theirs, .. }, Some(carried)) = (&mut learnt, carried) {
                *theirs = Some(Theirs::new(carried, &set, opened));
            }
            learnt
        } else {
            let common = self.send(channel, &parameters, set.take_items(), payloads)?;
            common.map_or(Learnt::Nothing, |common| rows(&set, &common, kept.is_some()))
        };
        let width = if security == Level::Malicious { 128 } else { hushwire_psi::value_width(sizes) };
        Ok((Ended { learnt, sizes, method: PsiMethod::Vole, width, ands: 0 }, kept))
    }

    /// Runs the method bins. `amounts` belong to this party's rows, if it has the column that is
    /// summed.
    pub(super) fn by_bins(
        self,
        channel: &mut Channel,
        keys: TableKeys,
        keep: bool,
        amounts: &[i64],
        reveal: circuit::Reveal,
    ) -> Result<Kept, PsiError> {
        let (set, kept) = self.set(keys, keep);
        let sizes = self.sizes(channel, set.count())?;
        let receiver = self.task.receiver(sizes);
        let [receiver_items, sender_items] = if receiver == 0 { sizes } else { [sizes[1], sizes[0]] };
        let store = self.task.store().unwrap_or_default();
        let terms = circuit::Parameters { receiver_items, sender_items, reveal, store };
        // Every row of a key counts.
        let mut numbers = Wiped::new(vec![0u64; set.count()]);
        for (item, amount) in set.by_row().zip(amounts) {
            if let Some(item) = item {
                numbers[item] = numbers[item].wrapping_add(*amount as u64);
            }
        }
        let (context, seed, hears) = (&self.context, Seed::random(), &mut *self.observer);
        let outcome = if self.index == receiver {
            circuit::receive(channel, context, &terms, set.items(), &numbers, &seed, hears)?
        } else {
            circuit::send(channel, context, &terms, set.items(), &seed, hears)?
        };
        let learnt = match outcome {
            circuit::Outcome::Nothing => Learnt::Nothing,
            circuit::Outcome::Size(size) => Learnt::Size(size),
            circuit::Outcome::Sum { count, sum } => Learnt::Sum { count, sum: sum as i64 },
            circuit::Outcome::Flags(common) => rows(&set, &common, kept.is_some()),
        };
        let (width, ands) = (terms.width(), terms.ands());
        Ok((Ended { learnt, sizes, method: PsiMethod::Bins, width, ands }, kept))
    }

    /// The different keys as digests under the session's name, and the keys themselves if they are
    /// kept.
    fn set(&self, keys: TableKeys, keep: bool) -> (Set<ItemDigest>, Option<TableKeys>) {
        let digester = Digester::new(&self.context.sid);
        let digests = |keys: &mut dyn Iterator<Item = &[u8]>, out: &mut Vec<ItemDigest>| {
            digester.digest_into(self.context.backend, keys, out);
        };
        if keep { (Set::of_by(&keys, digests), Some(keys)) } else { (Set::by(keys, digests), None) }
    }

    /// Exchanges the sizes of both sets and checks them before memory is reserved for them.
    fn sizes(&self, channel: &mut Channel, own: usize) -> Result<[usize; 2], PsiError> {
        let mut theirs = [0; 8];
        channel.exchange("set sizes", &(own as u64).to_le_bytes(), &mut theirs)?;
        let theirs = usize::try_from(u64::from_le_bytes(theirs)).unwrap_or(usize::MAX);
        let sizes = if self.index == 0 { [own, theirs] } else { [theirs, own] };
        Most(self.task.job.most_items).check(sizes, self.index.into())?;
        Ok(sizes)
    }

    fn receive(
        &mut self,
        channel: &mut Channel,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
    ) -> Result<Opened, PsiError> {
        let mut machine = Receiver::new(&self.context, parameters, digests, &Seed::random())?;
        self.drive(channel, &mut machine, cost(parameters)[0].rounds)?;
        Ok(machine.open())
    }

    fn send(
        &mut self,
        channel: &mut Channel,
        parameters: &Parameters,
        digests: Vec<ItemDigest>,
        payloads: Payloads,
    ) -> Result<Option<Vec<u32>>, PsiError> {
        let (context, seed) = (&self.context, Seed::random());
        let mut machine = Sender::with_payloads(context, parameters, digests, payloads, &seed)?;
        self.drive(channel, &mut machine, cost(parameters)[1].rounds)?;
        Ok(machine.finish())
    }

    /// Runs a machine to its end; `rounds` is the expected number of rounds.
    fn drive(
        &mut self,
        channel: &mut Channel,
        machine: &mut dyn Machine<Error = PsiError>,
        rounds: u64,
    ) -> Result<(), PsiError> {
        (self.observer)(0, rounds);
        let (mut driver, mut done) = (Driver::new(), 0);
        let mut run = driver.begin(machine);
        loop {
            let more = run.step(std::slice::from_mut(channel)).map_err(|e| of_peer(e, channel))?;
            if !more {
                break;
            }
            done += 1;
            (self.observer)(done.min(rounds), rounds);
        }
        Ok(())
    }

    pub(super) fn by_circuit(
        self,
        channel: &mut Channel,
        keys: TableKeys,
        terms: &PsiTerms,
    ) -> Result<Kept, PsiError> {
        // These digests only find equal keys within this party. No other party sees them.
        let mut secret = Wiped::new([0; 32]);
        getrandom::fill(&mut secret[..]).map_err(|e| PsiError::Random(e.to_string()))?;
        let set = Set::of(&keys, |key| *blake3::keyed_hash(&secret, key).as_bytes());
        let first = first(&set);
        let different: Vec<&[u8]> =
            keys.each().zip(&first).filter_map(|(key, new)| key.filter(|_| *new)).collect();
        let (side, backend) = (self.task.side(self.index), self.context.backend);
        let outcome = intersect(channel, side, &different, terms, backend, self.observer)?;
        let learnt = match &outcome.found {
            Found::Nothing => Learnt::Nothing,
            Found::Size(size) => Learnt::Size(*size),
            Found::Keys(own) => {
                let found = own.iter().filter(|found| **found).count() as u64;
                Learnt::Rows { flags: set.flags(own), found, first, theirs: None }
            }
        };
        let Outcome { sizes: [a, b], circuit, width, ands, .. } = outcome;
        let sizes = if self.task.side(0) == PsiSide::A { [a, b] } else { [b, a] };
        Ok((Ended { learnt, sizes, method: PsiMethod::Circuit(circuit), width, ands }, Some(keys)))
    }
}

/// The rows that have a common key; `common` are indices of items.
fn rows(set: &Set<ItemDigest>, common: &[u32], keep: bool) -> Learnt {
    let mut own = vec![false; set.count()];
    common.iter().for_each(|item| own[*item as usize] = true);
    let first = if keep { first(set) } else { vec![] };
    Learnt::Rows { flags: set.flags(&own), found: common.len() as u64, first, theirs: None }
}

/// For each row, whether it is the first with its key.
fn first<D: Copy + Ord + AsRef<[u8]> + zeroize::Zeroize>(set: &Set<D>) -> Vec<bool> {
    let mut seen = 0;
    let new = |item: Option<usize>| {
        let new = item == Some(seen);
        seen += usize::from(new);
        new
    };
    set.by_row().map(new).collect()
}

/// Adds the peer to an error, because a machine does not know its peer.
fn of_peer(e: PsiError, channel: &Channel) -> PsiError {
    match e {
        PsiError::Malformed { peer: None, message, what } => {
            PsiError::Malformed { peer: channel.from(), message, what }
        }
        PsiError::Abort { peer: None, check } => PsiError::Abort { peer: channel.from(), check },
        PsiError::Ot(e) => PsiError::Ot(e.of(channel.from())),
        e => e,
    }
}
