//! The formulas of half gates, gate by gate: what tables are compared with.

use super::Evaluator;
use crate::rig::{oracle::aes, suite::Recorded};
use crate::{Correlated, Format, Garble, GateBackend, Role, Scheme, SessionNonce, gates::ZeroLabel};
use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_circuit::Slot;
use hushwire_prg::{Prg, Seed};

/// Half gates as the paper has them.
pub(crate) enum Formulas {}

impl crate::Family for Formulas {
    type Garbler = Plain;
    type Evaluator = Evaluator;
}

/// The garbler.
pub(crate) struct Plain {
    scheme: Scheme,
    public: SessionNonce,
    delta: Block,
    gate: u64,
    tweaks: Vec<u128>,
}

impl Plain {
    /// Goes on with another gate.
    pub(super) fn start_at(&mut self, gate: u64) {
        self.gate = gate;
    }
}

/// The key of the gates from `epoch` · 2^20 on.
fn fixed_key(public: SessionNonce, epoch: u64) -> Block {
    let material = [&public.0.0[..], &epoch.to_le_bytes()].concat();
    let key = blake3::derive_key("hushwire garble fixed key v1", &material);
    Block(*key.first_chunk().expect("32 bytes"))
}

/// σ(hi‖lo) = (hi ⊕ lo)‖hi, byte by byte.
fn sigma(x: Block) -> Block {
    Block(std::array::from_fn(|i| if i < 8 { x.0[8 + i] } else { x.0[i] ^ x.0[i - 8] }))
}

/// The blocks that tweak i of MI4 adds to the start point and to the input: a key for eight tweaks in a row.
pub(super) fn shared_key(i: u128) -> (Block, Block) {
    (Block((i - i % 8).to_le_bytes()), Block((i % 8).to_le_bytes()))
}

/// H_i(x) of gate i / 2.
pub(crate) fn hash(scheme: Scheme, public: SessionNonce, i: u128, x: Block) -> Block {
    let i_block = Block(i.to_le_bytes());
    match scheme {
        Scheme::Prp => {
            let y = sigma(x) ^ i_block;
            aes(fixed_key(public, (i / 2 / (1 << 20)) as u64), y) ^ y
        }
        Scheme::Circ => aes(x, i_block),
        Scheme::Mi4 => {
            let (key, tweak) = shared_key(i);
            let y = sigma(x) ^ tweak;
            aes(public.0 ^ key, y) ^ y
        }
        _ => aes(public.0 ^ i_block, sigma(x)) ^ sigma(x),
    }
}

impl GateBackend for Plain {
    type Wire = ZeroLabel;
    type Bytes<'t> = &'t mut [u8];
    const ROLE: Role = Role::Garbler;
    const FORMAT: Format = Format::HALF_GATES;

    fn constants(&self) -> [ZeroLabel; 2] {
        [ZeroLabel::new(Block::ZERO), ZeroLabel::new(self.delta)]
    }

    fn ands(
        &mut self,
        wires: &[ZeroLabel],
        pairs: &[[Slot; 2]],
        out: &mut [ZeroLabel],
        bytes: &mut [u8],
        _: &mut [u8],
    ) {
        for (([a, b], out), table) in pairs.iter().zip(out).zip(bytes.chunks_exact_mut(32)) {
            let [a0, b0] = [a, b].map(|s| wires[*s as usize].block());
            let (j, k) = (u128::from(self.gate) * 2, u128::from(self.gate) * 2 + 1);
            self.tweaks.extend([j, k]);
            self.gate += 1;
            let h = |i, x| hash(self.scheme, self.public, i, x);
            let (mut tg, te) = (h(j, a0) ^ h(j, a0 ^ self.delta), h(k, b0) ^ h(k, b0 ^ self.delta) ^ a0);
            let (mut wg, mut we) = (h(j, a0), h(k, b0));
            if b0.lsb() {
                tg ^= self.delta;
                we = we ^ te ^ a0;
            }
            if a0.lsb() {
                wg ^= tg;
            }
            *out = ZeroLabel::new(wg ^ we);
            table[..16].copy_from_slice(&tg.0);
            table[16..].copy_from_slice(&te.0);
        }
    }

    fn xors(&mut self, wires: &mut [ZeroLabel], strip: usize, gates: &[[Slot; 3]], _: &mut [u8]) {
        for [a, b, out] in gates {
            for i in 0..strip {
                let [a, b, out] = [a, b, out].map(|s| *s as usize * strip + i);
                wires[out] = wires[a] ^ wires[b];
            }
        }
    }

    fn gates(&self) -> u64 {
        self.gate
    }
}

impl Garble for Plain {
    type Transfer = Correlated;

    fn new(
        backend: Backend,
        scheme: Scheme,
        public: SessionNonce,
        seed: &Seed,
        delta: Option<Block>,
    ) -> Self {
        let mut delta = delta.unwrap_or_else(|| Prg::new(backend, seed, "garble delta").next_block());
        delta.0[0] |= 1;
        Plain { scheme, public, delta, gate: 0, tweaks: vec![] }
    }

    fn theirs(&mut self, q: Block) -> ZeroLabel {
        ZeroLabel::new(q)
    }

    fn own(&mut self, active: Block, bit: u8) -> ZeroLabel {
        ZeroLabel::new(if bit == 1 { active ^ self.delta } else { active })
    }

    fn permute_bit(&self, wire: ZeroLabel) -> u8 {
        u8::from(wire.block().lsb())
    }
}

impl Recorded for Plain {
    fn tweaks(&self) -> &[u128] {
        &self.tweaks
    }

    fn skip(&mut self, gates: u64) {
        self.gate += gates;
    }
}
