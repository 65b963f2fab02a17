//! Members that only take part in jobs of certain digests.

use crate::{
    common::Place,
    query_members::{ALL, expected, no_result, of, world},
    rehearsal::{Ended, Rehearsal},
};

/// Returns the standard output of a command that succeeds.
fn said(world: &Rehearsal, line: &str) -> String {
    let ran = world.place.ran(line);
    assert_eq!(ran.code, Some(0), "{line}: {}", ran.err);
    ran.out
}

/// Returns the digest of a job file in the test's directory.
fn digest(world: &Rehearsal, file: &str) -> String {
    said(world, &format!("job digest {file}")).trim().to_owned()
}

#[test]
fn members_that_allow_a_job_run_it_whatever_the_way_in_which_they_say_so() {
    let world = world(9);
    let digest = digest(&world, "job.toml");
    world.set("party0", &format!("allow = \"{digest}\""));
    world.set("bob", "allow-file = \"allowed.txt\"");
    world.place.put(
        "r/allowed.txt",
        format!("# of others too\nblake3:{:064}\n{digest}  # the sums\n", 1).as_bytes(),
    );
    let line = |name: &&'static str| {
        let options = match *name {
            "party1" => format!(" --allow {digest}"),
            "alice" => " --allow-file r/allowed.txt".to_owned(),
            // With two sources of digests, both are allowed.
            "party0" => format!(" --allow blake3:{:064}", 2),
            _ => String::new(),
        };
        world.spawn(name, world.place.hushwire(&(Rehearsal::line(name) + &options)))
    };
    let all = world.end(ALL.iter().map(line).collect());
    all.iter().for_each(Ended::good);
    assert_eq!(String::from_utf8(world.place.get("r/result.csv")).unwrap_or_default(), expected(9));
}

#[test]
fn a_job_that_a_party_or_an_owner_does_not_allow_ends_at_every_member_at_once() {
    for refuses in ["party1", "alice"] {
        let world = world(9);
        // A member that refuses does not open its inputs, so they need not exist.
        let input = if refuses == "alice" { "r/salaries.csv" } else { "r/nothing.csv" };
        world.place.put(input, b"");
        let line = |name: &&'static str| {
            let none = if *name == refuses { format!(" --allow blake3:{:064}", 7) } else { String::new() };
            world.spawn(name, world.place.hushwire(&(Rehearsal::line(name) + &none)))
        };
        let all = world.end(ALL.iter().map(line).collect());
        let (own, digest) = (of(&all, refuses), digest(&world, "job.toml"));
        assert!(own.code == Some(5) && own.out.is_empty(), "{own:?}");
        for words in ["refused: ", &digest, "hushwire job show", "--allow"] {
            assert!(own.error().contains(words), "{words}: {}", own.error());
        }
        for member in all.iter().filter(|member| member.name != refuses) {
            member.blames(refuses);
            for words in ["declined during admission of the job", "hushwire job digest"] {
                assert!(member.error().contains(words), "{words}: {}", member.error());
            }
        }
        no_result(&world);
    }
}

#[test]
fn a_job_is_shown_with_its_digest() {
    let world = world(9);
    let digest = digest(&world, "job.toml");
    let shown = said(&world, "job show job.toml");
    for line in ["kind: query\n", "min-group: 1\n", "to: client:analyst\n", "owner: client:alice\n", &digest]
    {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let report = said(&world, "job show job.toml --json -");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((&report["digest"], &report["kind"]), (&digest.into(), &"query".into()));
}

/// The number of keys that a deviating party can try appears in the terms for people. The digest
/// does not have it, because it follows from sizes in the digest.
#[test]
fn intersections_show_how_many_keys_a_party_can_try() {
    let place = Place::new();
    let shown = |line: &str, options: &str| {
        place.put("psi.toml", format!("kind = \"psi\"\nkey = \"email\"\n{line}\n").as_bytes());
        let ran = place.ran(&format!("job show psi.toml{options}"));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran.out
    };
    let few = shown("security = \"malicious\"\nmost-items = [30, 1000]", "");
    for line in [
        "tries: party0 may bring 30 keys, and tries 30 if it deviates (at most 42 if it hashes 2^40 keys, ",
        "tries: party1 may bring 1000 keys, and tries 1090 if it deviates (at most 1438 if it ",
    ] {
        assert!(few.contains(line), "{line}: {few}");
    }
    let free: serde_json::Value = serde_json::from_str(&shown("security = \"malicious\"", " --json -"))
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        (&free["tries"][1]["party"], &free["tries"][1]["keys"]),
        (&"party1".into(), &(1 << 20).into())
    );
    let digest = free["digest"].as_str().unwrap_or("none");
    assert!(few.trim_end().ends_with(digest), "{few} {free}");
    assert!(!shown("most-items = 30", "").contains("tries"), "of semi-honest parties nothing is promised");
}

#[test]
fn lists_of_digests_are_read_strictly() {
    let world = world(9);
    // No other member is there to be told.
    for name in ["party0", "alice"] {
        world.edit(&format!("r/{name}.toml"), |text| text.replace("30s", "200ms"));
    }
    let bad = |line: &str, code, words: &[&str]| {
        let ran = world.place.ran(line);
        assert_eq!(ran.code, Some(code), "{line}: {}", ran.err);
        words.iter().for_each(|word| assert!(ran.err.contains(word), "{word}: {}", ran.err));
    };
    bad(
        "party job.toml --config r/party0.toml --allow blake3:12",
        2,
        &["blake3:12", "64 hexadecimal digits"],
    );
    world.place.put("odd.txt", b"# one\nsha256:00\n");
    bad("client job.toml --config r/alice.toml --allow-file odd.txt", 4, &["odd.txt, line 2", "job digest"]);
    bad("client job.toml --config r/alice.toml --allow-file none.txt", 4, &["none.txt"]);
    world.set("party2", "allow = [\"blake3:zz\"]");
    bad("party job.toml --config r/party2.toml", 4, &["r/party2.toml, line 1", "blake3:zz"]);
}
