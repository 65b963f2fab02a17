//! The order of tables. A cursor walks a program stage by stage, down to pieces of ANDs, and can
//! stop and continue anywhere.

use crate::{Format, GateBackend};
use hushwire_circuit::{Layered, ONE, Program, Slot};
use std::{ops::Range, sync::Arc};

/// AGREEMENT: the least room for tables with which a run stops and continues: two pieces.
pub const CHUNK: usize = 64 << 10;
/// AGREEMENT: the number of ANDs whose tables lie together: first their whole bytes, then their
/// packed bits.
pub(crate) const PIECE: usize = 1024;
/// AGREEMENT: the number of bytes that the wires of a strip should fit into, a part of the
/// second-level cache.
const STRIP_BYTES: usize = 512 << 10;
/// AGREEMENT: the range of the number of copies in a strip; both limits are multiples of [`CUT`].
const STRIP: Range<usize> = 8..33;
/// AGREEMENT: strips begin at multiples of this number of copies, so that all vectors of wires are
/// full, except in the last strip.
const CUT: usize = 8;

/// The strips of a block: ranges of copies that run together. AGREEMENT: the order of tables
/// depends on them.
///
/// A strip has as many copies as fit into the second-level cache. Strips have even lengths, up to
/// multiples of `CUT`: 65 copies are split into 24, 24 and 17 rather than 32, 32 and 1.
///
/// The limits were measured on AES x 65, SHA-1 x 63 and PSI. Full vectors matter most, then long
/// strips. 32 copies within 512 KiB were faster than 16 and 64, and faster than strips that fit
/// into the first-level cache.
pub fn strips(slots: usize, copies: usize) -> impl Iterator<Item = Range<usize>> {
    (0..).map_while(move |k| strip(slots, copies, k))
}

/// Strip `k` of [`strips`].
fn strip(slots: usize, copies: usize, k: usize) -> Option<Range<usize>> {
    let most = (STRIP_BYTES / (16 * slots.max(1))).clamp(STRIP.start, STRIP.end - 1) / CUT * CUT;
    let (cuts, count) = (copies.div_ceil(CUT), copies.div_ceil(most));
    let start = |k: usize| (k * cuts / count * CUT).min(copies);
    (k < count).then(|| start(k)..start(k + 1))
}

/// The number of bytes of the tables of one run of a program on `instances` instances.
#[must_use]
pub fn table_bytes<E: GateBackend>(program: &Program, instances: usize) -> u64 {
    Cursor::new::<E>(program, instances).skip(usize::MAX) as u64
}

/// Whether an XOR has a table, in schemes whose XORs have tables. An XOR with a constant has none,
/// since both parties know the constant.
pub(crate) fn has_table([a, b, _]: &[Slot; 3]) -> bool {
    *a > ONE && *b > ONE
}

/// The number of XORs with tables, in schemes whose XORs have tables.
fn with_tables(xors: &[[Slot; 3]]) -> usize {
    xors.iter().filter(|gate| has_table(gate)).count()
}

/// A step of a run.
pub(crate) enum Step {
    /// A stage begins.
    Stage(usize),
    /// A strip of the stage's units begins: their operands are read.
    Begin,
    /// Whole layers of a single copy, and the bytes of their tables, at endpoints that have sums.
    Layers(Range<usize>, usize),
    /// A layer begins: the products of the previous layer move to their slots.
    Layer,
    /// A range of the layer's XORs, and the bytes of their tables.
    Xors(Range<usize>, usize),
    /// A piece of the layer's ANDs: its first gate and copy, the number of ANDs, and the bytes of
    /// their tables.
    Ands(usize, usize, usize),
    /// The strip ends: its results are kept.
    End,
    /// The stage ends: the results become registers.
    Write,
}

/// The next step within a strip.
#[derive(Clone, Copy)]
enum Next {
    Begin,
    Layer,
    /// XORs, from this one on.
    Xors(usize),
    /// ANDs, from this gate and copy on.
    Ands(usize),
}

/// The parts of a stage on which tables depend.
#[derive(Clone)]
pub(crate) struct Shape {
    pub(crate) block: Arc<Layered>,
    /// The number of copies in all instances.
    pub(crate) units: usize,
    /// The number of XORs with tables in each layer; empty if XORs have no tables.
    tables: Arc<[usize]>,
}

/// A place in the run of a program.
#[derive(Clone)]
pub struct Cursor<'p> {
    program: &'p Program,
    instances: usize,
    format: Format,
    /// Whether endpoints have sums.
    woven: bool,
    stage: usize,
    /// `None` if the stage has not begun, or the program has ended.
    shape: Option<Shape>,
    strip: usize,
    layer: usize,
    next: Next,
}

