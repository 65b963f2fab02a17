//! Computations as jobs of members that each start their own process, with files from
//! `local files`.

use crate::rehearsal::{Ended, Rehearsal};

const BILL: &str = "computation bill\nmembers shop, ann, bank\nsymbols n\n\
    input price: u32[n] from shop\ninput amount: u32[n] from ann\ninput most: u64 from bank\n\
    total = sum(cast(price, u64) * cast(amount, u64))\n\
    output total to shop, ann\noutput paid = total <= most to bank, ann\n";
const JOB: &str = "computation = \"bill.hwc\"\n[members]\nshop = \"party1\"\nbank = \"client:bob\"\n";
const ALL: [&str; 5] = ["party0", "party1", "party2", "ann", "bob"];

fn world(protocol: &str, members: &str, who: &[(&str, &str)]) -> Rehearsal {
    let world = Rehearsal::bare();
    world.place.put("bill.hwc", BILL.as_bytes());
    let job = format!("protocol = \"{protocol}\"\n{}", JOB.split("[members]").next().unwrap_or_default());
    world.place.put("job.toml", format!("{job}{members}").as_bytes());
    std::fs::remove_dir(world.place.at("r")).unwrap_or_else(|e| panic!("{e}"));
    let ran = world.place.ran(&format!("local files job.toml --dir r --port {}", world.port));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    world.place.put("r/price.csv", b"article,price\na,3000000000\nb,4\n");
    world.place.put("r/amount.csv", b"amount\n2\n1\n");
    world.place.put("r/most.csv", b"most\n6000000000\n");
    for (name, table) in who {
        world.edit(&format!("r/{name}.toml"), |text| format!("{text}\n{table}\n"));
    }
    world
}

fn three(who: &[(&str, &str)]) -> Rehearsal {
    world("rep3", "[members]\nshop = \"party1\"\nbank = \"client:bob\"\n", who)
}

fn of<'a>(all: &'a [Ended], name: &str) -> &'a Ended {
    all.iter().find(|member| member.name == name).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn each_member_brings_its_own_file_and_learns_what_it_may() {
    let world = three(&[
        ("ann", "[outputs]\ntotal = { csv = \"total.csv\" }"),
        ("bob", "[outputs]\npaid = { file = \"paid.bin\" }"),
    ]);
    let all = world.end(world.start_all(&ALL));
    all.iter().for_each(Ended::good);
    assert_eq!(world.place.get("r/total.csv"), b"total\n6000000004\n");
    assert_eq!((world.place.get("r/paid.bin"), world.place.mode("r/paid.bin")), (vec![0], 0o600));
    assert_eq!(of(&all, "party1").out, "total=6000000004\n");
    assert_eq!(of(&all, "ann").out, "paid=false\n");
    for name in ["party0", "party2", "bob"] {
        assert_eq!(of(&all, name).out, "", "{name} learns nothing more");
        assert!(of(&all, name).err.contains("is done: bill of n = 2"), "{}", of(&all, name).err);
    }
}

#[test]
fn two_parties_run_the_same_job() {
    let world = world("yao", "[members]\nshop = \"party0\"\nann = \"party1\"\nbank = \"party0\"\n", &[]);
    let all = world.end(world.start_all(&["party0", "party1"]));
    all.iter().for_each(Ended::good);
    for name in ["party0", "party1"] {
        assert_eq!(of(&all, name).out, "total=6000000004\npaid=false\n", "{name}");
    }
}

#[test]
fn public_values_that_differ_are_named_and_all_end() {
    let text = BILL.replace("most: u64 from bank", "most: u64 public");
    let world = three(&[]);
    world.place.put("bill.hwc", text.as_bytes());
    // The bank no longer brings an input.
    world.edit("r/bob.toml", |text| text.split("[inputs]").next().unwrap_or_default().to_owned());
    let public = |file: &str, most: u64| {
        let job = String::from_utf8(world.place.get("job.toml")).unwrap_or_default();
        world.place.put(file, format!("{job}\n[public]\nmost = {{ values = \"{most}\" }}\n").as_bytes());
    };
    public("other.toml", 2);
    public("job.toml", 1);
    let mut running = world.start_all(&["party0", "party1", "ann", "bob"]);
    running.push(world.spawn("party2", world.place.hushwire("party other.toml --config r/party2.toml")));
    let all = world.end(running);
    assert!(all.iter().all(|member| member.code == Some(3) && member.out.is_empty()), "{all:?}");
    let found = of(&all, "party2").error();
    assert!(found.contains("another plan, which differs in public values (ours: most "), "{found}");
    // With one value at all members, the same members succeed.
    let all = world.end(world.start_all(&ALL));
    all.iter().for_each(Ended::good);
    assert_eq!(of(&all, "ann").out, "total=6000000004\npaid=false\n");
}

#[test]
fn a_file_that_does_not_do_is_named_by_its_owner_alone() {
    let world = three(&[]);
    // No other member is there to be told.
    world.set("party1", "connect-timeout = \"200ms\"");
    world.place.put("r/price.csv", b"article,price\na,1\nb,4294967296\n");
    let all = world.end(world.start_all(&["party1"]));
    let error = of(&all, "party1").error();
    let wanted = "error: party 1 cannot read r/price.csv, line 3: row 2, column price: \"4294967296\" does not fit u32, which has 0 to \
                  4294967295; declare a wider type";
    assert_eq!((of(&all, "party1").code, error), (Some(4), wanted));
}

#[test]
fn a_job_file_runs_with_everybody_here() {
    let world = three(&[]);
    let values =
        "--in shop/price=r/price.csv --in ann/amount=r/amount.csv --value most=7000000000 --transport unix";
    let ran = world.place.ran(&format!("local compute job.toml {values}"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "total=6000000004\npaid=true\n"), "{}", ran.err);
    let ran = world.place.ran("local run job.toml");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("hushwire local compute job.toml --in"), "{}", ran.err);
    world.edit("job.toml", |text| format!("{text}\n[symbols]\nn = 5\n"));
    let ran = world.place.ran(&format!("local compute job.toml {values}"));
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(ran.err.contains("its n is 2, the agreed one is 5"), "{}", ran.err);
}
