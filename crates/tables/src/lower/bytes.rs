//! Strings as circuits on their bytes.
//!
//! A string is padded with zeros. Its first byte is the highest one, as in [`super::cell`].
//! Circuits move all bytes of a string by a secret number of places. The number of steps is the
//! number of bits of that number.

use hushwire_circuit::{Bit, Builder as Circuits};
use hushwire_compute::{Netlist, Op, Scalar, Val};

/// A byte, its lowest bit first.
pub(crate) type Byte = [Bit; 8];

/// The byte 0.
pub(crate) const NOTHING: Byte = [Bit::ZERO; 8];

/// Computes a circuit on columns, which are read as bits.
pub(crate) fn circuit<'b>(
    columns: &[Val<'b>],
    make: impl FnOnce(&mut Circuits, &[Vec<Bit>]) -> Vec<Bit>,
) -> Val<'b> {
    let mut c = Circuits::new();
    let (mut bits, mut inputs) = (vec![], vec![]);
    for val in columns {
        let Some(ty) = val.ty() else { return *val };
        let width = ty.scalar.bits() as u16;
        bits.push(if ty.scalar == Scalar::Bits(width) { *val } else { val.cast(Scalar::Bits(width)) });
        inputs.push(c.input(width.into()));
    }
    let made = make(&mut c, &inputs);
    let netlist = Netlist::new(c.finish(&[made])).expect("strings have at most 4096 bits");
    bits[0].builder().apply(Op::Circuit(netlist), &bits)
}

