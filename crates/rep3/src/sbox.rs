//! The S-boxes: names, layers, message lengths, and the state of one batch between two exchanges.

use crate::boolean::{self, CIRCUIT};
use crate::kernels::{
    Apply, Cube, Fifteen, Inverse, LONGEST, Layer, Linear, Pair, RoundKey, Run, Source, TowerFourteen,
    TowerInverse, TowerNorm, TowerSix,
};
use hushwire_aes::Backend;
use hushwire_block::Buffer;
use hushwire_prg::{Address, Prss};
use hushwire_wire::drive::Exchanged;

/// Which protocol computes the S-box. Bits are those that each party sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sbox {
    /// GF(2^4) tower: 20 bits, 4 rounds. With GFNI on natural bytes, bit-sliced elsewhere.
    Tower,
    /// x^254 in GF(2^8): 32 bits, 3 rounds.
    Gf256,
    /// Boyar–Peralta's 32 ANDs: 32 bits, 6 rounds.
    Bp32,
}

impl Sbox {
    /// Every S-box.
    pub const ALL: [Sbox; 3] = [Sbox::Tower, Sbox::Gf256, Sbox::Bp32];

    /// The name on the command line, in reports and in session parameters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Sbox::Tower => "tower",
            Sbox::Gf256 => "gf256",
            Sbox::Bp32 => "bp32",
        }
    }

    /// Rounds of one S-box layer.
    #[must_use]
    pub const fn rounds(self) -> usize {
        match self {
            Sbox::Tower => 4,
            Sbox::Gf256 => 3,
            Sbox::Bp32 => 6,
        }
    }

    /// Bits that each party sends for one S-box.
    #[must_use]
    pub const fn bits(self) -> u64 {
        match self {
            Sbox::Tower => 20,
            Sbox::Gf256 | Sbox::Bp32 => 32,
        }
    }

    /// Bytes of the message of round `k` for `n` S-boxes, `n` a multiple of 8.
    pub(crate) fn message_bytes(self, k: usize, n: usize) -> usize {
        match (self, k) {
            (Sbox::Tower, 0..=2) => n / 2,
            (Sbox::Gf256, 1) => 2 * n,
            (Sbox::Tower | Sbox::Gf256, _) => n,
            (Sbox::Bp32, _) => CIRCUIT.phases[k].ands.len() * (n / 8),
        }
    }

    pub(crate) fn step_name(self, k: usize) -> &'static str {
        match self {
            Sbox::Tower => ["tower norm", "tower v^6", "tower v^14", "tower inverse"][k],
            Sbox::Gf256 => ["gf256 x^3", "gf256 x^15", "gf256 x^254"][k],
            Sbox::Bp32 => [
                "bp32 layer 1",
                "bp32 layer 2",
                "bp32 layer 3",
                "bp32 layer 4",
                "bp32 layer 5",
                "bp32 layer 6",
            ][k],
        }
    }
}

impl std::fmt::Display for Sbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Sbox {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let names: Vec<&str> = Sbox::ALL.iter().map(|b| b.name()).collect();
        Sbox::ALL
            .into_iter()
            .find(|b| b.name() == s)
            .ok_or_else(|| format!("no S-box is called '{s}'; choose one of {}", names.join(", ")))
    }
}

/// What a batch's local steps draw on: kernels, zero-shares, and where in them the batch is.
#[derive(Clone)]
pub struct Context {
    /// The tier that kernels run with (LOCAL).
    pub backend: Backend,
    /// Zero-shares of this session.
    pub prss: std::sync::Arc<Prss>,
    /// The batch's place in them (AGREEMENT): no two batches of a session share one.
    pub address: Address,
}

/// Buffers of one batch, kept from batch to batch: fresh pages cost more than the socket.
#[derive(Default)]
pub struct Workspace {
    kept: [Buffer; 2],
    norm: [Buffer; 2],
    wires: Buffer,
    pub(crate) bytes: [Buffer; 2],
    pub(crate) state: [Buffer; 2],
}

fn resize(pair: &mut [Buffer; 2], len: usize) {
    for buffer in pair {
        buffer.set_len(len);
    }
}

fn refs(pair: &[Buffer; 2]) -> Pair<'_> {
    [&pair[0], &pair[1]]
}

fn muts(pair: &mut [Buffer; 2]) -> [&mut [u8]; 2] {
    let [a, b] = pair;
    [a, b]
}

/// The S-box of `n` shared bytes, layer by layer, any number of times over.
pub(crate) struct Machine {
    sbox: Sbox,
    n: usize,
    cx: Context,
    /// The next unused 128-bit word of the batch's zero-shares.
    word: u64,
    /// Layers so far, for the verifier.
    layer: usize,
    pub(crate) ws: Workspace,
    pub(crate) rec: Option<Box<dyn crate::record::Record>>,
}

/// Message bytes that are masked and computed in one go: masks stay in the first-level cache.
/// LOCAL: changes no byte on the wire. A multiple of [`LONGEST`].
const CHUNK: usize = 2048;
const _: () = assert!(CHUNK.is_multiple_of(LONGEST));

impl Machine {
    pub(crate) fn new(sbox: Sbox, n: usize, cx: Context, mut ws: Workspace) -> Self {
        assert!(n.is_multiple_of(8), "S-boxes come in eights");
        match sbox {
            Sbox::Tower => {
                resize(&mut ws.kept, n);
                resize(&mut ws.norm, n / 2);
            }
            Sbox::Gf256 => resize(&mut ws.kept, n),
            Sbox::Bp32 => {
                resize(&mut ws.kept, n);
                ws.wires.set_len(2 * CIRCUIT.slots * (n / 8));
            }
        }
        Machine { sbox, n, cx, word: 0, layer: 0, ws, rec: None }
    }

