//! Preprocessing ahead of a run, for protocol authgarble: stocks that wait in a directory of each party, sealed under its key.
//!
//! ```text
//! name of a stock   n parties - this party's place - hash of all parties' pins - extension of OT - triples - masks - id; the id is the same at all parties
//! ahead             as a run as far as the run's name; then on every thread set-up, preprocessing, and to the shelf
//! run               all ──► all: for each size that threads take, ids of its stocks
//!                   of three and more, all ──► all: a hash of the ids of everybody, 32 bytes; the run ends where two differ
//!                   each thread takes the least one that all have and no thread before it takes, and marks it as used
//! ```
//!
//! Whoever says other ids to one party than to another would make them take stocks that do not fit, of which MACs fail with the name of a
//! party that did nothing. So the parties compare what each was told before a stock counts as used; where they differ, nobody can say
//! who of the others lied, and nobody is named. Where there is none that all have, the run preprocesses as it goes.

use crate::{
    Agreement, Field, Forecast, JobError, Kind, Member, MemberConfig, Part, Plan, Prepared, Protocol, Task,
    flow::COMPUTE,
    member_config::explain,
    n_party,
    run::{Links, MemberSession},
    threads::on_threads,
};
use hushwire_authgarble::{Need, Shelf, ShelfError, Stock};
use hushwire_prg::Seed;
use hushwire_wire::{Channel, Identity, NetError, PartyId, Reason};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};
use zeroize::Zeroizing;

/// The step, as errors name it.
const STEP: &str = "preprocessing";
const MEETING: &str = "comparing preprocessing";
/// AGREEMENT: stocks of a size that a party offers, beyond one for each thread that takes it: not all parties have the same.
const SPARE: usize = 8;
/// Bytes of a stock's id.
const ID: usize = 16;
/// AGREEMENT: triples of a stock at most, as far as that is a batch: they are made in memory. What a thread takes beyond, it makes in its run.
const MOST: u64 = 1 << 21;
/// Stocks for each thread that one command makes.
const MOST_TIMES: u32 = 1000;
/// Separates the key of stocks from any other use of a party's identity.
const DOMAIN: &str = "hushwire 2026 authgarble shelf key v2";
/// AGREEMENT: separates the hash of offers from any other use of BLAKE3.
const OFFERS: &str = "hushwire 2026 authgarble shelf offers v1";

type Id = [u8; ID];

/// The stock that thread `t` of a plan takes in a run; `each` is an instance's. It serves whole batches, at least the first.
fn need(plan: &Plan, t: u16, each: Need) -> Need {
    let batches = (u32::from(t)..plan.batches()).step_by(plan.threads.into());
    let instances = whole_batches(batches.map(|b| plan.instances_of(b) as u64), MOST / each.triples.max(1));
    Need { triples: instances * each.triples, masks: instances * each.masks }
}

/// The instances of the first batches: as many batches as hold `most` together, or one.
fn whole_batches(batches: impl Iterator<Item = u64>, most: u64) -> u64 {
    let sums = batches.scan(0, |sum, instances| {
        let first = *sum == 0;
        *sum += instances;
        (first || *sum <= most).then_some(*sum)
    });
    sums.last().unwrap_or(0)
}

/// The begin of the names of stocks that a thread of party `index` takes.
///
/// Parties that meet again in another order are other parties to a stock: it binds each of them to its place.
fn prefix(plan: &Plan, config: &MemberConfig, index: usize, need: Need) -> String {
    let ot = plan.ot.map_or("none", hushwire_ot::Protocol::name);
    let (n, Need { triples, masks }) = (plan.parties(), need);
    let among = among(config, n);
    format!("n{n}-p{index}-{among}-{ot}-{triples}-{masks}-")
}

