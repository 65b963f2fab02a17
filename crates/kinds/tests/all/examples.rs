//! The examples in the repository can be read, and fit together.

use hushwire_kinds::{ComputeTask, Job, Prepared, PsiTask, read_input};
use hushwire_session::{ClientFile, InputPlace, Member, PartyFile};
use std::{collections::BTreeMap, fs, path::Path};

#[test]
fn every_example_is_read_and_fits() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/jobs");
    let (mut jobs, mut members) = (vec![], vec![]);
    for entry in fs::read_dir(&dir).expect("the examples are there").flatten() {
        let path = entry.path();
        let text = fs::read_to_string(&path).expect("text");
        if text.contains("protocol =") || text.contains("kind =") {
            if let Job::Circuit(job) = Job::read(&path).unwrap_or_else(|e| panic!("{e}")) {
                Prepared::new(&job).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                jobs.push((entry.file_name(), job));
            }
        } else if text.contains("index = 0\nlisten") || text.contains("listen =") {
            members.push(PartyFile::read(&path).unwrap_or_else(|e| panic!("{e}")).member);
        } else {
            members.push(ClientFile::read(&path).unwrap_or_else(|e| panic!("{e}")).0);
        }
    }
    assert!(jobs.len() >= 3 && members.len() >= 5);
    let (_, job) = jobs.iter().find(|(name, _)| name == "millionaires.toml").expect("it ships");
    for member in job.members() {
        let file = members.iter().find(|m| m.me == member).unwrap_or_else(|| panic!("no file for {member}"));
        let client = matches!(member, Member::Client(_));
        for other in job.members().into_iter().filter(|o| *o != member) {
            let listed = file.peers.iter().any(|p| p.member == other);
            assert_eq!(listed, !(client && matches!(other, Member::Client(_))), "{member} and {other}");
        }
        for name in file.inputs.keys() {
            assert!(job.inputs.iter().any(|i| i.name == *name && i.from == member), "{member}: {name}");
        }
        // In a file that the program writes, a sample is marked as one.
        let lines = Job::Circuit(job.clone()).lines_for(&member).join("\n");
        let brings = job.inputs.iter().any(|i| i.from == member);
        assert_eq!(lines.contains("# The job's sample"), brings, "{member}: {lines}");
    }
}

#[test]
fn the_intersection_that_ships_is_read_and_its_column_is_in_both_files() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/psi");
    let job = Job::read(&dir.join("customers.toml")).unwrap_or_else(|e| panic!("{e}"));
    let Job::Psi(job) = job else { panic!("{job:?}") };
    PsiTask::new(&job).unwrap_or_else(|e| panic!("{e}"));
    for (file, index) in ["shop.csv", "charity.csv"].into_iter().zip(0..) {
        let key = job.key(index).unwrap_or_else(|e| panic!("{e}"));
        hushwire_psi::TableKeys::read(&dir.join(file), &key).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn the_computations_that_ship_are_read_and_their_columns_are_there() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/compute");
    let job = Job::read(&dir.join("bill.toml")).unwrap_or_else(|e| panic!("{e}"));
    let Job::Compute(job) = job else { panic!("{job:?}") };
    let task = ComputeTask::new(&job).unwrap_or_else(|e| panic!("{e}"));
    for ((name, ty), file) in task.computation().inputs().zip(["shop.csv", "order.csv"]) {
        let place = InputPlace::Csv(Box::new(InputPlace::File(dir.join(file))), vec![name.to_owned()]);
        let (read, _) = read_input(name, ty, &place, &BTreeMap::new()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(read.len(), 3);
    }
}

/// Every block of TOML in the documentation is a job, a party file, a client file, or a part that
/// is marked as such.
#[test]
fn what_the_documentation_shows_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/jobs.md");
    let text = fs::read_to_string(&path).expect("it is there");
    let mut read = 0;
    for block in text.split("```toml\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        let result = if block.contains("protocol =") || block.contains("kind =") {
            Job::parse(block, &path).and_then(|job| match job {
                Job::Circuit(job) => Prepared::new(&job).map(drop),
                Job::Psi(job) => PsiTask::new(&job).map(drop),
                Job::Compute(job) => ComputeTask::new(&job).map(drop),
                _ => Ok(()),
            })
        } else if block.contains("listen =") {
            PartyFile::parse(block, &path).map(drop)
        } else {
            ClientFile::parse(block, &path).map(drop)
        };
        result.unwrap_or_else(|e| panic!("{e} in:\n{block}"));
        read += 1;
    }
    assert!(read >= 3, "{read} blocks");
}
