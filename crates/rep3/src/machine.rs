//! The machine of AES and of its key expansion: layers of S-boxes, with linear steps between them.

use crate::boolean::{Lookup, ONE_HOT, circuit};
use crate::kernels::{
    Apply, ByteShares, Cube, Fifteen, Inverse, LONGEST, LayerMessage, LayerStep, Linear, RoundKey,
    SboxSource, TowerFourteen, TowerInverse, TowerNorm, TowerSix,
};
use crate::layers::{Outside, Told};
use crate::sbox::Turn;
use crate::slots::Slots;
use crate::{Context, Role, Sbox, xor_into};
use hushwire_block::Buffer;
use hushwire_circuit::input_slot;
use hushwire_machine::drive::{Exchanged, Latch, Round};
use hushwire_machine::{Cost, NetError, gated};

/// Buffers of one batch, kept for the next batch: fresh pages cost more than the socket.
#[derive(Default)]
pub struct Workspace {
    kept: [Buffer; 2],
    norm: [Buffer; 2],
    slots: Slots,
    /// The preparation of [`Sbox::Lut256`]: the characteristic vectors for each S-box layer, and
    /// their random bytes.
    vectors: Vec<Slots>,
    random: [Buffer; 2],
    pub(crate) bytes: [Buffer; 2],
    pub(crate) state: [Buffer; 2],
}

fn resize(pair: &mut [Buffer; 2], len: usize) {
    for buffer in pair {
        buffer.set_len(len);
    }
}

fn refs(pair: &[Buffer; 2]) -> ByteShares<'_> {
    [&pair[0], &pair[1]]
}

fn muts(pair: &mut [Buffer; 2]) -> [&mut [u8]; 2] {
    let [a, b] = pair;
    [a, b]
}

/// The S-boxes of `n` shared bytes, round by round, repeated `times` times.
pub(crate) struct Sboxes {
    sbox: Sbox,
    n: usize,
    times: usize,
    cx: Context,
    /// The lengths of the messages of all rounds.
    lengths: Vec<usize>,
    /// The next unused 128-bit word of the batch's zero-shares.
    word: u64,
    /// The number of rounds whose messages have been made.
    layer: usize,
    /// The number of S-box layers for which [`Sbox::Lut256`] has looked up the table.
    looked_up: usize,
    pub(crate) ws: Workspace,
    pub(crate) rec: Option<Box<dyn crate::record::Record>>,
    latch: Latch,
}

/// Message bytes that are masked and computed at a time, so that masks stay in the first-level
/// cache. LOCAL: changes no byte on the wire. A multiple of [`LONGEST`].
const CHUNK: usize = 2048;
const _: () = assert!(CHUNK.is_multiple_of(LONGEST));

impl Sboxes {
    pub(crate) fn new(sbox: Sbox, n: usize, times: usize, cx: Context, mut ws: Workspace) -> Self {
        assert!(n.is_multiple_of(8), "S-boxes come in eights");
        match sbox {
            Sbox::Tower => {
                resize(&mut ws.kept, n);
                resize(&mut ws.norm, n / 2);
            }
            _ => resize(&mut ws.kept, n),
        }
        let lengths = sbox.messages(n, times).collect();
        let latch = Latch::with_own();
        Sboxes { sbox, n, times, cx, lengths, word: 0, layer: 0, looked_up: 0, ws, rec: None, latch }
    }

    pub(crate) fn role(&self) -> Role {
        self.cx.role
    }

    /// The round whose message is made next.
    fn round(&self) -> Option<Round> {
        Some(Round::even(self.sbox.name_of(self.layer), *self.lengths.get(self.layer)?))
    }

    /// Whether the output of [`Sboxes::output`] still lacks the S-box's linear part.
    pub(crate) fn affine(&self) -> bool {
        matches!(self.sbox, Sbox::Tower | Sbox::Gf256)
    }

    /// The result of the last round, as S-box output (without 0x63, and without the linear part if
    /// [`Sboxes::affine`]). For a byte S-box it is in the messages; a Boolean S-box writes it to
    /// `into`.
    pub(crate) fn output<'a>(&mut self, arrived: Exchanged<'a>, into: &'a mut [Buffer; 2]) -> ByteShares<'a> {
        if self.affine() {
            return [arrived.own, arrived.heard];
        }
        resize(into, self.n);
        let messages = [arrived.own, arrived.heard];
        if let Some(circuit) = circuit(self.sbox) {
            let last = &circuit.layers()[circuit.depth()];
            self.ws.slots.layer(&self.cx, (last, self.layer), messages, &mut [], None, Outside::default());
            self.ws.slots.unslice(&self.cx, circuit.output_slots(), muts(into));
        } else {
            // The sum of the two shares that this party held, and the third share.
            let opened = &mut self.ws.kept[0];
            xor_into(opened, arrived.heard);
            let vectors = &self.ws.vectors[self.looked_up];
            self.cx.backend.run(Lookup { vectors, opened, output: muts(into) });
            self.looked_up += 1;
        }
        refs(into)
    }