impl<'p> Cursor<'p> {
    /// A cursor before the first gate.
    #[must_use]
    pub fn new<E: GateBackend>(program: &'p Program, instances: usize) -> Self {
        let (stage, strip, layer) = (0, 0, 0);
        let (format, woven, next) = (E::FORMAT, E::SUMS, Next::Begin);
        Cursor { program, instances, format, woven, stage, shape: None, strip, layer, next }
    }

    /// The number of bytes of the next tables, as many whole pieces as fit into `most`, and whether
    /// they are the last. AGREEMENT.
    ///
    /// # Panics
    /// If `most` is less than [`CHUNK`] (the caller's bug).
    #[must_use]
    pub fn upcoming(&self, most: usize) -> (usize, bool) {
        assert!(most >= CHUNK, "a piece of ANDs fits");
        let mut after = self.clone();
        let bytes = after.skip(most);
        (bytes, after.is_done())
    }

    /// Moves on without running gates, as far as their tables fit into `room`; returns the bytes of
    /// these tables.
    pub(crate) fn skip(&mut self, room: usize) -> usize {
        self.walk(room, |_, _, _| {})
    }

    /// Whether nothing is left to run.
    fn is_done(&self) -> bool {
        self.shape.is_none() && self.stage == self.program.stages().len()
    }

