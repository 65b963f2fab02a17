//! The start of a run that may take preprocessing from disk.
//!
//! ```text
//! run   all ──► all: for each size that threads take, ids of its files: circuits', then stocks'
//!       with three or more, all ──► all: a hash of the ids of all parties, 32 bytes;
//!       the run ends if two hashes differ
//!       each thread takes circuits, else a stock: the least id that all have and no earlier
//!       thread takes, and marks it as used
//! ```
//!
//! A party that sends different ids to different peers would make them take files that do not
//! match. The MAC check would then fail and blame an honest party. So the parties compare the ids
//! that each was sent before a file counts as used. If the hashes differ, it is unknown which of
//! the other parties lied, and no party is blamed. If no file is common to all, the run
//! preprocesses as it goes, and reports which parties lack a copy.

use super::{STEP, Want, Wants, garbled_prefix, prefix, refused, shelf};
use crate::{
    Fault,
    member_config::{Event, explain},
    run::MemberSession,
};
use hushwire_authgarble::{AuthgarbleParty, Garbled, Shelf, Stock};
use hushwire_fault::code;
use hushwire_machine::{Channel, NetError, PartyId, Reason};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const MEETING: &str = "comparing preprocessing";
/// AGREEMENT: the files of a size that a party offers beyond one for each thread that takes it. Not
/// all parties have the same files.
const SPARE: usize = 8;
/// The size of an id in bytes.
const ID: usize = 16;
/// AGREEMENT: the domain of the hash of offers.
const OFFERS: &str = "hushwire 2026 authgarble shelf offers v1";

type Id = [u8; ID];

/// The numbers of threads of a run that took a phase of authenticated garbling from disk, where it
/// was made earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FromDisk {
    /// Triples and masks.
    pub function_independent: u16,
    /// Garbled circuits, and so the earlier phases as well: only the online phase remained.
    pub function_dependent: u16,
}

/// The preprocessing that a thread takes from disk.
pub enum Ahead {
    /// No preprocessing: the thread makes what it needs.
    Nothing,
    /// The function-independent phase.
    Stock(Box<Stock>),
    /// The function-dependent phase too, for the thread's first batches, in order.
    Circuits(Vec<Garbled>),
}

impl Ahead {
    /// Gives the preprocessing to the party that runs next.
    pub fn give(self, party: &mut AuthgarbleParty) {
        match self {
            Ahead::Nothing => {}
            Ahead::Stock(stock) => party.take_stock(*stock),
            Ahead::Circuits(circuits) => party.take_garbled(circuits),
        }
    }
}

/// Returns the distinct sizes that threads take, as prefixes of file names, and for each thread the
/// index of its own size.
fn sizes(prefixes: Vec<String>) -> (Vec<String>, Vec<usize>) {
    let mut sizes: Vec<String> = vec![];
    let places = prefixes.into_iter().map(|prefix| {
        sizes.iter().position(|size| *size == prefix).unwrap_or_else(|| {
            sizes.push(prefix);
            sizes.len() - 1
        })
    });
    let places = places.collect();
    (sizes, places)
}

