//! Kinds of jobs on stored data sets, and keys that parties keep.

use crate::{
    rig::{Rig, logs},
    support::{LONG, run, told, word, write},
};
use hushwire_kinds::{ComputationSource, ComputeJob, ComputeTask, stored_input};
use hushwire_remote::{DataFile, Service, put};
use hushwire_seal::{Person, StoredColumn, dataset::DataDescription};
use hushwire_session::{InputPlace, Protocol};
use std::collections::BTreeMap;

const SERIES: &str = "computation series\nmembers owner, anna\ninput x: i32[1000] from owner\n\
    input y: i32[1000] from owner\noutput d = sum(x * y) to anna\noutput n = count(x < y) to anna\n";

/// Puts the inputs of a computation as a data set. Returns its id.
fn put_inputs(rig: &Rig, values: &BTreeMap<&str, String>) -> String {
    let mut job = ComputeJob::new(Protocol::Rep3, ComputationSource::Text(SERIES.into()));
    let members = [("owner", "data:series"), ("anna", "recipient:anna")];
    let member = |text: &str| text.parse().unwrap_or_else(|e| panic!("{e}"));
    job.members = members.iter().map(|(name, is)| ((*name).to_owned(), member(is))).collect();
    let task = ComputeTask::new(&job).unwrap_or_else(|e| panic!("{e}"));
    let mut columns = vec![];
    for (name, ty) in task.computation().inputs() {
        let place = InputPlace::Values(values[name].clone().into());
        columns.push(stored_input(name, ty, &place).unwrap_or_else(|e| panic!("{e}")));
    }
    let service = Service::read(&rig.dir.path().join("owner.toml")).unwrap_or_else(|e| panic!("{e}"));
    let owner = Person::read(&rig.dir.path().join("owner.keys")).unwrap_or_else(|e| panic!("{e}"));
    let of = |(column, _): &(hushwire_rep3::stored::StoredColumn, _)| {
        StoredColumn::of_table(column.name.clone(), column.bits)
    };
    let description = DataDescription {
        name: "series".to_owned(),
        line: None,
        version: 1,
        group: service.group().to_owned(),
        schema: vec![],
        keys: vec![],
        inputs: columns.iter().map(of).collect(),
        created: 1,
        expires: None,
    };
    let keys = service.keys().unwrap_or_else(|e| panic!("{e}"));
    let parts = rig.dir.path().join("series.sealed");
    let data = DataFile::seal(&parts, description, keys, owner.sign(), |take| {
        take(1000, columns.iter().map(|(_, planes)| planes[0].clone()).collect())?;
        Ok(1000)
    });
    let data = data.unwrap_or_else(|e| panic!("{e}"));
    put(&service, &data, |_, _| {}).unwrap_or_else(|e| panic!("{e}")).id
}

/// The parties compute several times on numbers that they have as shares. The result opens to the
/// result of plain arithmetic.
#[test]
fn a_computation_on_a_stored_data_set_gives_what_plain_arithmetic_gives() {
    let rig = Rig::up();
    let numbers =
        |of: &dyn Fn(i64) -> i64| (0..1000).map(|i| of(i).to_string()).collect::<Vec<_>>().join(",");
    let values = BTreeMap::from([
        ("x", numbers(&|i| i * 7919 % 1009 - 500)),
        ("y", numbers(&|i| i * 104_729 % 997 - 400)),
    ]);
    let data = put_inputs(&rig, &values);
    write(&rig, "series.hwc", SERIES);
    write(
        &rig,
        "series.toml",
        "kind = \"compute\"\nprotocol = \"rep3\"\ncomputation = \"series.hwc\"\n[members]\nowner = \"data:series\"\n\
         anna = \"recipient:anna\"\n",
    );
    let proposal = told(&rig, "propose series.toml --to analyst.toml");
    let proposal = word(&proposal[0]["id"]).to_owned();
    let card = told(&rig, "key show --keys anna.keys --name anna");
    let policy = run(
        &rig,
        &format!(
            "policy draft {proposal} --recipient {} --data series=id:{data} --runs 9 --to operator.toml",
            word(&card["id"])
        ),
    );
    write(&rig, "series-policy.toml", &policy);
    run(
        &rig,
        &format!("approve {proposal} --policy series-policy.toml --keys operator.keys --to operator.toml"),
    );
    let plain = {
        let of = |name: &str| {
            values[name].split(',').map(|n| n.parse::<i32>().expect("a number")).collect::<Vec<_>>()
        };
        let (x, y) = (of("x"), of("y"));
        let pairs = || x.iter().zip(&y);
        let sum = pairs().fold(0i32, |sum, (x, y)| sum.wrapping_add(x.wrapping_mul(*y)));
        [("d", sum.to_string()), ("n", pairs().filter(|(x, y)| x < y).count().to_string())]
    };
    // The second and third runs find waiting workers.
    for n in 0..3 {
        let line = format!(
            "submit --proposal {proposal} --data series={data} --recipient anna=anna.keys --to analyst.toml"
        );
        let job = told(&rig, &line);
        let job = word(&job["id"]).to_owned();
        for view in rig.wait(&job, LONG) {
            assert_eq!(view["state"], "committed", "run {n}: {view:#} {}", logs(rig.dir.path()));
        }
        let text = run(&rig, &format!("fetch {job} --keys anna.keys --to analyst.toml"));
        for (name, value) in &plain {
            assert!(text.contains(&format!("{name}={value}")), "run {n}: {name} is {value}: {text}");
        }
    }
}
