//! A party's part: it connects to the ring, gets shares of the round keys, and computes keystream
//! on shares.
//!
//! ```text
//! key set-up   the key that it keeps ─► owner; owner ─► terms; tags of terms and
//!              key shares compared with the others
//!              round keys from the owner, or expanded on shares; a new key's share to disk
//! chunks       on threads × lanes, see `stream`
//! ```

use super::{
    Learnt,
    cut::{AesCtrTerms, KeyMode},
    keystream::{Batch, Engine},
    share_file::{self, KeyId},
    spec::{AesCtrJob, KeySource},
    stream::{Shared, Stream},
    wire::{self, HELD_STEP, KEPT_STEP, Secrets, TERMS_STEP},
};
use hushwire_block::Wiped;
use hushwire_fault::code;
use hushwire_hdl::{Device, Statistics};
use hushwire_machine::{Channel, PartyId, Reason, drive::Lane};
use hushwire_prg::Seed;
use hushwire_rep3::{
    self as rep3, Comparison, ExpandedKeys, Inconsistent, KeyExpansion, Role, Shares, Workspace,
};
use hushwire_session::{
    Agreement, Event, Fault, Member, MemberConfig, NewFile, RunFiles, explain,
    run::{Links, MemberSession},
    threads::{COMPUTE, Progress, drive, lanes, on_threads},
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The name in errors of everything before the first chunk.
const KEY: &str = "key set-up";
const COMPARE: &str = "comparing terms and shares of the key";
const STORE: &str = "storing the share of the key";

/// A party that has read its own files.
pub(super) struct AesCtrParty {
    job: AesCtrJob,
    role: Role,
    /// The share that it kept from an earlier run.
    kept: Option<(KeyId, Shares)>,
    /// The file for a share that it will keep.
    new: Option<NewFile>,
    device: Option<Device>,
    learnt: Learnt,
}

/// The links of the ring and the channel to the owner, during the set-up of the key.
struct Desk<'a> {
    agreement: &'a Agreement,
    /// The batch of the key and the terms.
    batch: rep3::Batch,
    /// To the right neighbour and from the left one, against the direction of products.
    forward: Channel,
    /// To the left neighbour and from the right one; `None` while a lane uses it.
    backward: Option<Channel>,
    owner: Channel,
}

impl Desk<'_> {
    fn failed(&self, e: hushwire_machine::NetError) -> Fault {
        explain(self.agreement, e).during(KEY)
    }
}

impl AesCtrParty {
    /// Reads the share of a kept key, or creates the file of a future one, and starts the device of
    /// a party that is hardware.
    pub(super) fn open(job: &AesCtrJob, index: u8, config: &mut MemberConfig) -> Result<Self, Fault> {
        let Some(role) = Role::new(index) else {
            return Err(Fault::internal("taking part", "no such party"));
        };
        nothing_else(&Member::Party(index), config, &[], &[])?;
        let (mut kept, mut new) = (None, None);
        if job.key != KeySource::Given {
            let path = config.keys.key_share.clone().ok_or_else(|| {
                let cause = "the job keeps the key, and this member's file names no place for its share";
                Fault::new(
                    code::ENCRYPTION,
                    "taking part",
                    cause,
                    "add [aes-ctr] with key-share = \"party.share\"",
                )
            })?;
            match (path.exists(), job.key) {
                (false, _) => {
                    new = Some(config.files.create("with key-share", &path, RunFiles::ONCE, 0o600)?);
                }
                (true, KeySource::Kept) => {
                    let found = share_file::read(&path, role)?;
                    if found.1.own.len() != job.size().key_bytes() {
                        let cause = format!(
                            "it is of a key of {} bits, and the job is for {}",
                            8 * found.1.own.len(),
                            job.key_bits
                        );
                        let remedy = "write the key's length into the job, or name another share";
                        return Err(Fault::file("use the share", &path, cause, remedy));
                    }
                    kept = Some(found);
                }
                (true, _) => {
                    let cause =
                        format!("{} already holds a share, and the job brings another key", path.display());
                    let remedy =
                        "write key = \"kept\" into the job to use the key there, or name another place";
                    return Err(Fault::new(code::KEY, "refused", cause, remedy).whole());
                }
            }
            config.files.reads("this party's share of the key", &path);
        }
        let device = job.cut.device(index).map(start_device).transpose()?;
        Ok(Self { job: job.clone(), role, kept, new, device, learnt: Learnt::default() })
    }

    /// The key of which this party keeps a share.
    pub(super) fn key_id(&self) -> Option<&KeyId> {
        self.kept.as_ref().map(|(id, _)| id)
    }