/// Finds for each thread of party `index` the preprocessing that all parties have on disk, if there
/// is any. It counts as used from here on.
///
/// # Errors
/// A channel failed, the parties were sent different offers, or a file cannot be used.
pub fn meet(
    wants: &Wants,
    member: &MemberSession,
    index: u8,
    control: &mut [Channel],
) -> Result<Vec<Ahead>, Fault> {
    let (config, chosen, index) = (&member.config, wants.chosen, usize::from(index));
    let shelf = config.shelf.as_deref().map(|dir| shelf(dir, config)).transpose()?;
    let garbled = wants.threads.iter().map(|want| garbled_prefix(chosen, config, index, &want.circuits));
    let stocks = wants.threads.iter().map(|want| prefix(chosen, config, index, want.need));
    let (sizes, places) = sizes(garbled.chain(stocks).collect());
    let own = own(shelf.as_ref(), &sizes, &places)?;
    let offers = exchange(control, index, own).map_err(|e| explain(&member.agreement, e).during(MEETING))?;
    let Some(all) = offers else {
        if let Some(watch) = member.net.watch() {
            watch.abort(PartyId(index as u8), Reason::Failed, MEETING);
        }
        return Err(Fault::new(
            code::DISAGREE,
            MEETING,
            "the parties were told of different preprocessing, so that one of them lies, and nobody can say which",
            "run again; if it comes back, run without `shelf`",
        ));
    };
    let common = choose(&all, &places);
    let threads = wants.threads.len();
    let names: Vec<_> = common
        .iter()
        .zip(&places)
        .map(|(id, place)| id.map(|id| format!("{}{}", sizes[*place], hex::encode(id))))
        .collect();
    let (garbled, stocks) = names.split_at(threads);
    let take = |((garbled, stock), want): ((&Option<String>, &Option<String>), &Want)| {
        let Some(shelf) = &shelf else { return Ok(Ahead::Nothing) };
        let place = [index, usize::from(chosen.protocol.parties())];
        if let (Some(material), Some(name)) = (&config.material, garbled.as_ref().or(stock.as_ref())) {
            material.uses(name)?;
        }
        match (garbled, stock) {
            (Some(name), _) => {
                let taken = shelf.take_garbled(config.backend, name, place, &want.circuits);
                taken.map(Ahead::Circuits).map_err(|e| refused(&e))
            }
            (None, Some(name)) => take_stock(shelf, member, name, place),
            (None, None) => Ok(Ahead::Nothing),
        }
    };
    let taken: Vec<_> = garbled.iter().zip(stocks).zip(&wants.threads).map(take).collect::<Result<_, _>>()?;
    let notes = notes(&all, &places, index, threads, &taken);
    notes.into_iter().for_each(|note| (member.observer)(Event::Note(note)));
    Ok(taken)
}

/// Counts the threads that took each phase from disk.
pub fn from_disk(taken: &[Ahead]) -> FromDisk {
    let circuits = taken.iter().filter(|taken| matches!(taken, Ahead::Circuits(_))).count() as u16;
    let stocks = taken.iter().filter(|taken| matches!(taken, Ahead::Stock(_))).count() as u16;
    FromDisk { function_independent: circuits + stocks, function_dependent: circuits }
}

/// The ids that this party offers.
fn own(shelf: Option<&Shelf>, sizes: &[String], places: &[usize]) -> Result<Vec<u8>, Fault> {
    let names = |shelf: &Shelf| Ok([shelf.garbled_names()?, shelf.names()?].concat());
    let names = shelf.map_or(Ok(vec![]), names).map_err(|e| refused(&e))?;
    let mut own = vec![];
    for (place, size) in sizes.iter().enumerate() {
        let mut offers = vec![0; offered(places, place) * ID];
        let ids = names.iter().filter_map(|name| hex::decode(name.strip_prefix(size)?).ok());
        for (to, id) in offers.chunks_exact_mut(ID).zip(ids.filter(|id| id.len() == ID)) {
            to.copy_from_slice(&id);
        }
        own.extend(offers);
    }
    Ok(own)
}

fn take_stock(shelf: &Shelf, member: &MemberSession, name: &str, place: [usize; 2]) -> Result<Ahead, Fault> {
    let stock = shelf.take(member.config.backend, name).map_err(|e| refused(&e))?;
    if [stock.me(), stock.parties()] != place {
        let cause = format!("{name}: its name says another place or number of parties than its contents");
        return Err(Fault::new(code::STOCK, STEP, cause, "keep stocks under the names they were made with"));
    }
    Ok(Ahead::Stock(Box::new(stock)))
}

