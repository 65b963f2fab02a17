//! Ranks rows by comparisons, and requests a whole level of comparisons at a time. A level depends
//! only on earlier answers.
//!
//! ```text
//! segment of rows     1            in its place
//!                     2 or 3       each pair is compared; in its place
//!                     more         q = 2^j − 1 rows are the sample; each pair of it is compared
//!                                  j levels: the others go down the tree of the sample, to q + 1
//!                                  segments around its rows
//! ```
//!
//! The algorithm is sample sort (W. D. Frazer, A. C. McKellar, "Samplesort", J. ACM 1970) on all
//! segments in parallel; with a sample of one row it is quicksort. Rows must come in uniformly
//! random order, so that the first rows of a segment are a random sample of it.
//!
//! Pairs name places, not rows. The caller is informed of each move and keeps rows in their places,
//! so that a segment's rows are adjacent and a level reads most of its rows in order.

/// Two places whose rows are compared: is the first place's row less?
pub type RankedPair = [u32; 2];

/// The progress of a segment.
#[derive(Clone, Copy)]
enum SegmentStage {
    /// The pairs of its first `sample` rows are being compared.
    Sample,
    /// The rows after the sample have gone down this many levels of the sample's tree.
    Search(u32),
}

/// Rows that are known to be adjacent in the order.
#[derive(Clone, Copy)]
struct Segment {
    start: usize,
    rows: usize,
    /// The number of rows of the sample, 2^j − 1, or of the whole segment.
    sample: usize,
    stage: SegmentStage,
}

impl Segment {
    fn new(start: usize, rows: usize) -> Segment {
        let sample = sample_of(rows);
        let stage = if sample == 1 { SegmentStage::Search(0) } else { SegmentStage::Sample };
        Segment { start, rows, sample, stage }
    }

    /// The number of levels of the sample's tree.
    fn depth(&self) -> u32 {
        (self.sample + 1).ilog2()
    }

    /// The place in the sample of the row with which the rows in `node` of a level are compared.
    fn pivot(&self, level: u32, node: u32) -> usize {
        ((2 * node as usize + 1) << (self.depth() - 1 - level)) - 1
    }
}

/// AGREEMENT: the number of rows of a segment's sample, about the square root of its rows. For up
/// to 600 rows this takes the fewest comparisons on average. The sample has at most half as many
/// pairs as the segment has rows.
fn sample_of(rows: usize) -> usize {
    match rows {
        0..=3 => rows,
        4 => 1,
        _ => (1 << (rows.ilog2() / 2).max(2)) - 1,
    }
}

/// The state of a ranking.
pub struct Ranking {
    /// The rows, segment by segment, in their order as far as it is known.
    rows: Vec<u32>,
    /// For the row at each place: its node in its segment's tree or, within a sample, the number of
    /// smaller rows of the sample.
    nodes: Vec<u32>,
    segments: Vec<Segment>,
    /// Whether answers contradicted each other.
    contradicted: bool,
    spare: Spare,
}

/// Memory that is reused from level to level.
#[derive(Default)]
struct Spare {
    rows: Vec<u32>,
    order: Vec<u32>,
    segments: Vec<Segment>,
    ends: Vec<usize>,
}

impl Ranking {
    /// A ranking of `rows` rows about which nothing is known.
    #[must_use]
    pub fn new(rows: u32) -> Ranking {
        let segments = if rows > 1 { vec![Segment::new(0, rows as usize)] } else { vec![] };
        let nodes = vec![0; rows as usize];
        Ranking { rows: (0..rows).collect(), nodes, segments, contradicted: false, spare: Default::default() }
    }

    /// Writes the pairs of the next level to `pairs`; there are none if the ranking is complete.
    pub fn ask(&self, pairs: &mut Vec<RankedPair>) {
        pairs.clear();
        for segment in &self.segments {
            let start = segment.start as u32;
            match segment.stage {
                SegmentStage::Sample => {
                    for second in 0..segment.sample as u32 {
                        pairs.extend((0..second).map(|first| [start + first, start + second]));
                    }
                }
                SegmentStage::Search(level) => {
                    let first = start + segment.sample as u32;
                    let nodes = &self.nodes[first as usize..segment.start + segment.rows];
                    let pivot = |node: &u32| start + segment.pivot(level, *node) as u32;
                    pairs.extend((first..).zip(nodes).map(|(row, node)| [row, pivot(node)]));
                }
            }
        }
    }

