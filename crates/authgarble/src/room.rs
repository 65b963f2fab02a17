//! The operations of all parties in one phase: consistent broadcasts, commitments, coins, and
//! openings of bits.
//!
//! A broadcast is a message to every peer. With more than two parties, each party also sends a hash
//! of all earlier broadcasts. Commitments are BLAKE3 hashes with a random nonce, bound to the
//! session, the party and a number. Opened bits are sent with one hash of all their MACs.

use crate::{
    AuthError, Check,
    script::Talk,
    shares::{Blocks, Shares, blocks, is_packed, same, unpack, worth},
};
use hushwire_aes::{Aes128, Backend};
use hushwire_block::{Block, abreast, as_bytes};
use hushwire_machine::{PartyId, drive::Exchanged};
use hushwire_ot::{Context, Machine, OtError, Round, Sid};
use hushwire_prg::{Prg, Seed};

/// SECURITY: 256 bits, so that collisions take 2^128 work.
pub(crate) const HASH: usize = 32;
/// The number of bytes of a commitment's nonce.
pub(crate) const NONCE: usize = 32;
/// LOCAL: the number of blocks that are hashed at a time: whole chunks of BLAKE3, in parallel.
const PIECE: usize = 1 << 13;

/// The number of bytes of `lists` lists of `bits` opened bits with the hash of their MACs.
pub(crate) fn opened_bytes(lists: usize, bits: usize) -> usize {
    if bits == 0 { 0 } else { lists * bits.div_ceil(8) + HASH }
}

/// One party's view of a phase among all parties.
pub(crate) struct Room {
    pub(crate) talk: Talk,
    pub(crate) context: Context,
    /// A hash of all broadcasts, in the order of rounds and parties.
    said: blake3::Hasher,
    /// This party's secret randomness.
    pub(crate) own: Prg,
    /// The number of hashes and commitments so far; each has a number of its own.
    count: u64,
}

impl Room {
    /// `context` is agreed and used in this phase alone; `seed` is this party's secret randomness
    /// for the phase.
    pub(crate) fn new(talk: Talk, context: Context, seed: &Seed) -> Room {
        let mut said = blake3::Hasher::new_derive_key("hushwire authgarble broadcasts v1");
        said.update(&context.sid.0);
        let own = Prg::new(context.backend, &seed.derive("authgarble room", &context.sid.0), "own");
        Room { talk, context, said, own, count: 0 }
    }

    pub(crate) fn backend(&self) -> Backend {
        self.context.backend
    }

