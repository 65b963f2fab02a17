use super::*;
use hushwire_prg::{Prg, Seed};
use proptest::prelude::*;

struct Group {
    owner: SignKey,
    parties: [OpenKey; 3],
}

impl Group {
    fn new() -> Self {
        Self { owner: SignKey::generate(), parties: [0; 3].map(|_: u8| OpenKey::generate()) }
    }

    fn to(&self) -> [SealTo; 3] {
        self.parties.each_ref().map(OpenKey::public)
    }

    fn description(&self, bits: &[u32]) -> DataDescription {
        let inputs = bits.iter().enumerate();
        DataDescription {
            name: "stays".to_owned(),
            line: None,
            version: 1,
            group: "demo".to_owned(),
            schema: vec![SchemaColumn {
                name: "age".to_owned(),
                ty: "BIGINT".to_owned(),
                nullable: false,
                min: Some(0),
                max: Some(120),
                ascii: false,
            }],
            keys: vec![vec!["age".to_owned()]],
            inputs: inputs.map(|(i, bits)| StoredColumn::of_table(format!("c{i}"), *bits)).collect(),
            created: 1_700_000_000,
            expires: None,
        }
    }

    /// Deals a data set with these rows. `value` gives the planes of an input in a part.
    fn deal(
        &self,
        bits: &[u32],
        rows: u64,
        mut value: impl FnMut(u64, usize, usize) -> Vec<u8>,
    ) -> (DealtData, Vec<[Vec<u8>; 3]>) {
        let description = self.description(bits);
        let inputs = description.inputs.clone();
        let mut dealer = Dealer::new(description, self.to()).unwrap_or_else(|e| panic!("{e}"));
        let parts = (0..rows.div_ceil(PART_ROWS)).map(|part| {
            let here = (rows - part * PART_ROWS).min(PART_ROWS);
            let values = inputs.iter().enumerate();
            let values = values.map(|(i, c)| value(part, i, c.bytes(rows, part) as usize).into()).collect();
            dealer.part(here, values).unwrap_or_else(|e| panic!("{e}"))
        });
        let parts = parts.collect();
        (dealer.finish(rows, &self.owner).unwrap_or_else(|e| panic!("{e}")), parts)
    }

    /// Deals arrays of these lengths, with 3 bits for each element.
    fn deal_arrays(&self, lengths: &[&[u64]]) -> (DealtData, Vec<[Vec<u8>; 3]>) {
        let dealer = self.arrays(lengths).unwrap_or_else(|e| panic!("{e}"));
        let inputs = dealer.description.inputs.clone();
        let longest = longest(&inputs, 0);
        let mut dealer = dealer;
        let parts = (0..longest.div_ceil(PART_ROWS)).map(|part| {
            let here = (longest - part * PART_ROWS).min(PART_ROWS);
            let values = inputs.iter().enumerate();
            let values =
                values.map(|(i, c)| array_value(part, i, c.bytes(0, part) as usize).into()).collect();
            dealer.part(here, values).unwrap_or_else(|e| panic!("{e}"))
        });
        let parts = parts.collect();
        (dealer.finish(longest, &self.owner).unwrap_or_else(|e| panic!("{e}")), parts)
    }

    fn arrays(&self, lengths: &[&[u64]]) -> Result<Dealer, SealError> {
        let array =
            |(i, lengths): (usize, &&[u64])| StoredColumn::array(format!("a{i}"), 3, lengths.to_vec());
        let inputs = lengths.iter().enumerate().map(array).collect();
        Dealer::new(DataDescription { inputs, ..self.description(&[1]) }, self.to())
    }

    fn open(&self, dealt: &DealtData, party: usize) -> OpenedData {
        let manifest = dealt.signed.manifest();
        OpenedData::new(&self.parties[party], manifest, party, &dealt.envelopes[party])
            .unwrap_or_else(|e| panic!("{e}"))
    }
}

/// The planes of an array in a part.
fn array_value(part: u64, input: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 7 + input * 31 + part as usize) as u8).collect()
}