/// Notes for people: the phases that come from disk, and the parties that lack copies of this
/// party's files.
fn notes(offers: &[Vec<u8>], places: &[usize], index: usize, threads: usize, taken: &[Ahead]) -> Vec<String> {
    let FromDisk { function_independent, function_dependent } = from_disk(taken);
    let mut notes = vec![];
    for (phase, of) in
        [("function-independent", function_independent), ("function-dependent", function_dependent)]
    {
        if of > 0 {
            notes.push(format!("the {phase} phase is taken from disk by {of} of {threads} threads"));
        }
    }
    for (k, place) in places.iter().enumerate() {
        let (t, kind) = (k % threads, if k < threads { "garbled circuits" } else { "triples" });
        let unused = matches!((&taken[t], k < threads), (Ahead::Nothing, _) | (Ahead::Stock(_), true));
        let lack = lacking(offers, places, index, *place);
        if unused && !lack.is_empty() {
            let who: Vec<_> = lack.iter().map(|p| format!("party {p}")).collect();
            let (verb, who) = (if who.len() == 1 { "has" } else { "have" }, who.join(" and "));
            let note = format!("{kind} that wait here for this job are not used: {who} {verb} no copy");
            // Threads of different sizes report the same note.
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

/// The parties that have no copy of any file that party `index` offers for a size; empty if that
/// party has none itself.
fn lacking(offers: &[Vec<u8>], places: &[usize], index: usize, place: usize) -> Vec<usize> {
    let own = ids(&offers[index], places, place);
    let lacks = |p: &usize| !own.is_empty() && ids(&offers[*p], places, place).is_disjoint(&own);
    (0..offers.len()).filter(lacks).collect()
}

/// Exchanges the offers of all parties, including this one. `None` if another party was sent
/// something else.
fn exchange(control: &mut [Channel], index: usize, own: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, NetError> {
    let mut all = to_all(control, &own)?;
    all.insert(index, own);
    if all.len() == 2 {
        // Each of two parties knows what it was sent.
        return Ok(Some(all));
    }
    let mut hash = blake3::Hasher::new_derive_key(OFFERS);
    // All offers have the same length.
    for offers in &all {
        hash.update(offers);
    }
    let heard = hash.finalize();
    let others = to_all(control, heard.as_bytes())?;
    Ok(others.iter().all(|other| other == heard.as_bytes()).then_some(all))
}

/// Sends the same bytes to every other party, and receives the same number of bytes from each.
fn to_all(control: &mut [Channel], own: &[u8]) -> Result<Vec<Vec<u8>>, NetError> {
    for channel in &mut *control {
        channel.start(MEETING, own)?;
    }
    let finish = |channel: &mut Channel| {
        let mut theirs = vec![0; own.len()];
        channel.finish(MEETING, own, &mut theirs).map(|()| theirs)
    };
    control.iter_mut().map(finish).collect()
}

/// The number of ids that a party offers for the size at `place`.
fn offered(places: &[usize], place: usize) -> usize {
    places.iter().filter(|p| **p == place).count() + SPARE
}

/// The ids for the size at `place` in a party's offers.
fn ids(offers: &[u8], places: &[usize], place: usize) -> BTreeSet<Id> {
    let from: usize = (0..place).map(|place| offered(places, place) * ID).sum();
    let of = &offers[from..from + offered(places, place) * ID];
    of.as_chunks().0.iter().filter(|id| **id != [0; ID]).copied().collect()
}

/// For each thread, the least id of its size that all parties offer and no earlier thread takes.
fn choose(offers: &[Vec<u8>], places: &[usize]) -> Vec<Option<Id>> {
    let sizes = places.iter().max().map_or(0, |most| most + 1);
    let common = |place| {
        let of = |offers: &Vec<u8>| ids(offers, places, place);
        offers.iter().map(of).reduce(|a, b| &a & &b).unwrap_or_default()
    };
    let common: Vec<_> = (0..sizes).map(common).collect();
    // A file's name gives its size, but a party that offers one file under two sizes must not cause
    // it to be taken twice.
    let mut taken = BTreeSet::new();
    let choice = |place: &usize| {
        let id = common[*place].iter().find(|id| !taken.contains(*id)).copied();
        taken.extend(id);
        id
    };
    places.iter().map(choice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ids of each size, padded to the numbers that threads need.
    fn offers(places: &[usize], sizes: &[&[u8]]) -> Vec<u8> {
        let of = |(place, ids): (usize, &&[u8])| {
            let mut offers = vec![0; offered(places, place) * ID];
            offers.chunks_exact_mut(ID).zip(*ids).for_each(|(to, id)| to.fill(*id));
            offers
        };
        sizes.iter().enumerate().flat_map(of).collect()
    }

    #[test]
    fn threads_take_what_all_have_and_nothing_twice() {
        let ids = |found: Vec<Option<Id>>| found.into_iter().map(|id| id.map(|id| id[0])).collect::<Vec<_>>();
        let alike: &[_] = &[0, 0];
        let three = [&[5, 3, 9][..], &[9, 3, 5], &[3, 5]].map(|ids| offers(alike, &[ids]));
        assert_eq!(ids(choose(&three, alike)), [Some(3), Some(5)]);
        let two: &[_] = &[0, 1];
        let apart = [offers(two, &[&[1], &[2, 4]]), offers(two, &[&[2], &[4]])];
        assert_eq!(ids(choose(&apart, two)), [None, Some(4)]);
        let double = [offers(two, &[&[7], &[7]]), offers(two, &[&[7], &[7]])];
        assert_eq!(ids(choose(&double, two)), [Some(7), None]);
        assert_eq!(ids(choose(&[offers(two, &[&[], &[]]), offers(two, &[&[], &[]])], two)), [None, None]);
    }

    /// Party 2 sends another stock to party 0 than to party 1. It then sends each the hash that
    /// this party expects.
    #[test]
    fn stocks_are_taken_where_all_were_told_the_same() {
        let own = [[7, 5], [7, 5], [5, 7]].map(|ids| ids.map(|id| [id; ID]).concat());
        let ends = |lies: bool| {
            let ids: Vec<_> = (0..3).map(PartyId).collect();
            let nets = hushwire_machine::inproc::mesh(&ids, 1, std::time::Duration::from_secs(60));
            let side = |(index, mut net): (usize, hushwire_machine::Net)| {
                let others = (0..3).filter(|other| *other != index);
                let to = others
                    .map(|other| Some(ids[other]))
                    .map(|peer| net.channel(0, peer, peer).expect("a lane"));
                let mut control: Vec<Channel> = to.collect();
                if !lies || index < 2 {
                    return exchange(&mut control, index, own[index].clone()).expect("both rounds");
                }
                let said = [own[2].clone(), [[7; ID], [0; ID]].concat()];
                for (channel, said) in control.iter_mut().zip(&said) {
                    channel.exchange(MEETING, said, &mut vec![0; said.len()]).expect("it goes");
                }
                for (channel, said) in control.iter_mut().zip(said) {
                    let mut hash = blake3::Hasher::new_derive_key(OFFERS);
                    for offers in [&own[0], &own[1], &said] {
                        hash.update(offers);
                    }
                    channel.exchange(MEETING, hash.finalize().as_bytes(), &mut [0; 32]).expect("it goes");
                }
                None
            };
            std::thread::scope(|scope| {
                let side = &side;
                let sides: Vec<_> =
                    nets.into_iter().enumerate().map(|net| scope.spawn(move || side(net))).collect();
                sides.into_iter().map(|side| side.join().expect("it ends")).collect::<Vec<_>>()
            })
        };
        assert_eq!(ends(false), vec![Some(own.to_vec()); 3]);
        assert_eq!(ends(true), [None, None, None]);
    }

    /// There are more threads than stocks that are offered beyond their number.
    #[test]
    fn every_thread_finds_a_stock() {
        let places = vec![0; 3 * SPARE];
        let all: Vec<u8> = (1..=places.len() as u8).collect();
        let found = choose(&[offers(&places, &[&all]), offers(&places, &[&all])], &places);
        let found: BTreeSet<_> = found.into_iter().map(|id| id.expect("a stock")[0]).collect();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), all);
    }

    #[test]
    fn sizes_stand_once_each() {
        let (sizes, places) = sizes(["a", "b", "a", "a"].map(str::to_owned).to_vec());
        assert_eq!((sizes, places), (vec!["a".to_owned(), "b".to_owned()], vec![0, 1, 0, 0]));
    }

    #[test]
    fn whoever_lacks_a_copy_is_named() {
        // One size is that of circuits, the other that of triples.
        let places: &[usize] = &[0, 1];
        let of = [&[1, 2, 3][..], &[3], &[4], &[]].map(|ids| offers(places, &[ids, &[]]));
        assert_eq!(
            [0, 1, 2, 3].map(|p| lacking(&of, places, p, 0)),
            [vec![2, 3], vec![2, 3], vec![0, 1, 3], vec![]]
        );
        let taken =
            |all: [u8; 2]| all.map(|kind| if kind == 0 { Ahead::Nothing } else { Ahead::Circuits(vec![]) });
        let told = |index, all| notes(&of, places, index, 1, &taken(all)[..1]);
        assert_eq!(
            told(2, [0, 0]),
            [
                "garbled circuits that wait here for this job are not used: party 0 and party 1 and party 3 have no copy"
            ]
        );
        assert_eq!(told(3, [0, 0]), [""; 0]);
        let all = [
            "the function-independent phase is taken from disk by 1 of 1 threads",
            "the function-dependent phase is taken from disk by 1 of 1 threads",
        ];
        assert_eq!(told(2, [1, 1]), all);
    }
}
