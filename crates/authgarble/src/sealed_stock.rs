//! The plaintext format of a file with a stock.
//!
//! ```text
//! sid 32 | me 1 | n 1 | Δ 16 | seed 16 | runs 8 | triples 8 | masks 8
//! blocks of a, b, c and masks: MACs by peer, then keys by peer
//! numbers little-endian; only what is not used
//! ```

use crate::{
    Stock,
    sealed::{self, Reader, SealedKind, Unsealed},
    shares::Shares,
    stock::Triples,
};
use hushwire_aes::Backend;
use hushwire_block::{Block, as_bytes};
use hushwire_ot::{Context, Sid};
use hushwire_prg::Seed;

const KIND: SealedKind = SealedKind {
    magic: b"hushwire authgarble v1\0\0",
    family: b"hushwire authgarble v",
    keys: ["authgarble stock mac", "authgarble stock cipher"],
};
/// The number of plaintext bytes before the blocks.
const HEAD: usize = 32 + 2 + 32 + 24;

impl Stock {
    /// Seals the stock under `key`, which is the party's alone, with a name that no other sealed
    /// stock has.
    pub(crate) fn seal(mut self, key: &Seed) -> ([u8; 32], Vec<u8>) {
        let left = self.left();
        let (triples, masks) = (left.triples as usize, left.masks as usize);
        let (t, m) = self.take(triples, masks).expect("what is left is there");
        let len = HEAD + 2 * (self.n - 1) * 16 * (3 * triples + masks);
        sealed::seal(self.context.backend, &KIND, key, len, |plain| {
            plain.extend_from_slice(&self.context.sid.0);
            plain.extend_from_slice(&[self.me as u8, self.n as u8]);
            plain.extend_from_slice(&self.delta.0);
            plain.extend_from_slice(self.seed.expose());
            for number in [self.runs, left.triples, left.masks] {
                plain.extend_from_slice(&number.to_le_bytes());
            }
            for shares in [&t.a, &t.b, &t.c, &m] {
                shares.lists().for_each(|list| plain.extend_from_slice(as_bytes(list)));
            }
        })
    }

    /// Returns the stock and its name.
    pub(crate) fn unseal(
        backend: Backend,
        key: &Seed,
        sealed: Vec<u8>,
    ) -> Result<([u8; 32], Stock), Unsealed> {
        let (name, plain) = sealed::unseal(backend, &KIND, key, sealed)?;
        let stock = read(backend, plain.reader()).ok_or(Unsealed::Foreign)?;
        Ok((name, stock))
    }
}

fn read(backend: Backend, mut plain: Reader<'_>) -> Option<Stock> {
    let sid = Sid(plain.array()?);
    let [me, n] = plain.array()?.map(usize::from);
    let delta = Block(plain.array()?);
    let seed = Seed::from_bytes(plain.array()?);
    let (runs, triples, masks) = (plain.number()?, plain.count(16)?, plain.count(16)?);
    let slots = n.checked_sub(1)?;
    let mut shares = |len: usize| Shares::read(&mut plain, slots, len);
    let all = Triples { a: shares(triples)?, b: shares(triples)?, c: shares(triples)? };
    let masks = shares(masks)?;
    plain.is_done().then(|| Stock::with(Context { sid, backend }, [me, n], delta, seed, runs, all, masks))
}
