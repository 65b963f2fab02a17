//! The programmable oblivious PRF: the receiver gets F(x, j), the sender gets F; and the store of
//! masked values.

use core::marker::PhantomData;

use hushwire_aes::Aes128;
use hushwire_block::{Block, Gf64};
use hushwire_machine::Channel;
use hushwire_ot::vole::{Base, Pair64, Receiver, ReceiverEntries, Sender, SenderEntries};
use hushwire_ot::{Context, Driver, SemiHonest};
use hushwire_prg::{Prg, Seed};
use hushwire_simd::clmul::Clmul;

use crate::PsiError;
use crate::okvs::{Binned, Decode, Digest, Encoder, Layout, Shift, no_addition, tail};

/// Computes H on one bin's inputs, under the bin's public key.
pub(super) fn hash(context: &Context, bin: usize, x: &[Block], out: &mut Vec<Block>) {
    let name = context.sid.child("opprf bin", bin as u64);
    let key = Aes128::on(context.backend, name.0.first_chunk().expect("32 bytes hold 16"));
    out.resize(x.len(), Block::ZERO);
    context.backend.ccr(&key, x, out);
}

/// The receiver's endpoint up to F: the values of `digests`, which are all different.
pub(super) fn ask(
    channel: &mut Channel,
    context: &Context,
    layout: &Layout,
    digests: &[Digest],
    seed: &Seed,
) -> Result<Vec<Block>, PsiError> {
    let mut vole = Receiver::<SemiHonest, Pair64>::new(context, layout.entries(), seed)?;
    Driver::new().run(channel, &mut vole)?;
    let ReceiverEntries { u, t } = vole.finish();
    let (binned, len) = (Binned::new(layout, digests), layout.bin_entries());
    let mut encoder = Encoder::<Gf64, Gf64>::new(context.backend, layout);
    let (mut store, mut message) = (vec![Gf64::ZERO; len], vec![0; 8 * len]);
    for (bin, u) in u.chunks_exact(len).enumerate() {
        encoder.clear();
        for item in binned.bin(bin) {
            let digest = &digests[*item as usize];
            encoder.push(digest, Gf64(tail(digest)));
        }
        encoder.solve(&mut store, None).map_err(|_| PsiError::NoStore)?;
        for ((p, u), out) in store.iter().zip(u).zip(message.chunks_exact_mut(8)) {
            (*p + *u).to_bytes(out);
        }
        channel.send("store of items", &message)?;
    }
    let mut values = vec![Block::ZERO; digests.len()];
    let (mut inputs, mut outputs) = (vec![], vec![]);
    for (bin, t) in t.chunks_exact(len).enumerate() {
        let items = binned.bin(bin);
        inputs.resize(items.len(), Block::ZERO);
        let (delta, add, out) = (Block::ZERO, no_addition, &mut inputs[..]);
        let field = PhantomData::<Pair64>;
        let digests = items.iter().map(|item| &digests[*item as usize]);
        Decode { layout, bin: t, digests, delta, add, out, field }.run_on(context.backend);
        hash(context, bin, &inputs, &mut outputs);
        for (item, value) in items.iter().zip(&outputs) {
            values[*item as usize] = *value;
        }
    }
    Ok(values)
}

/// The sender's endpoint up to F.
pub(super) fn answer(
    channel: &mut Channel,
    context: &Context,
    layout: &Layout,
    digests: &[Digest],
    seed: &Seed,
) -> Result<Vec<Block>, PsiError> {
    let mut vole = Sender::<SemiHonest, Pair64>::new(context, layout.entries(), seed)?;
    Driver::new().run(channel, &mut vole)?;
    let SenderEntries { delta, mut q } = vole.finish();
    let (binned, len) = (Binned::new(layout, digests), layout.bin_entries());
    let mut values = vec![Block::ZERO; digests.len()];
    let (mut inputs, mut outputs, mut message) = (vec![], vec![], vec![0; 8 * len]);
    for (bin, q) in q.chunks_exact_mut(len).enumerate() {
        channel.recv("store of items", &mut message)?;
        Clmul::best().run(Shift::<Pair64> {
            q: &mut *q,
            message: &message,
            delta: *delta,
            field: PhantomData,
        });
        let items = binned.bin(bin);
        inputs.resize(items.len(), Block::ZERO);
        let (bin_entries, out) = (&*q, &mut inputs[..]);
        let add = |_, digest: &Digest| Gf64(tail(digest));
        let digests = items.iter().map(|item| &digests[*item as usize]);
        let field = PhantomData::<Pair64>;
        Decode { layout, bin: bin_entries, digests, delta: *delta, add, out, field }.run_on(context.backend);
        hash(context, bin, &inputs, &mut outputs);
        for (item, value) in items.iter().zip(&outputs) {
            values[*item as usize] = *value;
        }
    }
    Ok(values)
}

/// Sends the store that gives `values` for `digests`, which are all different; its free entries are
/// random.
pub(super) fn tell(
    channel: &mut Channel,
    context: &Context,
    layout: &Layout,
    digests: &[Digest],
    values: &[Gf64],
    fill: &mut Prg,
) -> Result<(), PsiError> {
    let (binned, len) = (Binned::new(layout, digests), layout.bin_entries());
    let mut encoder = Encoder::<Gf64, Gf64>::new(context.backend, layout);
    let (mut store, mut message) = (vec![Gf64::ZERO; len], vec![0; 8 * len]);
    for bin in 0..layout.bins() {
        encoder.clear();
        for item in binned.bin(bin) {
            encoder.push(&digests[*item as usize], values[*item as usize]);
        }
        encoder.solve(&mut store, Some(&mut *fill)).map_err(|_| PsiError::NoStore)?;
        for (value, out) in store.iter().zip(message.chunks_exact_mut(8)) {
            value.to_bytes(out);
        }
        channel.send("store of masked values", &message)?;
    }
    Ok(())
}

/// Receives that store and returns its values for `digests`.
pub(super) fn hear(
    channel: &mut Channel,
    context: &Context,
    layout: &Layout,
    digests: &[Digest],
) -> Result<Vec<u64>, PsiError> {
    let (binned, len) = (Binned::new(layout, digests), layout.bin_entries());
    let mut values = vec![0; digests.len()];
    let (mut store, mut message) = (vec![Block::ZERO; len], vec![0; 8 * len]);
    let mut out = vec![];
    for bin in 0..layout.bins() {
        channel.recv("store of masked values", &mut message)?;
        for (entry, bytes) in store.iter_mut().zip(message.chunks_exact(8)) {
            entry.0[..8].copy_from_slice(bytes);
        }
        let items = binned.bin(bin);
        out.resize(items.len(), Block::ZERO);
        let (delta, add, field) = (Block::ZERO, no_addition, PhantomData::<Pair64>);
        let digests = items.iter().map(|item| &digests[*item as usize]);
        Decode { layout, bin: &store, digests, delta, add, out: &mut out, field }.run_on(context.backend);
        for (item, value) in items.iter().zip(&out) {
            values[*item as usize] = low(*value);
        }
    }
    Ok(values)
}

/// The low word of a block.
pub(super) fn low(block: Block) -> u64 {
    block.to_u128() as u64
}
