//! The test rig: COTs from a dealer, and runs whose messages may be changed.

use core::marker::PhantomData;

use hushwire_aes::Backend;
use hushwire_block::{Block, registry};
use hushwire_machine::Process;
use hushwire_prg::{Prg, Seed};

use super::end::buffer;
use super::tree::{SpcotReceiver, SpcotSender};
use super::{Receiver, ReceiverBoot, Sender, SenderBoot, Set};
use crate::{CheckStep, Context, Exchanged, Extension, Level, Machine, OtError, Role, Security, Sid};

pub(crate) const DELTA: Block = Block::from_u128(0xfedc_ba98_7654_3210_0f1e_2d3c_4b5a_6979);
/// A set that crosses rounds quickly; it has no security at all.
pub(crate) const TINY: Set = Set::new("tiny", 8, 10, 8).in_chunks_of(1 << 8);
/// A set of this size with chunks of four trees; a round is not a multiple of a chunk.
pub(crate) const FOURS: Set = Set::new("fours", 8, 21, 8).in_chunks_of(4 << 8);
/// A smaller set that makes its base.
pub(crate) const SHORT: Set = Set::new("short", 5, 17, 4);
/// A set of this size, with trees of four pieces of the check.
pub(crate) const WIDE: Set = Set::new("wide", 8, 10, 10).in_chunks_of(1 << 10);

pub(crate) fn context(backend: Backend) -> Context {
    Context { sid: Sid([7; 32]), backend }
}

/// One endpoint of COTs; both endpoints draw them from the same stream.
pub(crate) fn deal(stream: &mut Prg, role: Role, blocks: &mut [Block]) {
    stream.fill_blocks(blocks);
    let mut choices = vec![0; blocks.len()];
    stream.fill(&mut choices);
    for (block, choice) in blocks.iter_mut().zip(choices) {
        block.0[0] &= 0xfe;
        *block ^= DELTA.and_bit(role == Role::Receiver && choice & 1 == 1);
    }
}

pub(crate) fn stream(seed: u8) -> Prg {
    Prg::new(Backend::best(), &Seed::from_bytes([seed; 16]), "dealer")
}

/// A dealer's rows: 5000 OTs for each chunk message of 3 bytes, of which at most 3000 are taken at
/// a time.
struct Dealer<S> {
    role: Role,
    stream: Prg,
    stock: usize,
    open: bool,
    closed: usize,
    level: PhantomData<S>,
}

const STEPS: [CheckStep; 1] = [CheckStep { name: "dealer", from: Role::Receiver, bytes: 2 }];

impl<S: Security> Extension<S> for Dealer<S> {
    fn role(&self) -> Role {
        self.role
    }
    fn speaker(&self) -> Role {
        Role::Receiver
    }
    fn process(&self) -> Process {
        Process::here()
    }
    fn delta(&self) -> Option<Block> {
        (self.role == Role::Sender).then_some(DELTA)
    }
    fn chunk_len(&self, wanted: usize) -> usize {
        wanted.min(3000).min(if self.stock > 0 { self.stock } else { 5000 })
    }
    fn chunk_bytes(&self, _: usize) -> usize {
        if self.stock > 0 { 0 } else { 3 }
    }
    fn chunk(&mut self, heard: &[u8], said: &mut [u8], blocks: &mut [Block]) -> Result<(), OtError> {
        if self.stock == 0 {
            assert_eq!(heard.len() + said.len(), 3);
            self.stock = 5000;
        }
        self.stock -= blocks.len();
        self.open = true;
        deal(&mut self.stream, self.role, blocks);
        Ok(())
    }
    fn check_steps(&self) -> &[CheckStep] {
        if S::LEVEL == Level::Malicious { &STEPS } else { &[] }
    }
    fn is_open(&self) -> bool {
        self.open
    }
    fn close_segment(&mut self) {
        (self.open, self.closed) = (false, self.closed + 1);
    }
    fn check(&mut self, step: usize, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        assert_eq!((step, heard.len() + said.len()), (0, 2));
        Ok(())
    }
}

pub(crate) fn dealer<S: Security>(role: Role) -> Box<dyn Extension<S>> {
    let (stream, level) = (stream(1), PhantomData);
    Box::new(Dealer { role, stream, stock: 0, open: false, closed: 0, level })
}

/// Both endpoints of `set` from dealt COTs, without a set-up.
pub(crate) fn ends<S: Security>(backend: Backend, set: Set) -> (Sender<S>, Receiver<S>) {
    let context = context(backend);
    let base = |role| {
        let mut base = buffer(set.base());
        deal(&mut stream(2), role, base.blocks_mut());
        base
    };
    let trees = SpcotSender::new(&context, DELTA, &Seed::from_bytes([5; 16]));
    let process = Process::here();
    let sender = Sender::new(&context, set, process, trees, base(Role::Sender));
    (sender, Receiver::new(&context, set, process, SpcotReceiver, base(Role::Receiver)))
}

/// Both endpoints, and the bytes that each sent.
pub(super) type SetUp<S> = (Sender<S>, Receiver<S>, [Vec<u8>; 2]);

