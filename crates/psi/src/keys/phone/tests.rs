use super::*;
use crate::{KeyColumn, KeySpec, Normal, TableKeys};
use proptest::prelude::*;
use std::path::Path;

fn phone(code: &str) -> Phone {
    code.parse().unwrap_or_else(|e| panic!("{e}"))
}

/// The number in its form, or nothing.
fn formed(phone: Phone, field: &str) -> Option<String> {
    let mut out = String::new();
    let formed = phone.apply(field, &mut out);
    assert_eq!(formed == Formed::Text, !out.is_empty(), "{field:?}");
    (formed == Formed::Text).then_some(out)
}

#[test]
fn numbers_are_written_with_their_country() {
    for (code, field, expected) in [
        ("49", "+49 30 123456", "+4930123456"),
        ("49", "0049-30-123456", "+4930123456"),
        ("49", "030 / 12 34 56", "+4930123456"),
        ("49", "(030) 123456", "+4930123456"),
        ("49", "+49 (0)30 123456", "+4930123456"),
        ("49", "0049 (0)30 123456", "+4930123456"),
        ("49", "+49 030 123456", "+4930123456"),
        ("49", "(+49) 30 123456", "+4930123456"),
        ("49", "30123456", "+4930123456"),
        // As spreadsheets and links write numbers.
        ("49", "30123456.0", "+4930123456"),
        ("1", "2025550123.0", "+12025550123"),
        ("49", "+4930123456.0", "+4930123456"),
        ("49", "tel:+49-30-123456", "+4930123456"),
        ("49", "Tel: 030 123456", "+4930123456"),
        ("49", "+1 202 555 0123", "+12025550123"),
        ("1", "(202) 555-0123", "+12025550123"),
        ("1", "1-202-555-0123", "+12025550123"),
        ("1", "011 49 30 123456", "+4930123456"),
        ("1", "0049 30 123456", "+4930123456"),
        ("1", "0044 020 7946 0000", "+442079460000"),
        ("39", "06 1234 5678", "+390612345678"),
        ("39", "+39 (0)6 1234567", "+39061234567"),
        ("39", "391 231 2312", "+393912312312"),
        ("379", "06 698 12345", "+390669812345"),
        ("7", "8 (495) 123-45-67", "+74951234567"),
        ("44", "020 7946 0000", "+442079460000"),
        // A country's own prefix for calls abroad, and 00 where that is not it.
        ("61", "0011 49 30 123456", "+4930123456"),
        ("61", "0049 30 123456", "+4930123456"),
        ("61", "0011 20 2 25550123", "+20225550123"),
        ("81", "010 49 30 123456", "+4930123456"),
        // The 0 in front belongs to the number.
        ("225", "07 08 12 34 56", "+2250708123456"),
        ("225", "00225 07 08 12 34 56", "+2250708123456"),
        ("229", "01 95 01 23 45", "+2290195012345"),
        ("242", "06 123 4567", "+242061234567"),
        // National prefixes other than 0.
        ("993", "8 66 12 34 56", "+99366123456"),
        ("36", "06 1 234 5678", "+3612345678"),
        ("36", "+36 (06) 1 234 5678", "+3612345678"),
        ("370", "8 612 34567", "+37061234567"),
        // A mobile number in the national form has 15 where the international form has 9.
        ("54", "011 15-2345-6789", "+5491123456789"),
        ("54", "+54 9 11 2345 6789", "+5491123456789"),
        // (0) in a country that puts no 0 in front.
        ("34", "+34 (0)912 345 678", "+34912345678"),
        ("34", "+34 ( 0 ) 912 345 678", "+34912345678"),
        ("34", "0034 [0] 912 345 678", "+34912345678"),
        ("45", "+45 [0]32 12 34 56", "+4532123456"),
        ("47", "+47\u{a0}(\u{a0}0)\u{a0}21 23 45 67", "+4721234567"),
        ("34", "+34 (0 912 345 678", ""),
        // Digits, hyphens and blanks of other scripts, and characters without width.
        (
            "49",
            "\u{ff0b}\u{ff14}\u{ff19}\u{3000}\u{ff13}\u{ff10}\u{ff0d}\u{ff11}\u{ff12}\u{ff13}\u{ff14}\u{ff15}\u{ff16}",
            "+4930123456",
        ),
        ("20", "\u{660}\u{662} \u{662}\u{663}\u{664}\u{665}\u{666}\u{667}\u{668}\u{669}", "+20223456789"),
        ("49", "\u{202a}+49\u{202f}30\u{2011}123456\u{202c}", "+4930123456"),
        ("49", "12", ""),
        ("49", "-", ""),
        ("49", "+", ""),
        ("49", "030 123456 x7", ""),
        ("49", "030 123456 ext. 12", ""),
        ("49", "030 123456;ext=12", ""),
        ("49", "030 123456#12", ""),
        ("49", "030 123456,12", ""),
        ("1", "1-800-FLOWERS", ""),
        ("49", "ask Ann", ""),
        ("49", "030 123456 ask Ann", ""),
        ("49", "+49 30 + 1", ""),
        ("49", "++49 30 123456", ""),
        ("49", "(++49) 30 123456", ""),
        ("49", "0+30 123456", ""),
        ("49", "030 12345\u{b2}", ""),
        ("49", "030 12345\u{2464}", ""),
        ("49", "+1234567890123456", ""),
        ("49", "+0301234567", ""),
        ("49", "00", ""),
        // No plan has them: an old number of eight digits, and a code that is nobody's.
        ("225", "08 12 34 56", ""),
        ("39", "+379 06 698 12345", ""),
        ("49", "+11 202 555 0123", "+12025550123"),
        // +1 (120) … or Egypt's (20): no number of the United States begins with +11.
        ("1", "0011 202 555 0123", ""),
        // With the code and no +: a mobile number, or one of the place whose code is 04915.
        ("49", "4915123456789", ""),
        ("49", "4930123456", "+4930123456"),
        ("47", "47 22 12 34 56", "+4722123456"),
        // Thailand's, dialled by a carrier from Singapore (004), or Austria's behind 00: valid both
        // ways.
        ("65", "00431234567890", ""),
    ] {
        assert_eq!(formed(phone(code), field).as_deref().unwrap_or_default(), expected, "+{code}: {field}");
    }
    let mut out = "left over".to_owned();
    out.clear();
    assert_eq!(phone("49").apply("", &mut out), Formed::Empty);
}