/// A short name of the parties in their order: stocks of other company do not stand in the way.
fn among(config: &MemberConfig, n: u8) -> String {
    let mut hash = blake3::Hasher::new_derive_key("hushwire 2026 authgarble shelf company v1");
    for party in (0..n).map(Member::Party) {
        let peer = config.peers.iter().find(|peer| peer.member == party);
        hash.update(&peer.map_or(config.identity.pin(), |peer| peer.pin).0);
    }
    hash.finalize().to_hex()[..16].to_owned()
}

/// The base64 text of a private key, whatever else its file holds and however it is broken into lines.
fn private_key(pem: &str) -> Option<Zeroizing<String>> {
    let (_, from) = pem.split_once("-----BEGIN PRIVATE KEY-----")?;
    let (key, _) = from.split_once("-----END PRIVATE KEY-----")?;
    let mut text = Zeroizing::new(String::with_capacity(key.len()));
    text.extend(key.chars().filter(|c| !c.is_whitespace()));
    Some(text)
}

/// A party's shelf. Its stocks are sealed under a key that comes from its private key.
fn shelf(dir: &Path, identity: &Identity) -> Result<Shelf, JobError> {
    let pem = identity.to_pem();
    let private = private_key(&pem).ok_or_else(|| JobError::internal(STEP, "an identity without its key"))?;
    let key = Zeroizing::new(blake3::derive_key(DOMAIN, private.as_bytes()));
    let key = Seed::from_bytes(*key.first_chunk().expect("32 bytes hold 16"));
    Shelf::open(dir, key).map_err(|e| refused(&e))
}

fn refused(e: &ShelfError) -> JobError {
    let text = e.to_string();
    let (cause, remedy) = text.split_once("; ").unwrap_or((&text, ""));
    JobError::new(Kind::File, STEP, cause, remedy)
}

/// The sizes that threads take, as begins of names, each once, and for each thread the place of its own among them.
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

/// For each thread of party `index`, the stock that all parties have, if there is one. It counts as used from here on.
pub(crate) fn meet(
    plan: &Plan,
    member: &MemberSession,
    index: usize,
    control: &mut [Channel],
    each: Need,
) -> Result<Vec<Option<Stock>>, JobError> {
    let config = &member.config;
    let shelf = config.shelf.as_deref().map(|dir| shelf(dir, &config.identity)).transpose()?;
    let names = shelf.as_ref().map_or(Ok(vec![]), Shelf::names).map_err(|e| refused(&e))?;
    let (sizes, places) =
        sizes((0..plan.threads).map(|t| prefix(plan, config, index, need(plan, t, each))).collect());
    let mut own = vec![];
    for (place, size) in sizes.iter().enumerate() {
        let mut offers = vec![0; offered(&places, place) * ID];
        let ids = names.iter().filter_map(|name| hex::decode(name.strip_prefix(size)?).ok());
        for (to, id) in offers.chunks_exact_mut(ID).zip(ids.filter(|id| id.len() == ID)) {
            to.copy_from_slice(&id);
        }
        own.extend(offers);
    }
    let offers = exchange(control, index, own).map_err(|e| explain(&member.agreement, e).during(MEETING))?;
    let Some(all) = offers else {
        if let Some(watch) = member.net.watch() {
            watch.abort(PartyId(index as u8), Reason::Failed, MEETING);
        }
        return Err(JobError::new(
            Kind::Network,
            MEETING,
            "the parties were told of different preprocessing, so that one of them lies, and nobody can say which",
            "run again; if it comes back, run without `shelf`",
        ));
    };
    let take = |(id, place): (Option<Id>, &usize)| {
        let (Some(id), Some(shelf)) = (id, &shelf) else { return Ok(None) };
        let name = format!("{}{}", sizes[*place], hex::encode(id));
        let stock = shelf.take(config.backend, &name).map_err(|e| refused(&e))?;
        if (stock.me(), stock.parties()) != (index, plan.parties().into()) {
            let cause = format!("{name}: its name says another place or number of parties than its contents");
            return Err(JobError::new(
                Kind::File,
                STEP,
                cause,
                "keep stocks under the names they were made with",
            ));
        }
        Ok(Some(stock))
    };
    choose(&all, &places).into_iter().zip(&places).map(take).collect()
}

