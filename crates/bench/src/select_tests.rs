use clap::Parser;

use super::*;
use crate::Params;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    options: BenchOptions,
}

fn options(args: &[&str]) -> BenchOptions {
    Cli::try_parse_from([&["bench"], args].concat()).unwrap().options
}

fn cases() -> Vec<Case<'static>> {
    let mut cases = Vec::new();
    for name in ["encrypt", "decrypt"] {
        for tier in ["vaes512", "portable"] {
            for blocks in [1, 1000, 1_000_000] {
                let params = Params::new().with("tier", tier).with("blocks", blocks);
                let case = Case::new(name, params, |_| Ok(Vec::new()));
                cases.push(case.core(name == "encrypt").quick(blocks == 1));
            }
        }
    }
    cases
}

fn chosen(args: &[&str]) -> Vec<String> {
    let cases = options(args).select(cases()).unwrap();
    cases.iter().map(|case| format!("{} {}", case.name, case.params)).collect()
}

fn refused(args: &[&str]) -> String {
    options(args).select(cases()).map(|cases| cases.len()).unwrap_err().to_string()
}

#[test]
fn sets() {
    assert_eq!(chosen(&[]).len(), 6);
    assert_eq!(chosen(&["--quick"]).len(), 4);
    assert_eq!(chosen(&["--all"]).len(), 12);
}

/// With selected values, the quick set stays a quick set, and never becomes the whole grid.
#[test]
fn quick_rows_of_values() {
    assert_eq!(
        chosen(&["--quick", "--only", "tier=portable"]),
        ["encrypt tier=portable blocks=1", "decrypt tier=portable blocks=1"]
    );
    let options = options(&["--quick", "--only", "tier=portable,blocks=1000,blocks=1000000"]);
    let (rows, note) = options.chosen(cases()).unwrap();
    let rows: Vec<_> = rows.iter().map(|case| format!("{} {}", case.name, case.params)).collect();
    assert_eq!(rows, ["encrypt tier=portable blocks=1000"]);
    assert!(note.unwrap().contains("has tier=portable,blocks=1000,blocks=1000000"));
}

#[test]
fn values_are_alternatives_and_keys_are_conditions() {
    let rows = chosen(&["--only", "tier=portable,blocks=1,blocks=1_000", "--only", "case=decrypt"]);
    assert_eq!(rows, ["decrypt tier=portable blocks=1", "decrypt tier=portable blocks=1000"]);
}

#[test]
fn unknown_keys_and_values_are_explained() {
    assert_eq!(
        refused(&["--only", "block=1"]),
        "no row has a key `block` (did you mean `blocks`?); the keys are: case, tier, blocks"
    );
    assert_eq!(
        refused(&["--only", "colour=red"]),
        "no row has a key `colour`; the keys are: case, tier, blocks"
    );
    assert_eq!(
        refused(&["--only", "tier=vaes51"]),
        "no row has tier=vaes51 (did you mean `vaes512`?); \
         the values of `tier` are: vaes512, portable"
    );
    assert_eq!(
        refused(&["--only", "blocks=2"]),
        "no row has blocks=2; the values of `blocks` are: 1, 1000, 1000000"
    );
}

#[test]
fn values_that_never_meet() {
    let mut cases = cases();
    cases.retain(|case| case.name == "encrypt" || case.params.text("tier").unwrap() == "portable");
    let error = options(&["--only", "case=decrypt,tier=vaes512"]).select(cases).map(|_| ());
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("no row has all of case=decrypt,tier=vaes512 at once"), "{error}");
}

#[test]
fn malformed_arguments() {
    for bad in ["blocks", "=1", "blocks="] {
        let error = bad.parse::<Selection>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{bad}` is not of the form key=value")), "{error}");
    }
    for bad in [["--threads", "0"], ["--row-seconds", "0"], ["--row-seconds", "NaN"]] {
        assert!(Cli::try_parse_from([&["bench"][..], &bad].concat()).is_err());
    }
}

#[test]
fn empty_sets_and_differing_parameters() {
    let slow = || Case::new("slow", Params::new().with("n", 1), |_| Ok(Vec::new()));
    let error = options(&["--quick"]).select(vec![slow()]).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "the bench has no case in the quick set");
    let other = Case::new("other", Params::new().with("m", 1), |_| Ok(Vec::new()));
    let error = options(&["--all"]).select(vec![slow(), other]).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "case `other` has the parameters [m], the bench's are [n]");
}

#[test]
fn budgets() {
    assert!(options(&["--quick"]).total().unwrap() < Duration::from_secs(20));
    assert!(options(&[]).total().unwrap() < Duration::from_secs(360));
    assert_eq!(options(&["--all"]).total(), None);
    assert_eq!(options(&["--row-seconds", "2.5"]).row_time(), Duration::from_millis(2500));
}