struct Region {
    name: String,
    phone: Phone,
    abroad: Option<String>,
    /// E.164, national, international.
    numbers: Vec<[String; 3]>,
}

/// The regions and their numbers, as another implementation of the same plans writes them.
fn examples() -> Vec<Region> {
    let mut regions: Vec<Region> = vec![];
    for line in include_str!("examples.tsv").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<_> = line.split('\t').collect();
        let [a, b, c] = fields.as_slice() else { panic!("{line}") };
        match (a.starts_with('+'), regions.last_mut()) {
            (true, Some(region)) => region.numbers.push([a, b, c].map(|field| (*field).to_owned())),
            _ => {
                let abroad = (*c != "-").then(|| (*c).to_owned());
                regions.push(Region { name: (*a).to_owned(), phone: phone(b), abroad, numbers: vec![] });
            }
        }
    }
    assert!(regions.len() > 240, "the file has all regions");
    regions
}

/// In a column of its country every number is itself, whichever way it is written.
#[test]
fn every_form_of_a_number_is_one_key() {
    for region in examples() {
        for [e164, national, international] in &region.numbers {
            let digits = &e164[1..];
            let abroad = region.abroad.as_deref().unwrap_or("00");
            for written in [
                e164.clone(),
                national.clone(),
                international.clone(),
                format!("00{digits}"),
                format!("00 {}", &international[1..]),
                format!("{abroad} {digits}"),
            ] {
                let key = formed(region.phone, &written);
                assert_eq!(key.as_ref(), Some(e164), "{}: {written}", region.name);
            }
        }
    }
}

/// In a column of any other country a number is itself or malformed, and malformed only where it is
/// valid as two different ones.
/// Numbers of all countries, written in every `step`-th country.
fn numbers_of_other_countries(step: usize) {
    let regions = examples();
    let (mut all, mut refused) = (0, 0);
    for home in regions.iter().step_by(step) {
        for [e164, _, _] in regions.iter().flat_map(|region| &region.numbers) {
            assert_eq!(formed(home.phone, e164).as_ref(), Some(e164), "{}", home.name);
            let digits = &e164[1..];
            for written in
                [Some(format!("00{digits}")), home.abroad.as_ref().map(|abroad| format!("{abroad}{digits}"))]
            {
                let Some(written) = written else { continue };
                all += 1;
                let Some(key) = formed(home.phone, &written) else {
                    refused += 1;
                    let readings =
                        [written.clone(), format!("+{}", &written[2..])].map(|text| home.phone.valid(&text));
                    let [Some(a), Some(b)] = readings else { panic!("{}: {written} of {e164}", home.name) };
                    assert_ne!(a, b, "{}: {written} of {e164}", home.name);
                    continue;
                };
                assert_eq!(&key, e164, "{}: {written}", home.name);
            }
        }
    }
    // Few homes may be those of most such numbers.
    let most = if step == 1 { 500 } else { 100 };
    assert!(refused * most < all, "{refused} of {all}");
}