/// A party's two shares of an input, expanded as a party of `hushwire_rep3` does.
fn shares(opened: &OpenedData, part: u64, input: usize, plain: &[u8], bytes: usize) -> [Vec<u8>; 2] {
    let place = opened.places(part)[input].clone();
    let e = ((part % 3) as usize + input) % 3;
    [0, 1].map(|s| {
        if (opened.party + s) % 3 == e {
            let place = place.clone().expect("its holders are given it");
            return plain[place].to_vec();
        }
        let seed = opened.seeds[16 * s..16 * (s + 1)].try_into().expect("16 bytes");
        let context = [(part as u32).to_le_bytes(), (input as u32).to_le_bytes()].concat();
        let seed = Seed::from_bytes(seed).derive("hushwire job input v1", &context);
        let mut grown = vec![0; bytes];
        Prg::new(Backend::best(), &seed, "planes").fill(&mut grown);
        grown
    })
}

/// Opens all parts at each party, and compares the sums of the shares with the values.
fn check_sums(
    group: &Group,
    dealt: &DealtData,
    parts: &[[Vec<u8>; 3]],
    value: impl Fn(u64, usize, usize) -> Vec<u8>,
) {
    let signed = SignedManifest::read(dealt.signed.text().as_bytes(), dealt.signed.signature());
    assert_eq!(signed.as_ref(), Ok(&dealt.signed));
    let manifest = dealt.signed.manifest();
    let columns = manifest.columns();
    let opened = [0, 1, 2].map(|party| group.open(dealt, party));
    for (part, sealed) in (0u64..).zip(parts) {
        let plain = [0, 1, 2].map(|party| {
            assert_eq!(sealed[party].len() as u64, manifest.part_bytes(party, part));
            opened[party].part(part, sealed[party].clone()).unwrap_or_else(|e| panic!("{e}"))
        });
        for (input, column) in manifest.inputs.iter().enumerate() {
            let bytes = column.bytes(manifest.padded, part) as usize;
            assert_eq!(bytes, columns[input].bytes(part as u32), "as runs take it");
            let held = [0, 1, 2].map(|p| shares(&opened[p], part, input, &plain[p], bytes));
            let mut sum = vec![0; bytes];
            for party in 0..3 {
                assert!(held[party][1] == held[(party + 1) % 3][0], "two parties hold one share alike");
                sum.iter_mut().zip(&held[party][0]).for_each(|(sum, share)| *sum ^= share);
            }
            assert!(sum == value(part, input, bytes), "part {part}, input {input}");
        }
    }
}