    pub(crate) fn program(&self) -> &'p Program {
        self.program
    }

    pub(crate) fn instances(&self) -> usize {
        self.instances
    }

    /// The current layer.
    pub(crate) fn layer(&self) -> usize {
        self.layer
    }

    /// The units of the current strip.
    pub(crate) fn units(&self, shape: &Shape) -> Range<usize> {
        strip(shape.block.slots(), shape.units, self.strip).unwrap_or_default()
    }

    /// Moves on as far as tables fit into `room`, calls `visit` for each step, and returns the
    /// bytes of the tables. Steps without tables always fit, so that they run together with the
    /// last table before them.
    pub(crate) fn walk(&mut self, room: usize, mut visit: impl FnMut(&Self, &Shape, Step)) -> usize {
        let mut left = room;
        while let Some(shape) = self.shape(&mut visit) {
            while let Some(units) = strip(shape.block.slots(), shape.units, self.strip) {
                if !self.strip(&shape, units.len(), &mut left, &mut visit) {
                    self.shape = Some(shape);
                    return room - left;
                }
                (self.strip, self.layer, self.next) = (self.strip + 1, 0, Next::Begin);
            }
            visit(self, &shape, Step::Write);
            (self.stage, self.strip) = (self.stage + 1, 0);
        }
        room - left
    }

    /// The current stage, or the next one if none has begun.
    fn shape(&mut self, visit: &mut impl FnMut(&Self, &Shape, Step)) -> Option<Shape> {
        if let Some(shape) = self.shape.take() {
            return Some(shape);
        }
        let stages = self.program.stages();
        if self.stage == stages.len() {
            return None;
        }
        let (block, copies) = stages.shape(self.stage);
        let layers = if self.format.xor_bytes > 0 { block.layers() } else { &[] };
        let tables = layers.iter().map(|layer| with_tables(&layer.xors)).collect();
        let shape = Shape { block, units: copies * self.instances, tables };
        visit(self, &shape, Step::Stage(self.stage));
        Some(shape)
    }

    /// Walks the rest of a strip of `units` units; returns false if it does not fit. Programs can
    /// have a million narrow layers a second.
    #[inline(always)]
    fn strip(
        &mut self,
        shape: &Shape,
        units: usize,
        left: &mut usize,
        visit: &mut impl FnMut(&Self, &Shape, Step),
    ) -> bool {
        loop {
            let Some(layer) = shape.block.layers().get(self.layer) else {
                visit(self, shape, Step::End);
                return true;
            };
            if let Next::Begin = self.next {
                visit(self, shape, Step::Begin);
                self.next = Next::Layer;
            }
            if let (Next::Layer, true, 1) = (self.next, self.woven, units) {
                let whole = self.whole(shape, *left);
                if let Some((layers, bytes)) = whole {
                    let until = layers.end;
                    visit(self, shape, Step::Layers(layers, bytes));
                    *left -= bytes;
                    self.layer = until;
                    continue;
                }
            }
            if let Next::Layer = self.next {
                visit(self, shape, Step::Layer);
                self.next = Next::Xors(0);
            }
            if let Next::Xors(from) = self.next {
                let each = self.format.xor_bytes * units;
                let (gates, bytes) = self.xors(&layer.xors[from..], shape, from, each, *left);
                visit(self, shape, Step::Xors(from..from + gates, bytes));
                *left -= bytes;
                self.next = Next::Xors(from + gates);
                if from + gates < layer.xors.len() {
                    return false;
                }
                self.next = Next::Ands(0);
            }
            if let Next::Ands(mut from) = self.next {
                let all = layer.ands.len() * units;
                while from < all {
                    let n = PIECE.min(all - from);
                    let bytes = self.format.piece(n);
                    if bytes > *left {
                        self.next = Next::Ands(from);
                        return false;
                    }
                    visit(self, shape, Step::Ands(from, n, bytes));
                    *left -= bytes;
                    from += n;
                }
                (self.layer, self.next) = (self.layer + 1, Next::Layer);
            }
        }
    }

    /// The layers, from the current one on, whose tables fit, and the bytes of these tables; `None`
    /// if the first does not fit.
    fn whole(&self, shape: &Shape, left: usize) -> Option<(Range<usize>, usize)> {
        let (layers, each) = (shape.block.woven().layers(), self.format.and_bytes);
        let start = layers[self.layer].ands.start;
        let until = layers.partition_point(|layer| layer.ands.end <= start.saturating_add(left / each));
        let gates = layers[self.layer..until].last()?.ands.end - start;
        Some((self.layer..until, gates * each))
    }

    /// The number of these XORs whose tables fit, at `each` bytes for each table, and the bytes of
    /// these tables.
    #[inline]
    fn xors(
        &self,
        gates: &[[Slot; 3]],
        shape: &Shape,
        from: usize,
        each: usize,
        left: usize,
    ) -> (usize, usize) {
        if each == 0 {
            return (gates.len(), 0);
        }
        let all = if from == 0 { shape.tables[self.layer] } else { with_tables(gates) };
        if all * each <= left {
            return (gates.len(), all * each);
        }
        let mut fits = left / each;
        let bytes = fits * each;
        let until = gates.iter().position(|gate| {
            let full = has_table(gate) && fits == 0;
            fits -= usize::from(has_table(gate) && !full);
            full
        });
        (until.unwrap_or(gates.len()), bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{half, prf, three_halves};
    use hushwire_circuit::named;

    #[test]
    fn strips_are_whole_vectors_and_nearly_even() {
        for slots in [1, 10, 300, 1025, 1500, 5000, 100_000] {
            for copies in (0..140).chain([1000, 1001]) {
                let all: Vec<_> = strips(slots, copies).collect();
                assert_eq!(all.iter().map(Range::len).sum::<usize>(), copies);
                assert!(all.windows(2).all(|w| w[0].end == w[1].start));
                assert!(all.iter().all(|s| s.start % CUT == 0 && s.len() < STRIP.end && !s.is_empty()));
                assert!(all.iter().all(|s| s.len() <= STRIP.start || 16 * slots * s.len() <= STRIP_BYTES));
                let cuts = |s: &Range<usize>| s.len().div_ceil(CUT);
                assert!(all.iter().all(|s| cuts(s).abs_diff(cuts(&all[0])) <= 1), "{slots} {copies}");
            }
        }
        assert!(strips(10, 65).eq([0..24, 24..48, 48..65]));
    }

    /// A walk visits every gate of every strip once, in order, wherever it stops in between.
    fn walks<E: GateBackend>(name: &str, instances: usize) {
        let program = named::program(name).expect("a circuit of ours");
        let whole = |most: usize| {
            let mut cursor = Cursor::new::<E>(&program, instances);
            let (mut steps, mut bytes) = (vec![], 0);
            loop {
                let (next, last) = cursor.upcoming(most);
                let walked = cursor.walk(next, |cursor, shape, step| match step {
                    Step::Xors(gates, _) => steps.extend(gates.map(|gate| [cursor.layer, gate])),
                    Step::Ands(from, n, _) => steps.extend((from..from + n).map(|gate| [cursor.layer, gate])),
                    Step::Stage(k) => steps.push([k, usize::MAX]),
                    Step::Layers(layers, _) => layers.for_each(|layer| {
                        let layers = &shape.block.layers()[layer];
                        steps.push([cursor.strip; 2]);
                        steps.extend((0..layers.xors.len()).map(|gate| [layer, gate]));
                        steps.extend((0..layers.ands.len()).map(|gate| [layer, gate]));
                    }),
                    Step::Begin | Step::Layer | Step::End | Step::Write => steps.push([cursor.strip; 2]),
                });
                assert_eq!(walked, next);
                assert!(next <= most);
                bytes += next as u64;
                assert_eq!(last, cursor.is_done());
                if last {
                    return (steps, bytes);
                }
            }
        };
        let all = whole(usize::MAX);
        assert_eq!(all.1, table_bytes::<E>(&program, instances));
        for most in [CHUNK, CHUNK + 1, 3 * CHUNK / 2, 1 << 20] {
            assert!(whole(most) == all, "{name} × {instances} in {most} bytes");
        }
    }

    #[test]
    fn walks_stop_and_go_on_anywhere() {
        for (name, instances) in [("aes128", 1), ("sha256", 3), ("sort:9x5", 40), ("add:3", 0)] {
            walks::<half::Garbler>(name, instances);
            walks::<prf::Evaluator>(name, instances);
            walks::<three_halves::Garbler>(name, instances);
        }
    }
}