    pub(super) fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault> {
        member.enter(KEY);
        let agreement = member.agreement.clone();
        let (left, right) = (Some(self.role.left().id()), Some(self.role.right().id()));
        let owner = Member::Client(self.job.owner.clone()).id(&agreement.clients);
        let control = agreement.control_lane();
        let mut forward = member.channel(0, control, right, left)?;
        let backward = Some(member.channel(0, control, left, right)?);
        let (backend, id) = (member.config.backend, member.session());
        let mut party = rep3::Rep3Party::open(self.role, backend, id, Seed::random(), &mut forward)
            .map_err(|e| explain(&agreement, e).during(KEY))?;
        // The first batch is for the key, the others for the chunks, in order.
        let batch = party.next_batch().map_err(|e| Fault::internal(KEY, e))?;
        let clients = (0..self.job.cut.threads).map(|t| member.channel(1, t, owner, owner));
        let mut clients = clients.collect::<Result<Vec<_>, _>>()?;
        let first = clients.remove(0);
        let mut desk = Desk { agreement: &agreement, batch, forward, backward, owner: first };
        let (terms, secrets) = self.hear(&mut desk, member, owner)?;
        (member.observer)(Event::Progress(0, terms.bytes));
        let keys = self.keys(&mut desk, &terms, secrets.expanded)?;
        let Desk { forward, backward, owner, .. } = desk;
        clients.insert(0, owner);
        let engine = Engine::new(&party, &terms, keys, self.device.clone())?;

        member.enter(COMPUTE);
        let progress = Progress::new(terms.bytes, &member.observer);
        let shared = Arc::new(Shared { terms, engine, seed: secrets.seed, progress });
        let cut = &self.job.cut;
        let mut threads = vec![];
        for ((t, client), party) in (0..cut.threads).zip(clients).zip(party.split(cut.threads.into())) {
            let lanes = lanes(member, self.role, t, cut.lanes)?;
            threads.push((lanes, Stream::new(shared.clone(), party, client, t)));
        }
        let finished = on_threads(threads, |(mut lanes, mut stream): (Vec<Lane<Batch>>, Stream)| {
            drive(&agreement, &shared.progress, &mut lanes, &mut stream, Stream::flush)?;
            Ok((lanes, stream.client))
        })?;
        let used = self.device.as_ref().map(Device::statistics).transpose()?;
        self.learnt.device = used.map(|Statistics { cycles, ands }| DeviceUse { cycles, ands });
        let mut links = Links { word: vec![forward], kept: vec![] };
        links.word.extend(backward);
        for (t, (lanes, client)) in finished.into_iter().enumerate() {
            let to = if t == 0 { &mut links.word } else { &mut links.kept };
            to.push(client);
            links.kept.extend(lanes.into_iter().flat_map(Lane::into_channels));
        }
        Ok(links)
    }

    pub(super) fn commit(self) -> Learnt {
        self.learnt
    }

    /// Tells the owner which key this party keeps, and receives its terms. When this returns, all
    /// three parties have the same terms and shares of one key.
    fn hear(
        &mut self,
        desk: &mut Desk<'_>,
        member: &MemberSession,
        owner: Option<PartyId>,
    ) -> Result<(AesCtrTerms, Secrets), Fault> {
        let held = wire::encode_held(self.key_id());
        desk.owner.send(HELD_STEP, &held).map_err(|e| desk.failed(e))?;
        let mut message = Wiped::new(vec![0; wire::terms_len(&self.job)]);
        desk.owner.recv(TERMS_STEP, &mut message).map_err(|e| desk.failed(e))?;
        let client = Member::Client(self.job.owner.clone());
        let deviates = |what: String| {
            if let (Some(watch), Some(owner)) = (member.net.watch(), owner) {
                watch.abort(owner, Reason::Cheated, COMPARE);
            }
            let remedy = format!("let {client} run this release unchanged; nothing was computed");
            Fault::new(code::KEY, COMPARE, what, remedy)
        };
        let (terms, secrets) = wire::decode_terms(&self.job, self.key_id(), &message)
            .map_err(|cause| deviates(format!("{client} sent terms that cannot be used: {cause}")))?;
        let public =
            wire::public(&terms).ok_or_else(|| Fault::internal(COMPARE, "the terms cannot be encoded"))?;
        let mut tagging = desk.batch.tagging();
        tagging.part(&public, &public);
        let mut of_key = desk.batch.tagging();
        if let Some(shares) = secrets.expanded.as_ref().or(self.kept.as_ref().map(|(_, shares)| shares)) {
            of_key.part(&shares.own, &shares.next);
        }
        // Two tags even without a key: the owner's message must not change the lengths of messages.
        let tags = vec![tagging.finish(), of_key.finish()];
        let comparison = Comparison::begin(self.role, &mut desk.forward, tags).map_err(|e| desk.failed(e))?;
        let verdict = comparison.end(&mut desk.forward).map_err(|e| desk.failed(e))?;
        let Some(Inconsistent { owner: place, holders: [a, b] }) = verdict else {
            return Ok((terms, secrets));
        };
        let [a, b] = [a.index().min(b.index()), a.index().max(b.index())];
        let different = format!("party {a} and party {b}");
        Err(match (place, self.job.key.is_the_owners()) {
            (0, _) => deviates(format!("{client} gave {different} different terms")),
            (_, true) => deviates(format!("{client} gave {different} different shares of the same key")),
            (_, false) => {
                let what = format!("the key shares of {different} do not belong together");
                let remedy = "restore both share files from the same backup; nothing was computed";
                Fault::new(code::KEY, COMPARE, what, remedy)
            }
        })
    }