fn check_deal(bits: &[u32], rows: u64, seed: u64) {
    let group = Group::new();
    let value = |part: u64, input: usize, bytes: usize| -> Vec<u8> {
        let at = seed ^ (part << 32) ^ (input as u64) << 16;
        (0..bytes).map(|i| ((i as u64 ^ at).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
    };
    let (dealt, parts) = group.deal(bits, rows, value);
    check_sums(&group, &dealt, &parts, value);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn shares_add_up(bits in proptest::collection::vec(1u32..70, 1..5), rows in 1u64..400, seed: u64) {
        check_deal(&bits, rows, seed);
    }
}

#[test]
fn shares_of_several_parts_add_up() {
    check_deal(&[1, 3, 1, 2], 2 * PART_ROWS + 77, 5);
    check_deal(&[1], PART_ROWS, 6);
}

/// Arrays have different lengths, as in a model. An array that has ended has nothing in later
/// parts.
#[test]
fn shares_of_arrays_add_up_part_by_part() {
    let group = Group::new();
    let lengths: [&[u64]; 4] = [&[3, 7], &[], &[2, PART_ROWS], &[1, PART_ROWS + 13]];
    let (dealt, parts) = group.deal_arrays(&lengths);
    let manifest = dealt.signed.manifest();
    assert_eq!((manifest.part_count(), parts.len()), (2, 2));
    assert_eq!((manifest.rows, manifest.padded), (1, 1), "a single element counts as one row");
    let columns = manifest.columns();
    assert!(columns.iter().zip(lengths).all(|(column, lengths)| column.lengths == lengths));
    check_sums(&group, &dealt, &parts, array_value);
}

/// The rows that policies count follow from the arrays, and not from the owner's claim.
#[test]
fn arrays_have_the_rows_that_their_lengths_say_and_no_others() {
    let group = Group::new();
    let (dealt, parts) = group.deal_arrays(&[&[6, 4], &[5], &[9, 2]]);
    let manifest = dealt.signed.manifest();
    assert_eq!((manifest.rows, manifest.padded), (5, 5), "the least first axis");
    type Change = fn(&mut Manifest);
    let changes: [(&str, Change); 6] = [
        ("more rows", |m| (m.rows, m.padded) = (500, 500)),
        ("padding", |m| m.padded = 6),
        ("a table's column among them", |m| m.inputs[1].lengths = None),
        ("no elements", |m| m.inputs[0].lengths = Some(vec![6, 0])),
        ("too many elements", |m| m.inputs[0].lengths = Some(vec![6, 1 << 40])),
        ("elements beyond all numbers", |m| m.inputs[0].lengths = Some(vec![1 << 40; 3])),
    ];
    for (what, change) in changes {
        let mut manifest = manifest.clone();
        change(&mut manifest);
        let text = crate::canonical(&manifest).expect("JSON");
        let signature = group.owner.sign(crate::domain::DATA, text.as_bytes());
        let error = SignedManifest::read(text.as_bytes(), signature).err();
        assert!(
            matches!(error, Some(SealError::Format { .. } | SealError::Data { .. })),
            "{what}: {error:?}"
        );
    }
    // A part is bound to the lengths, and not only to the number of elements.
    let mut turned = manifest.clone();
    turned.inputs[0].lengths = Some(vec![4, 6]);
    turned.rows = 4;
    turned.padded = 4;
    turned.check().unwrap_or_else(|e| panic!("{e}"));
    let opened = group.open(&dealt, 0);
    let moved = OpenedData::from_bytes(&turned, 0, &opened.to_bytes()[..]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        moved.part(0, parts[0][0].clone()).err(),
        Some(SealError::changed("part 0 of the data set \"stays\""))
    );
    let mut dealer = group.arrays(&[&[4], &[9]]).unwrap_or_else(|e| panic!("{e}"));
    assert!(dealer.part(8, vec![vec![0; 3].into(), vec![0; 6].into()]).is_err(), "a part without its end");
    assert!(dealer.finish(9, &group.owner).is_err(), "parts are missing");
    assert!(group.arrays(&[&[0]]).is_err());
}

#[test]
fn a_worker_takes_what_the_envelope_had() {
    let group = Group::new();
    let (dealt, parts) = group.deal(&[8, 8, 8], 30, |_, i, bytes| vec![i as u8; bytes]);
    let opened = group.open(&dealt, 1);
    let again = OpenedData::from_bytes(dealt.signed.manifest(), 1, &opened.to_bytes()[..])
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(opened.seeds(), again.seeds());
    let plain = [opened, again].map(|opened| opened.part(0, parts[0][1].clone()).map(|p| p.to_vec()));
    assert!(plain[0].is_ok() && plain[0] == plain[1]);
    assert!(OpenedData::from_bytes(dealt.signed.manifest(), 1, &[0; 63]).is_err());
    assert!(OpenedData::from_bytes(dealt.signed.manifest(), 3, &[0; 64]).is_err());
}

#[test]
fn every_bit_of_a_manifest_and_its_signature_counts() {
    let group = Group::new();
    let (dealt, _) = group.deal(&[2], 9, |_, _, bytes| vec![7; bytes]);
    let (text, signature) = (dealt.signed.text().as_bytes(), dealt.signed.signature());
    for at in 0..text.len() {
        let mut changed = text.to_vec();
        changed[at] ^= 1 << (at % 7);
        assert!(SignedManifest::read(&changed, signature).is_err(), "byte {at}");
    }
    for bit in 0..512 {
        let mut changed = signature;
        changed.0[bit / 8] ^= 1 << (bit % 8);
        let error = SignedManifest::read(text, changed).err();
        assert_eq!(
            error,
            Some(SealError::Signature { what: "the manifest", key: group.owner.public() }),
            "bit {bit}"
        );
    }
    for at in 0..text.len() {
        assert!(SignedManifest::read(&text[..at], signature).is_err(), "{at} bytes");
    }
}

#[test]
fn a_manifest_that_its_owner_signed_must_still_make_sense() {
    let group = Group::new();
    let (dealt, _) = group.deal(&[2], 9, |_, _, bytes| vec![7; bytes]);
    type Change = fn(&mut Manifest);
    let changes: [(&str, Change); 14] = [
        ("format", |m| m.format = "hushwire data v2".to_owned()),
        ("no name", |m| m.name.clear()),
        ("a name with a line end", |m| m.name.push('\n')),
        ("version", |m| m.version = 0),
        ("more rows than are stored", |m| m.rows = 10),
        ("no rows", |m| (m.rows, m.padded) = (0, 0)),
        ("rows without parts", |m| m.padded = PART_ROWS + 1),
        ("a party less", |m| _ = m.envelopes.pop()),
        ("a party's parts", |m| _ = m.parts.pop()),
        ("a part less", |m| m.parts[2].clear()),
        ("no inputs", |m| m.inputs.clear()),
        ("no bits", |m| m.inputs[0].bits = 0),
        ("an unknown key", |m| m.keys[0][0] = "aged".to_owned()),
        ("an empty range", |m| m.schema[0].min = Some(121)),
    ];
    for (what, change) in changes {
        let mut manifest = dealt.signed.manifest().clone();
        change(&mut manifest);
        assert!(SignedManifest::sign(manifest.clone(), &group.owner).is_err(), "{what}");
        // A deviating owner would sign it in this way.
        let text = crate::canonical(&manifest).expect("JSON");
        let signature = group.owner.sign(crate::domain::DATA, text.as_bytes());
        let error = SignedManifest::read(text.as_bytes(), signature).err();
        assert!(
            matches!(error, Some(SealError::Format { .. } | SealError::Data { .. })),
            "{what}: {error:?}"
        );
    }
    let mut twice = dealt.signed.manifest().clone();
    twice.schema.push(twice.schema[0].clone());
    assert!(twice.check().is_err());
    let mut expired = dealt.signed.manifest().clone();
    expired.expires = Some(expired.created);
    assert!(expired.check().is_err());
    let other = SignKey::generate();
    assert!(SignedManifest::sign(dealt.signed.manifest().clone(), &other).is_err(), "another's key");
}

#[test]
fn changed_parts_and_envelopes_do_not_open() {
    let group = Group::new();
    let (dealt, parts) = group.deal(&[8, 8], PART_ROWS + 40, |_, _, bytes| vec![7; bytes]);
    let manifest = dealt.signed.manifest();
    let opened = group.open(&dealt, 0);
    let sealed = &parts[1][0];
    let changed = Some(SealError::changed("part 1 of the data set \"stays\""));
    for at in (0..sealed.len()).chain([0]) {
        let mut bits = sealed.clone();
        bits[at] ^= 1 << (at % 8);
        assert_eq!(opened.part(1, bits).err(), changed, "byte {at}");
    }
    assert_eq!(opened.part(1, sealed[1..].to_vec()).err(), changed);
    assert_eq!(
        opened.part(2, sealed.clone()).err().map(|e| e.fault().code()),
        changed.as_ref().map(|e| e.fault().code())
    );
    // An owner names another part, or other columns, in a manifest that it signs.
    let moved = |change: fn(&mut Manifest), number: u64, sealed: &Vec<u8>| {
        let mut manifest = manifest.clone();
        change(&mut manifest);
        let opened = OpenedData::from_bytes(&manifest, 0, &opened.to_bytes()[..]);
        opened.unwrap_or_else(|e| panic!("{e}")).part(number, sealed.clone()).err()
    };
    assert_eq!(moved(|_| {}, 1, sealed), None);
    assert_eq!(
        moved(|m| m.parts[0].swap(0, 1), 0, sealed),
        Some(SealError::changed("part 0 of the data set \"stays\""))
    );
    assert_eq!(moved(|m| m.inputs[0].bits = 9, 1, sealed), changed);
    assert_eq!(moved(|m| m.inputs[0].name.push('x'), 1, sealed), changed);
    assert_eq!(moved(|m| m.uid.0[0] ^= 1, 1, sealed), changed);
    // Envelopes of another party, another group and another data set, and changed ones.
    let open = |party: usize, key: usize, manifest: &Manifest, envelope: &[u8]| {
        OpenedData::new(&group.parties[key], manifest, party, envelope).err()
    };
    let refused = Some(SealError::changed("the envelope of the data set"));
    assert_eq!(open(0, 0, manifest, &dealt.envelopes[0]), None);
    assert_eq!(open(0, 0, manifest, &dealt.envelopes[1]), refused);
    assert_eq!(open(1, 0, manifest, &dealt.envelopes[1]), refused, "another party's key");
    assert_eq!(open(3, 0, manifest, &dealt.envelopes[0]), refused, "a party that there is not");
    let other_group = Manifest { group: "other".to_owned(), ..manifest.clone() };
    assert_eq!(open(0, 0, &other_group, &dealt.envelopes[0]), refused);
    let other_set = Manifest { uid: BlakeName::of(b"another"), ..manifest.clone() };
    assert_eq!(open(0, 0, &other_set, &dealt.envelopes[0]), refused);
    for at in (0..dealt.envelopes[0].len()).step_by(97) {
        let mut bits = dealt.envelopes[0].clone();
        bits[at] ^= 1;
        assert_eq!(open(0, 0, manifest, &bits), refused);
        // The result is the same if the owner names it.
        let mut named = manifest.clone();
        named.envelopes[0] = BlakeName::of(&bits);
        assert_eq!(open(0, 0, &named, &bits), refused);
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let group = Group::new();
    let dealer = || Dealer::new(group.description(&[8]), group.to()).unwrap_or_else(|e| panic!("{e}"));
    let planes = |bytes: usize| vec![vec![0; bytes].into()];
    assert!(dealer().part(10, planes(15)).is_err());
    assert!(dealer().part(10, vec![]).is_err());
    assert!(dealer().part(0, planes(0)).is_err());
    assert!(dealer().part(PART_ROWS + 1, planes(1)).is_err());
    assert!(dealer().finish(0, &group.owner).is_err(), "no rows");
    let mut ended = dealer();
    assert!(
        ended.part(10, planes(16)).is_ok() && ended.part(10, planes(16)).is_err(),
        "a part after the last"
    );
    assert!(ended.finish(11, &group.owner).is_err(), "more rows than were dealt");
    let mut twice = group.to();
    twice[1] = twice[0].clone();
    assert!(Dealer::new(group.description(&[8]), twice).is_err(), "one key for two parties");
    assert!(Dealer::new(group.description(&[0]), group.to()).is_err());
    assert!(Dealer::new(group.description(&[]), group.to()).is_err());
}

/// The χ² of bytes against the uniform distribution, in standard deviations from its mean of 255.
fn far_from_uniform(bytes: &[u8]) -> f64 {
    let mut counts = [0u64; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let mean = bytes.len() as f64 / 256.0;
    let chi: f64 = counts.iter().map(|count| (*count as f64 - mean).powi(2) / mean).sum();
    (chi - 255.0) / 510f64.sqrt()
}

#[test]
fn what_one_party_has_tells_nothing_of_known_data() {
    let group = Group::new();
    const NEEDLE: &[u8] = b"4711-0815";
    let known = |_: u64, input: usize, bytes: usize| match input {
        0 => vec![0; bytes],
        1 => vec![0xff; bytes],
        _ => NEEDLE.iter().copied().cycle().take(bytes).collect(),
    };
    let (dealt, parts) = group.deal(&[8, 8, 8], PART_ROWS + 4096, known);
    for party in 0..3 {
        let opened = group.open(&dealt, party);
        let mut has = vec![dealt.signed.text().as_bytes().to_vec(), dealt.envelopes[party].clone()];
        for (part, sealed) in (0..).zip(&parts) {
            let plain = opened.part(part, sealed[party].clone()).unwrap_or_else(|e| panic!("{e}"));
            for bytes in [&sealed[party][..], &plain[..]] {
                let far = far_from_uniform(bytes);
                assert!(far.abs() < 6.0, "party {party}, part {part}: {far} standard deviations");
            }
            has.extend([sealed[party].clone(), plain.to_vec()]);
        }
        for bytes in has {
            assert!(!bytes.windows(NEEDLE.len()).any(|window| window == NEEDLE), "party {party} has a value");
            assert!(!bytes.windows(12).any(|w| w == [0; 12] || w == [0xff; 12]), "party {party} has a value");
        }
    }
}