/// The offers of all, this party's among them; `None` where others were told something else.
fn exchange(control: &mut [Channel], index: usize, own: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, NetError> {
    let mut all = to_all(control, &own)?;
    all.insert(index, own);
    if all.len() == 2 {
        // What one said, the other heard.
        return Ok(Some(all));
    }
    let mut hash = blake3::Hasher::new_derive_key(OFFERS);
    // All are as long.
    for offers in &all {
        hash.update(offers);
    }
    let heard = hash.finalize();
    let others = to_all(control, heard.as_bytes())?;
    Ok(others.iter().all(|other| other == heard.as_bytes()).then_some(all))
}

/// Says the same to every other party, and hears as many bytes from each.
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

/// Ids that a party offers of the size at `place`.
fn offered(places: &[usize], place: usize) -> usize {
    places.iter().filter(|p| **p == place).count() + SPARE
}

/// For each thread the least id of its size that everybody offers and no thread before it has.
fn choose(offers: &[Vec<u8>], places: &[usize]) -> Vec<Option<Id>> {
    let sizes = places.iter().max().map_or(0, |most| most + 1);
    let mut from = 0;
    let mut common = vec![];
    for place in 0..sizes {
        let to = from + offered(places, place) * ID;
        let of = |offers: &Vec<u8>| -> BTreeSet<Id> {
            offers[from..to].as_chunks().0.iter().filter(|id| **id != [0; ID]).copied().collect()
        };
        common.push(offers.iter().map(of).reduce(|a, b| &a & &b).unwrap_or_default());
        from = to;
    }
    // A stock's name tells its size, but who offers one under two sizes shall not have it taken twice.
    let mut taken = BTreeSet::new();
    let choice = |place: &usize| {
        let id = common[*place].iter().find(|id| !taken.contains(*id)).copied();
        taken.extend(id);
        id
    };
    places.iter().map(choice).collect()
}

/// Preprocessing for runs of a circuit's job that are still to come, and nothing of the job itself: members bring no inputs.
#[derive(Clone)]
pub struct Preparation {
    /// The job.
    pub prepared: Prepared,
    /// Runs that it is for.
    pub times: u32,
}

impl Preparation {
    /// For `times` runs.
    ///
    /// # Errors
    /// The job has another protocol than authgarble, or the number is none that one command makes.
    pub fn new(prepared: Prepared, times: u32) -> Result<Self, JobError> {
        if !matches!(prepared.plan.protocol, Protocol::Authgarble(_)) {
            let cause = format!("protocol {} has no preprocessing", prepared.plan.protocol);
            return Err(JobError::usage(STEP, cause, "take authgarble, or run the job as it is"));
        }
        if !(1..=MOST_TIMES).contains(&times) {
            let remedy = format!("prepare 1 to {MOST_TIMES} runs at once");
            return Err(JobError::usage(STEP, format!("{times} runs cannot be prepared"), remedy));
        }
        Ok(Self { prepared, times })
    }
}

impl Task for Preparation {
    /// Stocks that were made.
    type Learnt = u64;
    type Part = PreparationPart;

    fn agreement(&self) -> Agreement {
        let mut agreement = self.prepared.plan.agreement();
        // Whoever runs the job meets nobody who prepares it.
        agreement.kind = "preprocessing";
        agreement.title = format!("preprocessing for {}", agreement.title);
        agreement.fields.push(Field::new("times", self.times.to_string()));
        agreement
    }

    fn reads(&self) -> Vec<(String, PathBuf)> {
        self.prepared.reads()
    }

    fn forecast(&self, _: bool, _: Option<u64>) -> Option<Forecast> {
        None
    }

    fn open(&self, config: &mut MemberConfig) -> Result<PreparationPart, JobError> {
        let Some(dir) = &config.shelf else {
            let cause = "this party's file names no directory for it";
            return Err(JobError::usage(STEP, cause, "add a table [authgarble] with shelf = \"DIRECTORY\""));
        };
        // It is made here, and shows at once if it cannot be.
        shelf(dir, &config.identity)?;
        Ok(PreparationPart { preparation: self.clone(), dir: dir.clone() })
    }
}

/// A party's part of preprocessing.
pub struct PreparationPart {
    preparation: Preparation,
    dir: PathBuf,
}

impl Part for PreparationPart {
    type Learnt = u64;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, JobError> {
        let Member::Party(index) = member.config.me else {
            return Err(JobError::internal(STEP, "a client prepares nothing"));
        };
        let (index, plan) = (usize::from(index), &self.preparation.prepared.plan);
        let mut control = n_party::channels(member, 1, member.agreement.control_lane(), index)?;
        let context = n_party::name(member, index, &mut control)?;
        let lanes = (0..plan.threads).map(|t| n_party::channels(member, 0, t, index));
        let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
        let program = &self.preparation.prepared.program;
        let each = n_party::need(program, &plan.among(program), 1);
        let (agreement, watch, config) = (&member.agreement, member.net.watch(), &member.config);
        let kept = on_threads((0..).zip(lanes).collect(), |(t, mut channels): (u16, Vec<Channel>)| {
            let (need, shelf) = (need(plan, t, each), shelf(&self.dir, &config.identity)?);
            let prefix = prefix(plan, config, index, need);
            let mut party = n_party::party(plan.chosen(), &context.child("thread", t.into()), index)?;
            for _ in 0..self.preparation.times {
                let stock = party.prepare(&mut channels, need);
                let stock =
                    stock.map_err(|e| n_party::failed(agreement, watch.as_ref(), index, COMPUTE, e))?;
                shelf.put(&format!("{prefix}{}", hex::encode(stock.id())), stock).map_err(|e| refused(&e))?;
            }
            Ok(channels)
        })?;
        Ok(Links { word: control, kept: kept.into_iter().flatten().collect() })
    }

    fn prepare(&mut self) -> Result<(), JobError> {
        Ok(())
    }

    fn commit(self) -> Result<u64, JobError> {
        Ok(u64::from(self.preparation.times) * u64::from(self.preparation.prepared.plan.threads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids of each size, at the places that threads have.
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

    /// Party 2 says of another stock to 0 than to 1, and then to each that it heard what that one heard.
    #[test]
    fn stocks_are_taken_where_all_were_told_the_same() {
        let own = [[7, 5], [7, 5], [5, 7]].map(|ids| ids.map(|id| [id; ID]).concat());
        let ends = |lies: bool| {
            let ids: Vec<_> = (0..3).map(PartyId).collect();
            let nets = hushwire_wire::inproc::mesh(&ids, 1, std::time::Duration::from_secs(60));
            let side = |(index, mut net): (usize, hushwire_wire::Net)| {
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

    /// More threads than stocks that are offered beyond their number.
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

    /// A stock that held a part of a batch would be thrown away by the run that it was made for.
    #[test]
    fn stocks_hold_whole_batches() {
        for (batches, most, whole) in
            [(&[4, 4, 2][..], 10, 10), (&[4, 4, 2], 9, 8), (&[4, 4, 2], 3, 4), (&[4], 0, 4), (&[], 5, 0)]
        {
            assert_eq!(whole_batches(batches.iter().copied(), most), whole, "{batches:?} of {most}");
        }
    }

    #[test]
    fn the_key_of_stocks_is_of_the_private_key_alone() {
        let pem = Identity::generate("a").expect("an identity").to_pem();
        let key = private_key(&pem).expect("a key");
        let folded = pem.replace('\n', "\r\n") + "\nwhat the owner wrote below\n";
        assert_eq!(private_key(&folded).as_ref(), Some(&key));
        let other = Identity::generate("a").expect("an identity").to_pem();
        assert_ne!(private_key(&other), Some(key));
        assert_eq!(private_key("no key"), None);
    }
}