/// Both endpoints after the set-up.
pub(super) fn set_up<S: Security>(backend: Backend, set: Set) -> SetUp<S> {
    set_up_edited(backend, set, |_, _| {}).expect("an honest run")
}

/// Both endpoints after a set-up in which `edit` may change messages; it gets the step's name and
/// the bytes.
pub(super) fn set_up_edited<S: Security>(
    backend: Backend,
    set: Set,
    mut edit: impl FnMut(&str, &mut Vec<u8>),
) -> Result<SetUp<S>, OtError> {
    let context = context(backend);
    let mut s = SenderBoot::new(&context, set, dealer::<S>(Role::Sender), &Seed::from_bytes([6; 16]));
    let mut r = ReceiverBoot::new(&context, set, dealer::<S>(Role::Receiver));
    let mut sent = [vec![], vec![]];
    while let (Some(ts), Some(tr)) = (s.round(0), r.round(0)) {
        assert_eq!((ts.out, ts.into, ts.name), (tr.into, tr.out, tr.name));
        let (mut from_s, mut from_r) = (vec![0; ts.out], vec![0; tr.out]);
        s.write(0, &mut from_s)?;
        r.write(0, &mut from_r)?;
        for said in [&mut from_s, &mut from_r] {
            if !said.is_empty() {
                edit(ts.name, said);
            }
        }
        s.read(&[Exchanged::heard(&from_r)])?;
        r.read(&[Exchanged::heard(&from_s)])?;
        sent[0].extend(from_s);
        sent[1].extend(from_r);
    }
    Ok((s.finish(), r.finish(), sent))
}

/// The outputs of a run, and its messages.
#[derive(Default, PartialEq)]
pub(super) struct FerretRun {
    q: Vec<Block>,
    t: Vec<Block>,
    pub(super) sent: [Vec<u8>; 2],
}

/// Extends `count` OTs. It closes a segment every `segment` chunks, and checks it a chunk later.
/// `edit` may change messages: it gets the number of the chunk or check, the step (0 for a chunk,
/// from 1 for checks) and the bytes.
pub(super) fn extend<S: Security>(
    (s, r): &mut (Sender<S>, Receiver<S>),
    count: usize,
    segment: usize,
    mut edit: impl FnMut(usize, usize, &mut Vec<u8>),
) -> Result<FerretRun, OtError> {
    let mut run =
        FerretRun { q: vec![Block::ZERO; count], t: vec![Block::ZERO; count], ..FerretRun::default() };
    let (mut at, mut chunks, mut checks, mut closed) = (0, 0, 0, false);
    while at < count || closed || s.is_open() {
        let before = closed;
        if at < count {
            let len = s.chunk_len(count - at);
            let mut said = vec![0; s.chunk_bytes(len)];
            assert_eq!((len, said.len()), (r.chunk_len(count - at), r.chunk_bytes(len)));
            registry::as_end(0, || s.chunk(&[], &mut said, &mut run.q[at..at + len]))?;
            edit(chunks, 0, &mut said);
            registry::as_end(1, || r.chunk(&said, &mut [], &mut run.t[at..at + len]))?;
            run.sent[0].extend(said);
            (at, chunks) = (at + len, chunks + 1);
        }
        if before {
            for (i, step) in s.check_steps().to_vec().into_iter().enumerate() {
                let mut said = vec![0; step.bytes];
                match step.from {
                    Role::Sender => registry::as_end(0, || s.check(i, &[], &mut said))?,
                    Role::Receiver => registry::as_end(1, || r.check(i, &[], &mut said))?,
                }
                edit(checks, i + 1, &mut said);
                match step.from {
                    Role::Sender => registry::as_end(1, || r.check(i, &said, &mut []))?,
                    Role::Receiver => registry::as_end(0, || s.check(i, &said, &mut []))?,
                }
                run.sent[step.from as usize].extend(said);
            }
            (closed, checks) = (false, checks + 1);
        }
        if s.is_open() && !closed && (chunks % segment == 0 || at == count) {
            registry::as_end(0, || s.close_segment());
            registry::as_end(1, || r.close_segment());
            closed = true;
        }
    }
    assert!(!r.is_open());
    Ok(run)
}

impl FerretRun {
    pub(super) fn holds(&self) {
        let mut ones = 0;
        for (i, (q, t)) in self.q.iter().zip(&self.t).enumerate() {
            assert!(!q.lsb() && *t == *q ^ DELTA.and_bit(t.lsb()), "OT {i}");
            ones += usize::from(t.lsb());
        }
        let (n, ones) = (self.q.len() as f64, ones as f64);
        assert!((ones - n / 2.0).abs() < 4.0 * n.sqrt(), "{ones} ones of {n}");
    }

    pub(super) fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for sent in &self.sent {
            hasher.update(sent);
        }
        for blocks in [&self.q, &self.t] {
            hasher.update(hushwire_block::as_bytes(blocks));
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }
}

pub(super) fn no_edit(_: usize, _: usize, _: &mut Vec<u8>) {}