    fn number(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Broadcasts a message of every party, and returns all of them in the order of parties. With
    /// more than two parties, each also sends the hash of all earlier broadcasts. A party that sent
    /// different messages to different parties is thus detected at the next broadcast.
    pub(crate) async fn broadcast(
        &mut self,
        name: &'static str,
        own: Vec<u8>,
    ) -> Result<Vec<Vec<u8>>, AuthError> {
        let echoes = self.talk.n() > 2;
        let echo = *self.said.finalize().as_bytes();
        let echo = if echoes { &echo[..] } else { &[] };
        let out = vec![[echo, &own].concat(); self.talk.slots()];
        let into = vec![echo.len() + own.len(); self.talk.slots()];
        let mut heard = self.talk.exchange(name, out, &into).await;
        for (slot, message) in heard.iter_mut().enumerate() {
            let rest = message.split_off(echo.len());
            if !same(message, echo) {
                return Err(AuthError::abort_of(Check::Echo, self.talk.peer(slot)));
            }
            *message = rest;
        }
        heard.insert(self.talk.me(), own);
        for message in &heard {
            self.said.update(&(message.len() as u64).to_le_bytes());
            self.said.update(message);
        }
        Ok(heard)
    }

    /// Checks that all parties received the same broadcasts so far, and aborts otherwise. Two
    /// parties have nothing to compare.
    pub(crate) async fn confirm(&mut self) -> Result<(), AuthError> {
        if self.talk.n() > 2 {
            self.broadcast("comparing broadcasts", Vec::new()).await?;
        }
        Ok(())
    }

    /// The commitment of `party` to a value with its nonce.
    pub(crate) fn commitment(&self, number: u64, party: usize, opening: &[u8]) -> [u8; HASH] {
        let mut hash = blake3::Hasher::new_derive_key("hushwire authgarble commitment v1");
        hash.update(&self.context.sid.0);
        hash.update(&number.to_le_bytes());
        hash.update(&[party as u8]);
        hash.update(opening);
        *hash.finalize().as_bytes()
    }

    /// Prepends a fresh nonce to a value.
    pub(crate) fn sealed(&mut self, value: &[u8]) -> Vec<u8> {
        let mut opening = vec![0; NONCE];
        self.own.fill(&mut opening);
        opening.extend_from_slice(value);
        opening
    }

    /// The value in an opening.
    pub(crate) fn unsealed(opening: &[u8]) -> &[u8] {
        &opening[NONCE..]
    }

    /// Every party commits to a value of the same length, then all open; returns the values in the
    /// order of parties.
    pub(crate) async fn together(
        &mut self,
        names: [&'static str; 2],
        value: &[u8],
    ) -> Result<Vec<Vec<u8>>, AuthError> {
        let number = self.number();
        let opening = self.sealed(value);
        let own = self.commitment(number, self.talk.me(), &opening);
        let commitments = self.broadcast(names[0], own.to_vec()).await?;
        let openings = self.broadcast(names[1], opening).await?;
        for (party, (opening, commitment)) in openings.iter().zip(&commitments).enumerate() {
            if !same(&self.commitment(number, party, opening), commitment) {
                return Err(AuthError::abort_of(Check::Commitment, party));
            }
        }
        Ok(openings.iter().map(|opening| Self::unsealed(opening).to_vec()).collect())
    }

    /// Tosses a coin that no party can foresee: a public seed from contributions of every party,
    /// tossed after all earlier messages.
    pub(crate) async fn coin(&mut self) -> Result<Seed, AuthError> {
        let mut own = [0; 32];
        self.own.fill(&mut own);
        let all = self.together(["committing to a coin", "opening a coin"], &own).await?;
        let mut hash = blake3::Hasher::new_derive_key("hushwire authgarble coin v1");
        hash.update(&self.context.sid.0);
        for own in &all {
            hash.update(own);
        }
        Ok(Seed::from_bytes(*hash.finalize().as_bytes().first_chunk().expect("32 bytes hold 16")))
    }

    /// The hash of the MACs that one party sends to another; its caller feeds it pieces.
    fn macs(&self, number: u64, [from, to]: [usize; 2]) -> blake3::Hasher {
        let mut hash = blake3::Hasher::new_derive_key("hushwire authgarble macs v1");
        hash.update(&self.context.sid.0);
        hash.update(&number.to_le_bytes());
        hash.update(&[from as u8, to as u8]);
        hash
    }

    /// Opens lists of shares of the same length to all parties; returns the public bits, one a
    /// byte, list after list.
    pub(crate) async fn open(
        &mut self,
        name: &'static str,
        check: Check,
        delta: Block,
        lists: &[&Shares],
    ) -> Result<Vec<u8>, AuthError> {
        let (number, slots) = (self.number(), self.talk.slots());
        let len = lists.first().map_or(0, |shares| shares.len());
        let (threads, here) = (worth(self.talk.threads(), len), &*self);
        let out = abreast(threads, (0..slots).collect(), |slot| {
            let macs: Vec<&[Block]> = lists.iter().map(|shares| &shares.macs[slot][..]).collect();
            here.opening(number, slot, &macs)
        });
        let length = opened_bytes(lists.len(), len);
        let heard = self.talk.exchange(name, out, &vec![length; slots]).await;
        let own = lists.iter().flat_map(|shares| shares.macs[0].iter());
        let mut sum: Vec<u8> = own.map(|mac| mac.0[0] & 1).collect();
        let said = abreast(threads, heard.iter().enumerate().collect(), |(slot, message)| {
            let keys: Vec<&[Block]> = lists.iter().map(|shares| &shares.keys[slot][..]).collect();
            here.opened(name, check, [number, slot as u64], delta, message, &keys)
        });
        for bits in said {
            sum.iter_mut().zip(bits?).for_each(|(sum, bit)| *sum ^= bit);
        }
        Ok(sum)
    }

    /// Opens shares to their recipients: `due[p]` are the places of the bits that party p learns.
    /// Returns the bits that this party learns, one a byte, after the hash of each peer's MACs was
    /// checked.
    pub(crate) async fn reveal(
        &mut self,
        name: &'static str,
        check: Check,
        delta: Block,
        shares: &Shares,
        due: &[&[u32]],
    ) -> Result<Vec<u8>, AuthError> {
        let (me, number, slots) = (self.talk.me(), self.number(), self.talk.slots());
        let picked = |list: &[Block], places: &[u32]| Blocks::of(places.iter().map(|k| list[*k as usize]));
        let said = |slot: usize| {
            self.opening(number, slot, &[&picked(&shares.macs[slot], due[self.talk.peer(slot)])])
        };
        let (out, mine) = ((0..slots).map(said).collect(), due[me]);
        let heard = self.talk.exchange(name, out, &vec![opened_bytes(1, mine.len()); slots]).await;
        let mut sum: Vec<u8> = mine.iter().map(|k| u8::from(shares.bit(*k as usize))).collect();
        for (slot, message) in heard.iter().enumerate() {
            let keys = picked(&shares.keys[slot], mine);
            let bits = self.opened(name, check, [number, slot as u64], delta, message, &[&keys])?;
            sum.iter_mut().zip(bits).for_each(|(sum, bit)| *sum ^= bit);
        }
        Ok(sum)
    }

    /// The message to the peer of `slot` for bits with these MACs: the bits of each list, then a
    /// hash of all MACs.
    fn opening(&self, number: u64, slot: usize, lists: &[&[Block]]) -> Vec<u8> {
        let len = lists.first().map_or(0, |macs| macs.len());
        let mut message = Vec::with_capacity(opened_bytes(lists.len(), len));
        let mut hash = self.macs(number, [self.talk.me(), self.talk.peer(slot)]);
        for macs in lists {
            let byte = |macs: &[Block]| macs.iter().rev().fold(0, |byte, mac| byte << 1 | mac.0[0] & 1);
            message.extend(macs.chunks(8).map(byte));
            hash.update(as_bytes(macs));
        }
        if len > 0 {
            message.extend(hash.finalize().as_bytes());
        }
        message
    }

    /// A peer's bits, one a byte, in the opening of this number from this slot. Their hash of MACs
    /// must be right.
    fn opened(
        &self,
        name: &'static str,
        check: Check,
        [number, slot]: [u64; 2],
        delta: Block,
        message: &[u8],
        lists: &[&[Block]],
    ) -> Result<Vec<u8>, AuthError> {
        let (slot, len) = (slot as usize, lists.first().map_or(0, |keys| keys.len()));
        if len == 0 {
            return Ok(vec![]);
        }
        let (packed, theirs) = message.split_at(message.len() - HASH);
        let peer = self.talk.peer(slot);
        let mut hash = self.macs(number, [peer, self.talk.me()]);
        let mut piece = blocks(PIECE.min(len));
        let mut all = Vec::with_capacity(lists.len() * len);
        for (keys, packed) in lists.iter().zip(packed.chunks_exact(len.div_ceil(8))) {
            let bits = self.bits(name, slot, packed, len)?;
            for (keys, bits) in keys.chunks(PIECE).zip(bits.chunks(PIECE)) {
                for (mac, (key, bit)) in piece.iter_mut().zip(keys.iter().zip(bits)) {
                    *mac = *key ^ delta.and_bit(*bit == 1);
                }
                hash.update(as_bytes(&piece[..keys.len()]));
            }
            all.extend(bits);
        }
        if !same(hash.finalize().as_bytes(), theirs) {
            return Err(AuthError::abort_of(check, peer));
        }
        Ok(all)
    }

    /// Unpacks the bits that a peer sent, one a byte.
    pub(crate) fn bits(
        &self,
        message: &'static str,
        slot: usize,
        packed: &[u8],
        len: usize,
    ) -> Result<Vec<u8>, AuthError> {
        if is_packed(packed, len) {
            return Ok(unpack(packed, len));
        }
        Err(AuthError::Malformed { peer: PartyId(self.talk.peer(slot) as u8), message })
    }

    /// Runs two machines with each peer, all of them at the same time. The two machines of a peer
    /// share one message, in which the first machine's part comes first.
    pub(crate) async fn pairs(&self, pairs: Vec<[PeerMachine<'_>; 2]>) -> Result<(), AuthError> {
        let mut sides: Vec<_> = pairs.into_iter().flatten().collect();
        let (mut heard, mut into) = (Vec::new(), vec![0; sides.len()]);
        loop {
            let parts = heard.iter().zip(into.chunks_exact(2)).flat_map(|(message, into): (&Vec<u8>, _)| {
                let (first, second) = message.split_at(into[0]);
                [Some(first), Some(second)]
            });
            let steps = sides.iter_mut().zip(parts.chain(std::iter::repeat(None)));
            let made =
                abreast(self.talk.threads(), steps.collect(), |(side, heard)| next(&mut **side, heard));
            let (mut name, mut out) = (None, vec![Vec::new(); self.talk.slots()]);
            for (k, made) in made.into_iter().enumerate() {
                let (round, message) = made.map_err(|e| self.blame(k / 2, e))?;
                name = name.or(round.map(|round| round.name));
                into[k] = round.map_or(0, |round| round.into);
                if k % 2 == 0 {
                    out[k / 2] = message;
                } else {
                    out[k / 2].extend(message);
                }
            }
            let Some(name) = name else { return Ok(()) };
            let sums: Vec<usize> = into.chunks_exact(2).map(|into| into[0] + into[1]).collect();
            heard = self.talk.exchange(name, out, &sums).await;
        }
    }

    fn blame(&self, slot: usize, e: OtError) -> AuthError {
        e.of(Some(PartyId(self.talk.peer(slot) as u8))).into()
    }
}

/// A machine with a peer.
pub(crate) type PeerMachine<'a> = &'a mut (dyn Machine<Error = OtError> + Send);

/// Gives a running machine the message of its round, and returns the next round with its message.
fn next(machine: PeerMachine<'_>, heard: Option<&[u8]>) -> Result<(Option<Round>, Vec<u8>), OtError> {
    if let (Some(heard), Some(_)) = (heard, machine.round(0)) {
        machine.read(&[Exchanged::heard(heard)])?;
    }
    let round = machine.round(0);
    let mut message = vec![0; round.map_or(0, |round| round.out)];
    if round.is_some() {
        machine.write(0, &mut message)?;
    }
    Ok((round, message))
}

/// The public keys of a hash; every 2^20 numbers have another key. The last key is cached: a layer
/// of a circuit may have few gates, and deriving a key for each layer took longer than hashing the
/// gates.
pub(crate) struct HashKeys {
    backend: Backend,
    sid: Sid,
    label: &'static str,
    last: Option<(u64, Aes128)>,
}

impl HashKeys {
    pub(crate) fn new(backend: Backend, sid: Sid, label: &'static str) -> HashKeys {
        HashKeys { backend, sid, label, last: None }
    }

    /// The key for a number.
    pub(crate) fn at(&mut self, number: u64) -> &Aes128 {
        let span = number >> 20;
        let last = self.last.take().filter(|(old, _)| *old == span);
        let key = || {
            let name = self.sid.child(self.label, span);
            Aes128::on(self.backend, name.0.first_chunk().expect("32 bytes hold 16"))
        };
        &self.last.insert(last.unwrap_or_else(|| (span, key()))).1
    }
}