/// The number that a circuit's output bits form, as a signed number of this width.
pub(crate) fn as_number(val: Val<'_>, bits: u8) -> Val<'_> {
    let Some(ty) = val.ty() else { return val };
    val.cast(Scalar::unsigned(ty.scalar.bits() as u8)).cast(Scalar::signed(bits))
}

/// The bytes of a string, from the first one on.
pub(crate) fn read(bits: &[Bit]) -> Vec<Byte> {
    let byte = |bits: &[Bit]| -> Byte { core::array::from_fn(|i| bits[i]) };
    bits.chunks_exact(8).rev().map(byte).collect()
}

/// The bits of a string of `bytes` bytes.
pub(crate) fn write(text: &[Byte], bytes: usize) -> Vec<Bit> {
    let padded = text.iter().copied().chain(core::iter::repeat(NOTHING)).take(bytes);
    let all: Vec<Byte> = padded.collect();
    all.into_iter().rev().flatten().collect()
}

/// A public byte.
pub(crate) fn letter(byte: u8) -> Byte {
    core::array::from_fn(|i| Bit::constant(byte >> i & 1 == 1))
}

pub(crate) fn or(c: &mut Circuits, a: Bit, b: Bit) -> Bit {
    let (both, one) = (c.and(a, b), c.xor(a, b));
    c.xor(both, one)
}

/// The conjunction of all bits, as a tree.
pub(crate) fn all(c: &mut Circuits, mut bits: Vec<Bit>) -> Bit {
    while bits.len() > 1 {
        let two = |two: &[Bit]| if let [a, b] = *two { c.and(a, b) } else { two[0] };
        bits = bits.chunks(2).map(two).collect();
    }
    bits.first().copied().unwrap_or(Bit::ONE)
}

pub(crate) fn any(c: &mut Circuits, bits: Vec<Bit>) -> Bit {
    let not: Vec<Bit> = bits.into_iter().map(|bit| c.not(bit)).collect();
    let none = all(c, not);
    c.not(none)
}

/// Selects `yes` if the condition is 1, else `no`.
pub(crate) fn choose(c: &mut Circuits, condition: Bit, yes: Bit, no: Bit) -> Bit {
    let differ = c.xor(yes, no);
    let change = c.and(condition, differ);
    c.xor(no, change)
}

pub(crate) fn choose_byte(c: &mut Circuits, condition: Bit, yes: Byte, no: Byte) -> Byte {
    core::array::from_fn(|i| choose(c, condition, yes[i], no[i]))
}

/// The byte, or 0 if the condition is 0.
pub(crate) fn kept(c: &mut Circuits, condition: Bit, byte: Byte) -> Byte {
    byte.map(|bit| c.and(condition, bit))
}

/// Whether two bytes are equal.
pub(crate) fn equal(c: &mut Circuits, a: Byte, b: Byte) -> Bit {
    let same: Vec<Bit> = a
        .iter()
        .zip(b)
        .map(|(a, b)| {
            let differ = c.xor(*a, b);
            c.not(differ)
        })
        .collect();
    all(c, same)
}

/// Whether the byte is part of the string, which means that it is not 0.
pub(crate) fn is_some(c: &mut Circuits, byte: Byte) -> Bit {
    any(c, byte.to_vec())
}

/// Whether a UTF-8 character begins here: the byte is neither a continuation byte nor padding.
pub(crate) fn begins(c: &mut Circuits, byte: Byte) -> Bit {
    let not = c.not(byte[6]);
    let continues = c.and(byte[7], not);
    let some = is_some(c, byte);
    // A continuation byte is not 0.
    c.xor(some, continues)
}

/// Whether a byte is among public ones.
pub(crate) fn among(c: &mut Circuits, byte: Byte, set: &[u8]) -> Bit {
    let each = set.iter().map(|of| equal(c, byte, letter(*of))).collect();
    any(c, each)
}

/// Moves the bytes `places` places to the front, if the condition is 1.
pub(crate) fn to_front<const N: usize>(
    c: &mut Circuits,
    text: &[[Bit; N]],
    places: usize,
    condition: Bit,
) -> Vec<[Bit; N]> {
    let moved = |k: usize| text.get(k + places).copied().unwrap_or([Bit::ZERO; N]);
    (0..text.len()).map(|k| core::array::from_fn(|i| choose(c, condition, moved(k)[i], text[k][i]))).collect()
}

/// Moves the bytes `places` places to the back, if the condition is 1.
pub(crate) fn to_back(c: &mut Circuits, text: &[Byte], places: usize, condition: Bit) -> Vec<Byte> {
    let moved = |k: usize| k.checked_sub(places).map_or(NOTHING, |k| text[k]);
    (0..text.len()).map(|k| choose_byte(c, condition, moved(k), text[k])).collect()
}

/// The sum of two numbers, one bit wider than the wider one.
pub(crate) fn add(c: &mut Circuits, a: &[Bit], b: &[Bit], mut carry: Bit) -> Vec<Bit> {
    let bit = |of: &[Bit], i: usize| of.get(i).copied().unwrap_or(Bit::ZERO);
    let mut sum = vec![];
    for i in 0..a.len().max(b.len()) {
        let (x, y) = (c.xor(bit(a, i), carry), c.xor(bit(b, i), carry));
        sum.push(c.xor(bit(a, i), y));
        let both = c.and(x, y);
        carry = c.xor(both, carry);
    }
    sum.push(carry);
    sum
}

/// The number of bits that are 1.
pub(crate) fn count(c: &mut Circuits, bits: &[Bit]) -> Vec<Bit> {
    match bits {
        [] => vec![Bit::ZERO],
        [one] => vec![*one],
        _ => {
            let (a, b) = bits.split_at(bits.len() / 2);
            let (a, b) = (count(c, a), count(c, b));
            add(c, &a, &b, Bit::ZERO)
        }
    }
}

/// For each bit, the number of bits up to and including it that are 1.
pub(crate) fn counts(c: &mut Circuits, bits: &[Bit]) -> Vec<Vec<Bit>> {
    let width = usize::BITS as usize - bits.len().leading_zeros() as usize;
    let mut so_far = vec![Bit::ZERO; width];
    bits.iter()
        .map(|bit| {
            let mut sum = add(c, &so_far, &[*bit], Bit::ZERO);
            sum.truncate(width);
            so_far.clone_from(&sum);
            sum
        })
        .collect()
}

/// Whether one unsigned number is below another.
pub(crate) fn below(c: &mut Circuits, a: &[Bit], b: &[Bit]) -> Bit {
    let width = a.len().max(b.len());
    let not: Vec<Bit> =
        (0..width).map(|i| b.get(i).copied().unwrap_or(Bit::ZERO)).map(|bit| c.not(bit)).collect();
    // a + ¬b + 1 has a carry if a ≥ b.
    let sum = add(c, a, &not, Bit::ONE);
    c.not(sum[width])
}

/// Moves the kept bytes to the front: each moves by the number of dropped bytes before it.
pub(crate) fn packed(c: &mut Circuits, text: &[Byte], keep: &[Bit]) -> Vec<Byte> {
    let dropped: Vec<Bit> = keep.iter().map(|bit| c.not(*bit)).collect();
    let places = counts(c, &dropped);
    let width = places.first().map_or(0, Vec::len);
    let mut items: Vec<(Byte, Vec<Bit>)> = vec![];
    for ((byte, keep), place) in text.iter().zip(keep).zip(places) {
        let place = place.into_iter().map(|bit| c.and(*keep, bit)).collect();
        items.push((kept(c, *keep, *byte), place));
    }
    // The steps go from the lowest bit on, so that two kept bytes never collide.
    for bit in 0..width {
        let step = 1 << bit;
        let nothing = (NOTHING, vec![Bit::ZERO; width]);
        let was = items.clone();
        for (k, item) in items.iter_mut().enumerate() {
            let stays = c.not(was[k].1[bit]);
            let (next, next_place) = was.get(k + step).unwrap_or(&nothing);
            let comes = next_place[bit];
            let byte = core::array::from_fn(|i| {
                let (a, b) = (c.and(stays, was[k].0[i]), c.and(comes, next[i]));
                c.xor(a, b)
            });
            let place = (0..width)
                .map(|i| {
                    let (a, b) = (c.and(stays, was[k].1[i]), c.and(comes, next_place[i]));
                    c.xor(a, b)
                })
                .collect();
            *item = (byte, place);
        }
    }
    items.into_iter().map(|(byte, _)| byte).collect()
}

/// The bytes without a set's bytes at their front.
pub(crate) fn front_trimmed(c: &mut Circuits, text: &[Byte], set: &[u8]) -> Vec<Byte> {
    let mut flagged: Vec<[Bit; 9]> = vec![];
    for byte in text {
        let is = among(c, *byte, set);
        flagged.push(core::array::from_fn(|i| if i < 8 { byte[i] } else { is }));
    }
    // After a step, fewer than this many such bytes remain at the front.
    let mut step = text.len().next_power_of_two();
    while step > 0 {
        if step <= text.len() {
            let first = all(c, flagged[..step].iter().map(|byte| byte[8]).collect());
            flagged = to_front(c, &flagged, step, first);
        }
        step /= 2;
    }
    flagged.into_iter().map(|byte| core::array::from_fn(|i| byte[i])).collect()
}

/// The bytes without a set's bytes at their end.
pub(crate) fn end_trimmed(c: &mut Circuits, text: &[Byte], set: &[u8]) -> Vec<Byte> {
    let mut made = text.to_vec();
    let mut drops = Bit::ONE;
    for byte in made.iter_mut().rev() {
        let (is, some) = (among(c, *byte, set), is_some(c, *byte));
        let none = c.not(some);
        let may = c.xor(is, none);
        drops = c.and(drops, may);
        let keep = c.not(drops);
        *byte = kept(c, keep, *byte);
    }
    made
}

/// Joins two strings, in `bytes` bytes.
pub(crate) fn joined(c: &mut Circuits, first: &[Byte], second: &[Byte], bytes: usize) -> Vec<Byte> {
    let some: Vec<Bit> = first.iter().map(|byte| is_some(c, *byte)).collect();
    let length = count(c, &some);
    let mut moved = second.to_vec();
    moved.resize(bytes, NOTHING);
    for (bit, condition) in length.iter().enumerate() {
        moved = to_back(c, &moved, 1 << bit.min(16), *condition);
    }
    for (k, byte) in first.iter().enumerate() {
        moved[k] = core::array::from_fn(|i| c.xor(byte[i], moved[k][i]));
    }
    moved
}

/// The places where a public string occurs in a string, found from the front, without overlaps.
pub(crate) fn occurrences(c: &mut Circuits, text: &[Byte], of: &[u8]) -> Vec<Bit> {
    let mut at: Vec<Bit> = vec![];
    for k in 0..text.len() {
        if k + of.len() > text.len() {
            at.push(Bit::ZERO);
            continue;
        }
        let same = of.iter().enumerate().map(|(i, byte)| equal(c, text[k + i], letter(*byte))).collect();
        let found = all(c, same);
        let before = any(c, at[(k + 1).saturating_sub(of.len())..].to_vec());
        let free = c.not(before);
        at.push(c.and(found, free));
    }
    at
}

/// The bytes that occurrences of a length cover.
pub(crate) fn covered(c: &mut Circuits, at: &[Bit], length: usize) -> Vec<Bit> {
    let one = |k: usize| at[(k + 1).saturating_sub(length)..=k].to_vec();
    (0..at.len()).map(one).map(|bits| any(c, bits)).collect()
}

/// Changes case: ASCII letters, and Latin-1 letters in UTF-8.
pub(crate) fn in_case(c: &mut Circuits, text: &[Byte], upper: bool) -> Vec<Byte> {
    let mut before = NOTHING;
    let mut made = vec![];
    for byte in text {
        let five: Vec<Bit> = byte[..5].to_vec();
        // ASCII letters are 1 to 26 after 0x40 or 0x60.
        let (low, high) = (constant(1, 5), constant(27, 5));
        let (too_low, below_end) = (below(c, &five, &low), below(c, &five, &high));
        let not_low = c.not(too_low);
        let is_letter = c.and(not_low, below_end);
        let no_eighth = c.not(byte[7]);
        let is_ascii = c.and(byte[6], no_eighth);
        let ascii = c.and(is_letter, is_ascii);
        // Latin-1 letters follow 0xc3: they are 0x80 or 0xa0 plus 0 to 30 without 23.
        let behind = equal(c, before, letter(0xc3));
        let not_six = c.not(byte[6]);
        let continues = c.and(byte[7], not_six);
        let (last, sign) = (all(c, five.clone()), constant_equal(c, &five, 23));
        let other = or(c, last, sign);
        let is_other = c.not(other);
        let latin = all(c, vec![behind, continues, is_other]);
        let has_case = or(c, ascii, latin);
        let turns = if upper { byte[5] } else { c.not(byte[5]) };
        let flip = c.and(has_case, turns);
        let mut next = *byte;
        next[5] = c.xor(next[5], flip);
        made.push(next);
        before = *byte;
    }
    made
}

/// A public number's bits.
pub(crate) fn constant(n: u64, bits: usize) -> Vec<Bit> {
    (0..bits).map(|i| Bit::constant(n >> i & 1 == 1)).collect()
}

fn constant_equal(c: &mut Circuits, bits: &[Bit], n: u64) -> Bit {
    let same = bits.iter().enumerate().map(|(i, bit)| if n >> i & 1 == 1 { *bit } else { c.not(*bit) });
    let same = same.collect();
    all(c, same)
}

/// The decimal digits of an unsigned number, the highest first.
pub(crate) fn digits(c: &mut Circuits, number: &[Bit], most: usize) -> Vec<[Bit; 4]> {
    let mut digits = vec![[Bit::ZERO; 4]; most];
    for (at, bit) in number.iter().rev().enumerate() {
        // After n bits, only the digits that n bits can have are not 0.
        let used = (at * 31 / 100 + 2).min(most);
        let mut carry = *bit;
        for digit in &mut digits[..used] {
            // A digit of 5 or more, doubled, exceeds 9; adding 3 before makes the carry.
            let [a, b, d, e] = *digit;
            let ab = or(c, a, b);
            let middle = c.and(d, ab);
            let large = or(c, e, middle);
            let three = [large, large];
            let sum = add(c, &[a, b, d, e], &three, Bit::ZERO);
            *digit = [carry, sum[0], sum[1], sum[2]];
            carry = sum[3];
        }
    }
    digits.reverse();
    digits
}

/// A digit as a byte.
pub(crate) fn digit_byte(digit: [Bit; 4]) -> Byte {
    let [a, b, d, e] = digit;
    [a, b, d, e, Bit::ONE, Bit::ONE, Bit::ZERO, Bit::ZERO]
}

/// Whether two unsigned numbers are equal.
pub(crate) fn equal_bits(c: &mut Circuits, a: &[Bit], b: &[Bit]) -> Bit {
    let bit = |of: &[Bit], i: usize| of.get(i).copied().unwrap_or(Bit::ZERO);
    let same: Vec<Bit> = (0..a.len().max(b.len()))
        .map(|i| {
            let differ = c.xor(bit(a, i), bit(b, i));
            c.not(differ)
        })
        .collect();
    all(c, same)
}