    /// Whether what [`Machine::output`] gives still lacks the S-box's linear part.
    pub(crate) fn affine(&self) -> bool {
        self.sbox != Sbox::Bp32
    }

    /// What the last round brought, as S-box output (without 0x63, and without the linear part if [`Machine::affine`]).
    /// Byte S-boxes have it in their messages; a Boolean one writes it to `into`.
    pub(crate) fn output<'a>(&mut self, arrived: Exchanged<'a>, into: &'a mut [Buffer; 2]) -> Pair<'a> {
        if self.affine() {
            return [arrived.own, arrived.next];
        }
        resize(into, self.n);
        self.cx.backend.run(boolean::Run {
            layer: self.layer,
            phase: self.sbox.rounds(),
            input: [arrived.own, arrived.next],
            wires: &mut self.ws.wires,
            message: &mut [],
            output: muts(into),
            plane: self.n / 8,
            rec: None,
        });
        refs(into)
    }

    /// Round 0: S-box inputs from `source`.
    pub(crate) fn first(&mut self, source: Source<'_>, message: &mut [u8]) {
        let backend = self.cx.backend;
        if self.sbox == Sbox::Bp32 {
            backend.run_bytes(Apply { source, out: muts(&mut self.ws.kept) });
            self.boolean(0, None, message);
            return;
        }
        let sbox = self.sbox;
        self.masked(message, |ws, layer| match sbox {
            Sbox::Tower => backend.run_bytes(TowerNorm { layer, source, x16: muts(&mut ws.kept) }),
            _ => backend.run_bytes(Run(layer, Cube { source, x: muts(&mut ws.kept) })),
        });
    }

    /// Rounds 1 and later.
    pub(crate) fn next(&mut self, k: usize, arrived: Exchanged<'_>, message: &mut [u8]) {
        let (sbox, backend) = (self.sbox, self.cx.backend);
        let arrived = [arrived.own, arrived.next];
        if sbox == Sbox::Bp32 {
            return self.boolean(k, Some(arrived), message);
        }
        self.masked(message, |ws, layer| match (sbox, k) {
            (Sbox::Tower, 1) => backend.run_bytes(Run(layer, TowerSix { arrived, norm: muts(&mut ws.norm) })),
            (Sbox::Tower, 2) => {
                backend.run_bytes(Run(layer, TowerFourteen { arrived, norm: refs(&ws.norm) }));
            }
            (Sbox::Tower, _) => backend.run_bytes(Run(layer, TowerInverse { arrived, x16: refs(&ws.kept) })),
            (_, 1) => backend.run_bytes(Run(layer, Fifteen { arrived, x: refs(&ws.kept) })),
            _ => backend.run_bytes(Run(layer, Inverse { arrived })),
        });
    }

    fn boolean(&mut self, phase: usize, arrived: Option<Pair<'_>>, message: &mut [u8]) {
        self.zero_words(message, 0, 0..message.len());
        self.randomness(message);
        self.cx.backend.run(boolean::Run {
            layer: self.layer,
            phase,
            input: arrived.unwrap_or(refs(&self.ws.kept)),
            wires: &mut self.ws.wires,
            message,
            output: [&mut [], &mut []],
            plane: self.n / 8,
            rec: self.rec.as_deref_mut(),
        });
        self.sent(message);
    }

    /// Fills `message` with zero-shares and lets `step` add its products, chunk by chunk. `step`'s range is that of
    /// one part of the message; a message has one part, or two or more of equal length that are computed together.
    fn masked(&mut self, message: &mut [u8], mut step: impl FnMut(&mut Workspace, Layer<'_>)) {
        let part = match self.sbox {
            Sbox::Tower => self.n / 2,
            _ => self.n,
        };
        let parts = message.len() / part;
        // A verifier wants the whole mask first; parts that share a mask word cannot be masked apart.
        let whole = self.rec.is_some() || !part.is_multiple_of(16);
        if whole {
            self.zero_words(message, 0, 0..message.len());
            self.randomness(message);
        }
        let chunk = if whole { part } else { CHUNK };
        for start in (0..part).step_by(chunk) {
            let range = start..part.min(start + chunk);
            if !whole {
                for p in 0..parts {
                    self.zero_words(message, p * part, range.clone());
                }
            }
            let rec = self.rec.as_deref_mut();
            step(&mut self.ws, Layer { number: self.layer, message, range, rec });
        }
        self.sent(message);
    }

    /// Zero-shares for bytes `range` of the part of the message that begins at `part`.
    fn zero_words(&self, message: &mut [u8], part: usize, range: std::ops::Range<usize>) {
        let (from, to) = (part + range.start, part + range.end);
        self.cx.prss.zero_words(self.cx.address, self.word + from as u64 / 16, &mut message[from..to]);
    }

    fn randomness(&mut self, mask: &[u8]) {
        if let Some(rec) = &mut self.rec {
            rec.randomness(self.layer, mask);
        }
    }

    /// Ends a layer: its message is complete, its words are used up.
    fn sent(&mut self, message: &[u8]) {
        if let Some(rec) = &mut self.rec {
            rec.message(self.layer, message);
        }
        self.word += message.len().div_ceil(16) as u64;
        self.layer += 1;
    }

    /// Writes a source's linear part to `out`.
    pub(crate) fn apply(&self, source: Source<'_>, out: &mut [Buffer; 2]) {
        resize(out, self.n);
        self.cx.backend.run_bytes(Apply { source, out: muts(out) });
    }
}

/// A source that is S-box inputs already.
pub(crate) fn plain_source(bytes: Pair<'_>) -> Source<'_> {
    Source { bytes, linear: Linear::Nothing, key: RoundKey::NONE }
}