    /// Computes the round keys, and writes the share file if the terms ask for it.
    fn keys(
        &mut self,
        desk: &mut Desk<'_>,
        terms: &AesCtrTerms,
        expanded: Option<Shares>,
    ) -> Result<ExpandedKeys, Fault> {
        let size = terms.size();
        let key = match (terms.key, self.kept.take(), &expanded) {
            (KeyMode::Kept, Some((_, kept)), _) => Some(kept),
            (KeyMode::Drawn, ..) => Some(desk.batch.random(size.key_bytes())),
            // The first round key is the key.
            (KeyMode::Imported, _, Some(all)) => {
                let of = |share: &[u8]| share[..size.key_bytes()].to_vec();
                Some(Shares { own: of(&all.own), next: of(&all.next) })
            }
            _ => None,
        };
        if let (true, Some(key), Some(id)) = (terms.key.stores(), &key, &terms.key_id) {
            self.store(desk, id, key)?;
        }
        let wrong = |e: hushwire_rep3::ShareError| Fault::internal("expanding the key", e);
        let keys = |shares: &Shares| ExpandedKeys::from_shares(self.role, size, shares, 1);
        let keys = match (expanded, key) {
            (Some(expanded), _) => keys(&expanded).map_err(wrong)?,
            // Nothing is encrypted, so the key need not be expanded.
            _ if terms.chunks() == 0 => {
                keys(&Shares::public(self.role, &vec![0; size.expanded_bytes()])).map_err(wrong)?
            }
            (None, None) => return Err(Fault::internal(KEY, "there is no key")),
            (None, Some(key)) => {
                let (cx, ws) = (desk.batch.context(), Workspace::default());
                let expansion = KeyExpansion::new(size, terms.cut.sbox, cx, &key, ws).map_err(wrong)?;
                let Some(channel) = desk.backward.take() else {
                    return Err(Fault::internal(KEY, "the ring is in use"));
                };
                let mut lane = Lane::new(channel);
                let keys = lane.run(expansion).map_err(|e| desk.failed(e))?.into_keys().0;
                desk.backward = lane.into_channels().into_iter().next();
                keys
            }
        };
        self.learnt.terms = Some(terms.clone());
        Ok(keys)
    }

    /// Keeps this party's share of a new key. The three share files get their names only after all
    /// of them are on disk.
    fn store(&mut self, desk: &mut Desk<'_>, id: &str, key: &Shares) -> Result<(), Fault> {
        let mut bytes = KeyId::default();
        let named = hex::decode_to_slice(id, &mut bytes).is_ok();
        let (true, Some(file)) = (named, self.new.take()) else {
            return Err(Fault::internal(STORE, "it has no place or no name"));
        };
        share_file::write(&file, self.role, &bytes, key)?;
        file.sync()?;
        // The first message tells that the left neighbour is ready, the second that the right one
        // is.
        for _ in 0..2 {
            desk.forward.exchange(KEPT_STEP, &[1], &mut [0]).map_err(|e| desk.failed(e))?;
        }
        file.commit()?;
        desk.owner.send(KEPT_STEP, &[1]).map_err(|e| desk.failed(e))
    }
}

/// Starts this party's device, which runs `instances` instances in a batch.
fn start_device(instances: usize) -> Result<Device, Fault> {
    let device = Device::start(&hushwire_hdl::find()?)?;
    device.expect_instances(instances)?;
    Ok(device)
}

/// Refuses inputs and outputs in a member's file that this kind of job does not have.
pub(super) fn nothing_else(
    me: &Member,
    config: &MemberConfig,
    inputs: &[&str],
    outputs: &[&str],
) -> Result<(), Fault> {
    let of = |known: &[&str], name: &&String| !known.contains(&name.as_str());
    let input = config.inputs.keys().find(|name| of(inputs, name));
    let output = config.outputs.keys().find(|name| of(outputs, name));
    let (step, name, known) = match (input, output) {
        (Some(name), _) => ("reading inputs", name, inputs),
        (_, Some(name)) => ("preparing outputs", name, outputs),
        _ => return Ok(()),
    };
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let cause = format!("{name:?} is not of this job, where {me} has: {known}");
    Err(Fault::new(code::ENCRYPTION, step, cause, "name those, or leave them out"))
}

/// The work of a hardware party's device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceUse {
    /// The number of clock cycles.
    pub cycles: u64,
    /// The number of AND instructions, each for one bit of a whole batch.
    pub ands: u64,
}
