//! The registry's functions with the feature.

use crate::Block;
use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap, HashSet},
    marker::PhantomData,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The party of work outside any party: a test makes parties on its own thread.
const NOBODY: u8 = u8::MAX;

thread_local! {
    static HERE: RefCell<Here> = const { RefCell::new(Here { record: None, end: NOBODY, strand: 0 }) };
}

/// The record and the party for which a thread records.
#[derive(Clone)]
pub struct Here {
    record: Option<Arc<Mutex<KeyUses>>>,
    end: u8,
    strand: u8,
}

/// Restores the thread's former record on drop.
pub struct Entered {
    before: Here,
    /// Keeps this value in its thread.
    stays: PhantomData<*const ()>,
}

/// A record, which ends on drop.
pub struct Watch {
    record: Arc<Mutex<KeyUses>>,
    _entered: Entered,
}

/// One party's use of one key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Use {
    end: u8,
    strand: u8,
    what: &'static str,
    key: [u8; 16],
}

#[derive(Default)]
struct KeyUses {
    /// Disjoint runs of numbers that are not adjacent: the first number and the end.
    numbers: HashMap<Use, BTreeMap<u128, u128>>,
    /// Digests of the secrets that were used.
    secrets: HashMap<(u8, &'static str), HashSet<u64>>,
    names: HashMap<[u8; 16], String>,
    uses: u64,
}

fn locked(record: &Mutex<KeyUses>) -> MutexGuard<'_, KeyUses> {
    record.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins a record for this thread and the threads that it starts.
#[must_use]
pub fn watch() -> Watch {
    let record = Arc::<Mutex<KeyUses>>::default();
    let _entered = Here { record: Some(record.clone()), end: NOBODY, strand: 0 }.enter();
    Watch { record, _entered }
}

impl Watch {
    /// The number of uses recorded so far. It is 0 if a test rig does not pass the record to its
    /// threads.
    #[must_use]
    pub fn uses(&self) -> u64 {
        locked(&self.record).uses
    }
}

/// The record of this thread, for threads that it starts.
#[must_use]
pub fn here() -> Here {
    HERE.with_borrow(Clone::clone)
}

impl Here {
    /// The same record, for the party `end`.
    ///
    /// # Panics
    /// If `end` does not fit in a byte.
    #[must_use]
    pub fn end(self, end: usize) -> Here {
        Here { end: u8::try_from(end).expect("fewer ends"), ..self }
    }

    /// Makes this thread record here.
    #[must_use]
    pub fn enter(&self) -> Entered {
        Entered { before: HERE.replace(self.clone()), stays: PhantomData }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let Here { record, end, strand } = &mut self.before;
        HERE.set(Here { record: record.take(), end: *end, strand: *strand });
    }
}

/// Runs `f` as the party `end`.
pub fn as_end<T>(end: usize, f: impl FnOnce() -> T) -> T {
    let _end = here().end(end).enter();
    f()
}

/// Runs `f`, which hashes a declared relative of another input under the same tweaks.
pub fn strand<T>(strand: u8, f: impl FnOnce() -> T) -> T {
    let _strand = Here { strand, ..here() }.enter();
    f()
}

/// Runs `f`, which records uses, for records that take more than one call.
pub fn note(f: impl FnOnce()) {
    f();
}

/// Runs `f`, whose uses the caller has recorded.
pub fn silent<T>(f: impl FnOnce() -> T) -> T {
    let _silent = Here { record: None, ..here() }.enter();
    f()
}

/// Calls `f` with the record and the party, if there is a record. Panics with the message of `f`
/// after it has released the lock.
fn record(f: impl FnOnce(&mut KeyUses, &Here) -> Result<(), String>) {
    let found = HERE.with_borrow(|here| {
        let record = here.record.as_ref()?;
        let mut record = locked(record);
        record.uses += 1;
        f(&mut record, here).err()
    });
    if let Some(found) = found {
        panic!("{found}");
    }
}

/// Records `count` uses of a key, from number `first` on.
///
/// # Panics
/// If this party has used one of them.
pub fn used(what: &'static str, key: &[u8; 16], first: u128, count: usize) {
    if count == 0 {
        return;
    }
    record(|record, here| {
        let key_use = Use { end: here.end, strand: here.strand, what, key: *key };
        // Numbers do not wrap here, although counters wrap at 2^128; no test comes near that.
        let last = first.saturating_add(count as u128);
        match add(record.numbers.entry(key_use).or_default(), first, last) {
            Ok(()) => Ok(()),
            Err([from, to]) => {
                let name = record.names.get(key).map_or("a key without a name", String::as_str);
                Err(format!(
                    "{} used a {what} twice under {name} ({:032x}): first among {from}..{to}, and again among {first}..{last}",
                    who(here),
                    u128::from_be_bytes(*key),
                ))
            }
        }
    });
}

/// Adds a run, or returns the run that it overlaps.
fn add(runs: &mut BTreeMap<u128, u128>, first: u128, end: u128) -> Result<(), [u128; 2]> {
    let (mut from, mut to) = (first, end);
    if let Some((f, t)) = runs.range(..end).next_back()
        && *t > first
    {
        return Err([*f, *t]);
    }
    if let Some((f, _)) = runs.range(..first).next_back().filter(|(_, t)| **t == first) {
        from = *f;
    }
    if let Some(t) = runs.remove(&end) {
        to = t;
    }
    runs.insert(from, to);
    Ok(())
}

/// Records secrets for a single use.
///
/// # Panics
/// If this party has used one of them.
pub fn once(what: &'static str, secrets: &[Block]) {
    record(|record, here| {
        let seen = record.secrets.entry((here.end, what)).or_default();
        // A digest has 64 bits: among a million secrets, two collide with probability 2^-25.
        let digest = |block: &Block| {
            let block = block.to_u128();
            (block as u64).rotate_left(17) ^ (block >> 64) as u64
        };
        match secrets.iter().position(|secret| !seen.insert(digest(secret))) {
            None => Ok(()),
            Some(at) => {
                let why = format!("number {at} of these {} came before among {}", secrets.len(), seen.len());
                Err(format!("{} used a {what} twice: {why}", who(here)))
            }
        }
    });
}

fn who(here: &Here) -> String {
    let end = if here.end == NOBODY { "no end".to_owned() } else { format!("end {}", here.end) };
    if here.strand == 0 { end } else { format!("{end}, of relatives {},", here.strand) }
}

/// Names a derived key, after `parent` if that has a name. Only the first 16 bytes of a key
/// identify it.
pub fn named(parent: &[u8], key: &[u8], label: &str, index: u64) {
    let short = |key: &[u8]| key.first_chunk::<16>().copied().unwrap_or_default();
    record(|record, _| {
        record.uses -= 1;
        let above = record.names.get(&short(parent)).map(|name| format!("{name} / ")).unwrap_or_default();
        record.names.insert(short(key), format!("{above}{label} {index}"));
        Ok(())
    });
}