    /// Round `k` of the preparation for all S-boxes.
    fn prepare(&mut self, k: usize, arrived: Exchanged<'_>, message: &mut [u8]) {
        let (plane, times) = (self.n / 8, self.times);
        if k == 0 {
            self.draw();
        }
        if !message.is_empty() {
            self.zero_words(message, 0, 0..message.len());
            self.randomness(message);
        }
        let layer = &ONE_HOT.layers()[k];
        let (part, got) = (layer.ands.len() * plane, layer.products.len() * plane);
        for (t, vectors) in self.ws.vectors[..times].iter_mut().enumerate() {
            let arrived = [arrived.own, arrived.heard].map(|m| &m[t * got..(t + 1) * got]);
            let message = &mut message[t * part..(t + 1) * part];
            let rec = self.rec.as_deref_mut().map(|rec| Told { rec, offset: t * part, bits: 8 });
            vectors.layer(&self.cx, (layer, self.layer), arrived, message, rec, Outside::default());
        }
        if !message.is_empty() {
            self.sent(message);
        }
    }

    /// Draws shared random bytes for every S-box; no party knows them.
    fn draw(&mut self) {
        let times = self.times;
        let Workspace { random, vectors, .. } = &mut self.ws;
        resize(random, times * self.n);
        let [x, x_next] = muts(random);
        // Share x_{i+1} of a random word comes from this party's own key, x_i from the left
        // neighbour's key.
        self.cx.prss.random_words(self.cx.address, self.word, x_next, x);
        self.word += (times * self.n).div_ceil(16) as u64;
        vectors.resize_with(times.max(vectors.len()), Slots::default);
        for (t, vectors) in vectors[..times].iter_mut().enumerate() {
            vectors.begin(self.cx.role, ONE_HOT.slots(), self.n / 8);
            let range = t * self.n..(t + 1) * self.n;
            vectors.slice(&self.cx, input_slot(0), [&random[0][range.clone()], &random[1][range]]);
        }
    }

    /// Makes the message of round 0, from the S-box inputs of `source`.
    pub(crate) fn first(&mut self, source: SboxSource<'_>, message: &mut [u8]) {
        let backend = self.cx.backend;
        if !self.affine() {
            backend.run_bytes(Apply { source, out: muts(&mut self.ws.kept) });
            return match circuit(self.sbox) {
                Some(circuit) => {
                    let Workspace { slots, kept, .. } = &mut self.ws;
                    slots.begin(self.cx.role, circuit.slots(), self.n / 8);
                    slots.slice(&self.cx, input_slot(0), refs(kept));
                    self.boolean(0, [&[], &[]], message);
                }
                None => self.distance(message),
            };
        }
        let sbox = self.sbox;
        self.masked(message, |ws, layer| match sbox {
            Sbox::Tower => backend.run_bytes(TowerNorm { layer, source, x16: muts(&mut ws.kept) }),
            _ => backend.run_bytes(LayerStep(layer, Cube { source, x: muts(&mut ws.kept) })),
        });
    }

    /// Makes the message of a later round.
    fn next(&mut self, k: usize, arrived: Exchanged<'_>, message: &mut [u8]) {
        let (sbox, backend) = (self.sbox, self.cx.backend);
        let arrived = [arrived.own, arrived.heard];
        if !self.affine() {
            return self.boolean(k, arrived, message);
        }
        self.masked(message, |ws, layer| match (sbox, k) {
            (Sbox::Tower, 1) => {
                backend.run_bytes(LayerStep(layer, TowerSix { arrived, norm: muts(&mut ws.norm) }));
            }
            (Sbox::Tower, 2) => {
                backend.run_bytes(LayerStep(layer, TowerFourteen { arrived, norm: refs(&ws.norm) }));
            }
            (Sbox::Tower, _) => {
                backend.run_bytes(LayerStep(layer, TowerInverse { arrived, x16: refs(&ws.kept) }));
            }
            (_, 1) => backend.run_bytes(LayerStep(layer, Fifteen { arrived, x: refs(&ws.kept) })),
            _ => backend.run_bytes(LayerStep(layer, Inverse { arrived })),
        });
    }

    fn boolean(&mut self, k: usize, arrived: ByteShares<'_>, message: &mut [u8]) {
        let circuit = circuit(self.sbox).expect("a Boolean S-box");
        self.zero_words(message, 0, 0..message.len());
        self.randomness(message);
        let rec = self.rec.as_deref_mut().map(Told::all);
        self.ws.slots.layer(
            &self.cx,
            (&circuit.layers()[k], self.layer),
            arrived,
            message,
            rec,
            Outside::default(),
        );
        self.sent(message);
    }

