//! The SQL function MD5.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive, by_owners,
    definition::as_call,
    text::{checked, of_texts, value, varchar},
};
use crate::algebra::Value;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["md5"],
    arity: 1..=1,
    usage: "MD5(text)",
    gives: "VARCHAR(32)",
    doc: "the digest MD5 of the text's bytes, in hexadecimal digits; whoever guesses a text can check the guess",
    example: "MD5(name)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&MD5, of_texts),
};

static MD5: Primitive = Primitive {
    name: "MD5",
    strict: true,
    by: ComputedBy::OwnerOnly,
    check: |operands| {
        checked(operands, 0)?;
        Ok(varchar(32))
    },
    plain: |_, values| {
        let digest = digest(value(&values, 0));
        Value::text(&digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    },
    lower: by_owners,
    shown: as_call,
};

/// The shifts of a round's steps (RFC 1321, 3.4).
const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The constants of the steps: the sines of 1 to 64, times 2^32 (RFC 1321, 3.4).
const SINES: [u32; 64] = [
    0xd76a_a478,
    0xe8c7_b756,
    0x2420_70db,
    0xc1bd_ceee,
    0xf57c_0faf,
    0x4787_c62a,
    0xa830_4613,
    0xfd46_9501,
    0x6980_98d8,
    0x8b44_f7af,
    0xffff_5bb1,
    0x895c_d7be,
    0x6b90_1122,
    0xfd98_7193,
    0xa679_438e,
    0x49b4_0821,
    0xf61e_2562,
    0xc040_b340,
    0x265e_5a51,
    0xe9b6_c7aa,
    0xd62f_105d,
    0x0244_1453,
    0xd8a1_e681,
    0xe7d3_fbc8,
    0x21e1_cde6,
    0xc337_07d6,
    0xf4d5_0d87,
    0x455a_14ed,
    0xa9e3_e905,
    0xfcef_a3f8,
    0x676f_02d9,
    0x8d2a_4c8a,
    0xfffa_3942,
    0x8771_f681,
    0x6d9d_6122,
    0xfde5_380c,
    0xa4be_ea44,
    0x4bde_cfa9,
    0xf6bb_4b60,
    0xbebf_bc70,
    0x289b_7ec6,
    0xeaa1_27fa,
    0xd4ef_3085,
    0x0488_1d05,
    0xd9d4_d039,
    0xe6db_99e5,
    0x1fa2_7cf8,
    0xc4ac_5665,
    0xf429_2244,
    0x432a_ff97,
    0xab94_23a7,
    0xfc93_a039,
    0x655b_59c3,
    0x8f0c_cc92,
    0xffef_f47d,
    0x8584_5dd1,
    0x6fa8_7e4f,
    0xfe2c_e6e0,
    0xa301_4314,
    0x4e08_11a1,
    0xf753_7e82,
    0xbd3a_f235,
    0x2ad7_d2bb,
    0xeb86_d391,
];

/// The digest of RFC 1321. It has no security role here: it gives texts the names that other
/// systems give them.
fn digest(text: &[u8]) -> [u8; 16] {
    let mut padded = text.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() < text.len() + 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let length = padded.len() - 8;
    padded[length..].copy_from_slice(&(8 * text.len() as u64).to_le_bytes());
    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded.chunks_exact(64) {
        let word = |k: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| block[4 * k + byte]));
        let [mut a, mut b, mut c, mut d] = state;
        for step in 0..64 {
            let (mixed, k) = match step / 16 {
                0 => (b & c | !b & d, step),
                1 => (d & b | !d & c, (5 * step + 1) % 16),
                2 => (b ^ c ^ d, (3 * step + 5) % 16),
                _ => (c ^ (b | !d), 7 * step % 16),
            };
            let sum = a.wrapping_add(mixed).wrapping_add(SINES[step]).wrapping_add(word(k));
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[step / 16][step % 4]));
        }
        state = [(state[0], a), (state[1], b), (state[2], c), (state[3], d)].map(|(x, y)| x.wrapping_add(y));
    }
    let mut made = [0; 16];
    for (bytes, word) in made.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    made
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{ColumnType, Expr, Value},
        functions::tests::in_open,
    };

    /// The test vectors of RFC 1321, A.5.
    #[test]
    fn digests_are_those_of_the_standard() {
        let of = |text: &str| in_open("md5", vec![Expr::literal(Value::text(text), ColumnType::Varchar(99))]);
        let eighty = "1234567890".repeat(8);
        for (text, digest) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            (
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "d174ab98d277d9f5a5611c2c9f419d9f",
            ),
            (&eighty, "57edf4a22be3c955ac49da2e2107b67a"),
        ] {
            assert_eq!(of(text), Value::text(digest), "{text}");
        }
    }
}