    /// Takes the answers to the pairs that [`Ranking::ask`] wrote, by their index. `moved` is
    /// called for rows that move: with the first place of a run and, for each place of the run, the
    /// former place of its row, counted from the first place.
    pub fn hear(&mut self, answer: impl Fn(usize) -> bool, mut moved: impl FnMut(usize, &[u32])) {
        let mut at = 0;
        let mut next = || {
            at += 1;
            u32::from(answer(at - 1))
        };
        let segments = std::mem::take(&mut self.segments);
        let mut after = std::mem::take(&mut self.spare.segments);
        for mut segment in segments.iter().copied() {
            let nodes = &mut self.nodes[segment.start..][..segment.rows];
            match segment.stage {
                SegmentStage::Sample => {
                    nodes[..segment.sample].fill(0);
                    for i in 0..segment.sample {
                        for j in 0..i {
                            let less = next();
                            nodes[i] += less;
                            nodes[j] += 1 - less;
                        }
                    }
                    self.place_sample(segment);
                    moved(segment.start, &self.spare.order);
                    segment.stage = SegmentStage::Search(0);
                    if segment.sample < segment.rows {
                        after.push(segment);
                    }
                }
                SegmentStage::Search(level) => {
                    for node in &mut nodes[segment.sample..] {
                        *node = 2 * *node + 1 - next();
                    }
                    segment.stage = SegmentStage::Search(level + 1);
                    if level + 1 < segment.depth() {
                        after.push(segment);
                    } else {
                        self.split(segment, &mut after);
                        moved(segment.start, &self.spare.order);
                    }
                }
            }
        }
        self.spare.segments = segments;
        self.spare.segments.clear();
        self.segments = after;
    }

    /// Puts the sample in order and all other rows at the root. A sample whose answers contradict
    /// each other stays as it is.
    fn place_sample(&mut self, segment: Segment) {
        let (rows, nodes) = (&mut self.rows[segment.start..], &mut self.nodes[segment.start..]);
        let Spare { rows: copy, order, .. } = &mut self.spare;
        copy.clear();
        copy.extend_from_slice(&rows[..segment.sample]);
        order.clear();
        order.resize(segment.sample, u32::MAX);
        for (i, rank) in (0..).zip(&nodes[..segment.sample]) {
            order[*rank as usize] = i;
        }
        // If two rows have one rank, another rank has no row.
        if order.contains(&u32::MAX) {
            self.contradicted = true;
            order.iter_mut().zip(0..).for_each(|(place, i)| *place = i);
        }
        rows.iter_mut().zip(&*order).for_each(|(row, from)| *row = copy[*from as usize]);
        nodes[..segment.rows].fill(0);
    }

    /// Makes a segment of the rows between each two rows of the sample, and puts the sample's rows
    /// in their places.
    fn split(&mut self, segment: Segment, after: &mut Vec<Segment>) {
        let rows = &mut self.rows[segment.start..][..segment.rows];
        let nodes = &mut self.nodes[segment.start..][..segment.rows];
        let Spare { rows: copy, order, ends, .. } = &mut self.spare;
        copy.clear();
        copy.extend_from_slice(rows);
        order.resize(segment.rows, 0);
        ends.clear();
        ends.resize(segment.sample + 1, 0);
        for node in &nodes[segment.sample..] {
            ends[*node as usize] += 1;
        }
        let mut start = 0;
        for (i, end) in ends.iter_mut().enumerate() {
            let count = std::mem::replace(end, start);
            if count > 1 {
                after.push(Segment::new(segment.start + start, count));
            }
            start += count;
            if i < segment.sample {
                rows[start] = copy[i];
                order[start] = i as u32;
                start += 1;
            }
        }
        for (i, node) in (segment.sample..).zip(&nodes[segment.sample..]) {
            let place = &mut ends[*node as usize];
            rows[*place] = copy[i];
            order[*place] = i as u32;
            *place += 1;
        }
        nodes.fill(0);
    }

    /// The row at each place, as far as the order is known.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The rows in their order, after the last level. `None` if answers contradicted each other:
    /// with wrong answers, rows can be less than each other in a circle.
    #[must_use]
    pub fn order(&self) -> Option<&[u32]> {
        (!self.contradicted).then_some(&*self.rows)
    }
}

/// An upper bound on the number of comparisons for `rows` rows, except for a negligible part of
/// their orders: a run that meets such an order takes longer and is still correct. No pair is
/// compared twice; for few rows this alone is the bound.
///
/// Quicksort, the worst choice of samples, takes 1.39 log2(rows) comparisons for each row on
/// average; these samples take about log2(rows) + 1.
#[must_use]
pub fn most_comparisons(rows: usize) -> u64 {
    let all = rows as u64 * (rows as u64).saturating_sub(1) / 2;
    all.min(rows as u64 * (u64::from(rows.max(1).ilog2()) * 3 / 2 + 4))
}

/// An upper bound on the number of pairs of a level. Each segment compares each row with one of the
/// sample, or the pairs of the sample, which are fewer.
#[must_use]
pub fn most_pairs(rows: usize) -> u64 {
    rows as u64
}

/// An upper bound on the number of levels, with the exception of [`most_comparisons`].
#[must_use]
pub fn most_levels(rows: usize) -> u64 {
    (rows as u64).min(4 * u64::from(rows.max(1).ilog2()) + 8)
}

/// LOCAL: the number of rows that are ranked to estimate the cost of more rows.
const TRIED: usize = 1 << 14;