    /// Opens the difference between the S-box inputs in `kept` and the prepared bytes. The share
    /// that the left neighbour lacks is sent; the sum of the two held shares stays in `kept[0]`.
    /// The prepared bytes are uniform and unknown to all parties, so the difference reveals nothing
    /// about the inputs.
    fn distance(&mut self, message: &mut [u8]) {
        let range = self.looked_up * self.n..(self.looked_up + 1) * self.n;
        let Workspace { kept: [x, x_next], random, .. } = &mut self.ws;
        xor_into(x, &random[0][range.clone()]);
        xor_into(x_next, &random[1][range]);
        message.copy_from_slice(x_next);
        if let Some(rec) = &mut self.rec {
            rec.opening(self.layer, [x, x_next]);
            rec.message(self.layer, message);
        }
        xor_into(x, x_next);
        self.layer += 1;
    }

    /// Fills `message` with zero-shares and calls `step` to add its products, chunk by chunk. The
    /// range that `step` gets is within one part of the message. A message has one part, or two or
    /// more of equal length that are computed together.
    fn masked(&mut self, message: &mut [u8], mut step: impl FnMut(&mut Workspace, LayerMessage<'_>)) {
        let part = match self.sbox {
            Sbox::Tower => self.n / 2,
            _ => self.n,
        };
        let parts = message.len() / part;
        // A verifier needs the whole mask first, and parts that share a mask word cannot be masked
        // separately.
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
            step(&mut self.ws, LayerMessage { number: self.layer, message, range, rec });
        }
        self.sent(message);
    }

    /// Writes zero-shares for bytes `range` of the part of the message that begins at `part`.
    fn zero_words(&self, message: &mut [u8], part: usize, range: std::ops::Range<usize>) {
        let (from, to) = (part + range.start, part + range.end);
        self.cx.prss.zero_words(self.cx.address, self.word + from as u64 / 16, &mut message[from..to]);
    }

    fn randomness(&mut self, mask: &[u8]) {
        if let Some(rec) = &mut self.rec {
            rec.randomness(self.layer, mask);
        }
    }

    /// Ends a layer whose message is complete, and counts the words that it used.
    fn sent(&mut self, message: &[u8]) {
        if let Some(rec) = &mut self.rec {
            rec.message(self.layer, message);
        }
        self.word += message.len().div_ceil(16) as u64;
        self.layer += 1;
    }

    /// Writes a source's linear part to `out`.
    pub(crate) fn apply(&self, source: SboxSource<'_>, out: &mut [Buffer; 2]) {
        resize(out, self.n);
        self.cx.backend.run_bytes(Apply { source, out: muts(out) });
    }
}

/// The linear steps of a computation between its S-boxes.
pub(crate) trait Between {
    /// Makes the first message of S-box layer `r`, from the output of the layer before, or from the
    /// input.
    fn between(&mut self, sboxes: &mut Sboxes, r: usize, arrived: Exchanged<'_>, message: &mut [u8]);

    /// Makes the output, from the result of the last S-boxes.
    fn end(&mut self, sboxes: &mut Sboxes, arrived: Exchanged<'_>);

    /// The declared cost.
    fn cost(&self, sbox: Sbox) -> Cost;
}

/// The machine of a computation that alternates S-boxes and linear steps.
pub struct SboxRounds<B> {
    pub(crate) sboxes: Sboxes,
    pub(crate) between: B,
}

gated!(fused [B: Between] SboxRounds<B>, NetError;
    fn cost(&self) -> Option<Cost> {
        Some(self.between.cost(self.sboxes.sbox))
    }
);

impl<B> SboxRounds<B> {
    /// Sets the recorder, which gets all that a verifier needs.
    pub fn record(&mut self, rec: Box<dyn crate::Record>) {
        self.sboxes.rec = Some(rec);
    }
}

#[expect(private_bounds, reason = "all of its functions are private")]
impl<B: Between> SboxRounds<B> {
    fn latch(&self) -> &Latch {
        &self.sboxes.latch
    }

    fn exchange(&self) -> Option<Round> {
        self.sboxes.round()
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), NetError> {
        self.answer(Exchanged::NOTHING, out)
    }

    fn answer(&mut self, arrived: Exchanged<'_>, message: &mut [u8]) -> Result<(), NetError> {
        let Self { sboxes, between } = self;
        match sboxes.sbox.turn(sboxes.layer) {
            Turn::Prepare(k) => sboxes.prepare(k, arrived, message),
            Turn::Sbox(r, 0) => {
                if r == 0 && sboxes.layer > 0 {
                    sboxes.prepare(sboxes.layer, arrived, &mut []);
                }
                between.between(sboxes, r, arrived, message);
            }
            Turn::Sbox(_, k) => sboxes.next(k, arrived, message),
        }
        Ok(())
    }

    fn hear(&mut self, arrived: Exchanged<'_>) -> Result<(), NetError> {
        self.between.end(&mut self.sboxes, arrived);
        Ok(())
    }
}

/// A source whose bytes are already S-box inputs.
pub(crate) fn plain_source(bytes: ByteShares<'_>) -> SboxSource<'_> {
    SboxSource { bytes, linear: Linear::Nothing, key: RoundKey::NONE }
}