#[test]
fn numbers_of_other_countries_are_theirs_or_nobodys() {
    numbers_of_other_countries(13);
}

#[test]
#[ignore = "a minute: run by --full"]
fn numbers_of_all_other_countries_are_theirs_or_nobodys() {
    numbers_of_other_countries(1);
}

#[test]
fn files_that_write_numbers_differently_have_the_same_keys() {
    for (code, a, b) in [
        ("phone:+225", "p\n\"07 08 12 34 56\"\n\"01 23 45 6789\"\n", "p\n+2250708123456\n+2250123456789\n"),
        ("phone:+39", "p\n\"+39 (0)6 1234567\"\n", "p\n+39061234567\n"),
    ] {
        let normal: Normal = code.parse().unwrap_or_else(|e| panic!("{e}"));
        let spec =
            KeySpec::new(vec![KeyColumn { name: "p".to_owned(), normal }]).unwrap_or_else(|e| panic!("{e}"));
        let keys = |csv: &str| {
            let keys = TableKeys::from_csv(Path::new("p.csv"), csv.as_bytes(), &spec)
                .unwrap_or_else(|e| panic!("{e}"));
            keys.each().map(|key| key.map(<[u8]>::to_vec)).collect::<Vec<_>>()
        };
        assert_eq!(keys(a), keys(b), "{code}");
        assert!(keys(a).iter().all(Option::is_some), "{code}");
    }
}

#[test]
fn columns_are_of_countries() {
    for text in ["+49", "49", "+1", "+379", "+998"] {
        let phone = phone(text);
        assert_eq!(phone.to_string(), format!("+{}", text.trim_start_matches('+')));
    }
    for text in ["", "+", "0", "+049", "++49", "999", "99999", "49x", "800", "979", "1000", "+2"] {
        assert!(text.parse::<Phone>().is_err(), "{text:?}");
    }
}

/// The library's version and the version of its plans are raised together.
#[test]
fn the_agreed_plans_are_those_of_the_library() {
    let manifest = include_str!("../../../../../Cargo.toml");
    assert!(
        manifest.contains("rlibphonenumber = \"=2.2.15\""),
        "set PLANS to those that the new version has"
    );
    assert_eq!(PLANS, "libphonenumber 9.0.42");
}

#[test]
fn long_fields_end_soon() {
    for field in ["\u{661}".repeat(1 << 20), "+".repeat(1 << 20), "(0)".repeat(1 << 18), " ".repeat(1 << 20)]
    {
        assert_eq!(formed(phone("49"), &field), None);
    }
}

/// A +, at most 3 digits of a country's code and the library's 17 of a national number.
const LONGEST: usize = 21;

/// A number with more digits than E.164 has, which a numbering plan allows, is a number.
#[test]
fn a_long_number_of_a_plan_is_a_number() {
    for text in ["0049201000000000000", "+49 201 000 000 000 000"] {
        let number = formed(phone("1"), text);
        assert_eq!(number.as_deref(), Some("+49201000000000000"), "{text}");
    }
}

proptest! {
    /// Any field is a number or malformed, and the form of a number is the number itself.
    #[test]
    fn any_text_is_a_number_or_none(
        text in prop_oneof![
            "\\PC{0,40}",
            ".{0,20}",
            "[+]?[-0-9 ()./]{0,25}",
            "[0-9\u{660}-\u{669}\u{ff10}-\u{ff19}+\u{ff0b}]{0,20}",
            "0(0|1)[0-9]{3,17}( ext. |;ext=|x|#|,)?[0-9]{0,3}",
        ],
        code in prop::sample::select(vec!["1", "7", "39", "49", "54", "55", "61", "65", "81", "82", "225", "379", "599"]),
    ) {
        if let Some(number) = formed(phone(code), &text) {
            // E.164 has 15 digits; German plans have numbers of 17 with their code.
            prop_assert!(number.len() <= LONGEST && number[1..].bytes().all(|c| c.is_ascii_digit()), "{number}");
            prop_assert_eq!(formed(phone(code), &number), Some(number));
        }
    }
}