/// An estimate of the number of pairs of each level: the numbers for one random order, since real
/// pairs follow from a uniformly random order.
#[must_use]
pub fn likely_levels(rows: usize) -> Vec<usize> {
    let mut tried = rows.min(TRIED);
    let mut levels = levels(tried);
    // With twice as many rows, every level is twice as wide, and there is one more comparison for
    // each row.
    while tried < rows {
        let next = rows.min(2 * tried);
        levels.iter_mut().for_each(|pairs| *pairs = (*pairs as u128 * next as u128 / tried as u128) as usize);
        levels.push(next);
        tried = next;
    }
    levels
}

/// The number of pairs of each level, for one order of `rows` rows.
fn levels(rows: usize) -> Vec<usize> {
    let mut ranks: Vec<u32> = (0..rows as u32).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for last in (1..rows).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ranks.swap(last, (state % (last as u64 + 1)) as usize);
    }
    let (mut ranking, mut pairs, mut levels) = (Ranking::new(rows as u32), vec![], vec![]);
    loop {
        ranking.ask(&mut pairs);
        if pairs.is_empty() {
            return levels;
        }
        levels.push(pairs.len());
        let rank = |place: u32| ranks[ranking.rows()[place as usize] as usize];
        let answers: Vec<bool> = pairs.iter().map(|[a, b]| rank(*a) < rank(*b)).collect();
        ranking.hear(|i| answers[i], |_, _| ());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A permutation from a small generator: tests need many, and they are not secret.
    fn shuffled(state: &mut u64, rows: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..rows as u32).collect();
        for i in (1..rows).rev() {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            order.swap(i, (*state >> 33) as usize % (i + 1));
        }
        order
    }

    /// The order of rows with these ranks, the number of levels, and the number of comparisons.
    fn rank(ranks: &[u32]) -> (Vec<u32>, usize, usize) {
        let mut ranking = Ranking::new(ranks.len() as u32);
        let (mut pairs, mut levels, mut asked) = (vec![], 0, 0);
        let mut there: Vec<u32> = (0..ranks.len() as u32).collect();
        loop {
            ranking.ask(&mut pairs);
            if pairs.is_empty() {
                let order = ranking.order().expect("the answers fit together").to_vec();
                return (order, levels, asked);
            }
            levels += 1;
            asked += pairs.len();
            let rank = |place: u32| ranks[ranking.rows()[place as usize] as usize];
            let answers: Vec<bool> = pairs.iter().map(|[a, b]| rank(*a) < rank(*b)).collect();
            ranking.hear(
                |i| answers[i],
                |start, from| {
                    let before = there[start..][..from.len()].to_vec();
                    from.iter().zip(&mut there[start..]).for_each(|(from, to)| *to = before[*from as usize]);
                },
            );
            assert!(there == ranking.rows(), "who hears of moves knows the row in each place");
        }
    }

    /// Rows that are less than each other in a circle, at any level, give no order and cause no
    /// other fault.
    #[test]
    fn answers_that_contradict_each_other_give_no_order() {
        let rows = 1000;
        let mut ends = [0, 0];
        for wrong in 0..8 {
            let mut ranking = Ranking::new(rows);
            let (mut pairs, mut level) = (vec![], 0);
            let mut there: Vec<u32> = (0..rows).collect();
            loop {
                ranking.ask(&mut pairs);
                if pairs.is_empty() {
                    break;
                }
                let places = ranking.rows().to_vec();
                let circle = |[a, b]: RankedPair| (a + b) % 3 == 0;
                let right = |[a, b]: RankedPair| places[a as usize] < places[b as usize];
                let answers: Vec<bool> = pairs
                    .iter()
                    .map(|pair| if level == wrong { circle(*pair) } else { right(*pair) })
                    .collect();
                ranking.hear(
                    |i| answers[i],
                    |start, from| {
                        let before = there[start..][..from.len()].to_vec();
                        from.iter()
                            .zip(&mut there[start..])
                            .for_each(|(from, to)| *to = before[*from as usize]);
                    },
                );
                level += 1;
            }
            let mut all = ranking.rows().to_vec();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..rows), "a row is lost");
            ends[usize::from(ranking.order().is_some())] += 1;
        }
        // A search alone cannot be contradicted, since each row only learns its place.
        assert!(ends[0] > 0 && ends[1] > 0, "{ends:?}");
    }

    #[test]
    fn rows_come_in_order_within_the_bound() {
        let mut state = 1;
        for rows in (0..70).chain([100, 127, 128, 500, 1000, 5000, 100_000]) {
            for _ in 0..if rows < 1000 { 20 } else { 2 } {
                let ranks = shuffled(&mut state, rows);
                let (order, levels, asked) = rank(&ranks);
                assert!(order.iter().enumerate().all(|(i, row)| ranks[*row as usize] == i as u32));
                assert!(asked as u64 <= most_comparisons(rows), "{rows} rows: {asked} comparisons");
                assert!(levels as u64 <= most_levels(rows), "{rows} rows: {levels} levels");
            }
        }
    }
}
