//! Draws as jobs: parties on threads, over TCP with TLS.

use crate::common::configs;
use hushwire_kinds::{DrawTask, Drawn, Job, Runs};
use hushwire_session::{Fault, InputPlace, MemberConfig, Observer, Outcome, OutputPlace, Task, run};
use hushwire_wire::Identity;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::Arc,
    thread,
};

fn job(text: &str) -> Result<Job, Fault> {
    Job::parse(&format!("kind = \"draw\"\n{text}\n"), Path::new("job.toml"))
}

fn task(text: &str) -> DrawTask {
    match job(text) {
        Ok(Job::Draw(job)) => job.task().unwrap_or_else(|e| panic!("{e}")),
        other => panic!("{other:?}"),
    }
}

/// Runs all parties of the first task's job, each with its own task, after `set` has changed its
/// configuration.
fn members(tasks: &[DrawTask], set: impl Fn(usize, &mut MemberConfig)) -> Vec<Result<Outcome<Drawn>, Fault>> {
    let mut configs = configs(&tasks[0].agreement().members());
    for (i, config) in configs.iter_mut().enumerate() {
        set(i, config);
    }
    thread::scope(|scope| {
        let quiet: Observer = Arc::new(|_| {});
        let running: Vec<_> = configs
            .into_iter()
            .enumerate()
            .map(|(i, config)| {
                let (task, quiet) = (&tasks[i.min(tasks.len() - 1)], quiet.clone());
                scope.spawn(move || run(task, config, &quiet))
            })
            .collect();
        running.into_iter().map(|one| one.join().unwrap_or_else(|_| panic!("a panic"))).collect()
    })
}

fn numbers(ended: Vec<Result<Outcome<Drawn>, Fault>>) -> Vec<Vec<u64>> {
    let all = ended.into_iter().map(|one| one.unwrap_or_else(|e| panic!("{e}")).learnt.numbers);
    all.map(Option::unwrap_or_default).collect()
}

#[test]
fn all_parties_draw_the_same_numbers_and_others_in_each_run() {
    for parties in [2, 3, 5] {
        let task = task(&format!("parties = {parties}\nnumbers = 20\nfrom = 100\nto = 1000000"));
        let [first, second] = [(); 2].map(|()| numbers(members(std::slice::from_ref(&task), |_, _| ())));
        assert_eq!(first.len(), parties);
        for drawn in &first {
            assert_eq!(drawn, &first[0]);
            assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 20);
            assert!(drawn.iter().all(|number| (100..=1_000_000).contains(number)), "{drawn:?}");
        }
        assert_ne!(first[0], second[0]);
    }
}

#[test]
fn a_file_has_the_numbers_that_others_are_shown() {
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let path = dir.path().join("drawn.txt");
    let ended = members(&[task("parties = 2\nnumbers = 3\nto = 90")], |i, config| {
        if i == 0 {
            config.outputs.insert("result".to_owned(), OutputPlace::File(path.clone()));
        }
    });
    let shown = numbers(ended);
    assert!(shown[0].is_empty(), "it is in the file");
    let text: String = shown[1].iter().map(|number| format!("{number}\n")).collect();
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), text);
}

#[test]
fn parties_that_draw_from_other_ranges_refuse_each_other() {
    let tasks = ["to = 90", "to = 91"].map(|to| task(&format!("parties = 2\nnumbers = 3\n{to}")));
    for ended in members(&tasks, |_, _| ()) {
        let fault = ended.err().unwrap_or_else(|| panic!("it drew"));
        assert!(fault.to_string().contains("range"), "{fault}");
    }
}

#[test]
fn files_that_make_no_draw_are_refused_with_their_line() {
    let lines = BTreeMap::from([
        ("numbers = 3", "`to`"),
        ("to = 3", "`numbers`"),
        ("numbers = 0\nto = 3", "line 2"),
        ("numbers = 4\nto = 3", "line 2"),
        ("numbers = 1\nfrom = 4\nto = 3", "line 4"),
        ("numbers = 1\nto = 3\nparties = 1", "line 4"),
        ("numbers = 1\nto = 3\nparties = 9", "line 4"),
        ("numbers = 1\nto = 3\nrange = 4", "line 4"),
    ]);
    for (text, part) in lines {
        let fault = job(text).err().unwrap_or_else(|| panic!("{text}: it was taken"));
        assert!(fault.to_string().contains(part), "{text}: {fault}");
    }
}

#[test]
fn inputs_and_other_outputs_are_refused_before_anybody_is_dialled() {
    let task = task("parties = 2\nnumbers = 3\nto = 90");
    let config = || {
        let identity = Identity::generate("a party").unwrap_or_else(|e| panic!("{e}"));
        MemberConfig::new(hushwire_session::Member::Party(0), identity, None)
    };
    let refused =
        |config: &mut MemberConfig| task.open(config).err().map(|e| e.to_string()).unwrap_or_default();
    let mut brings = config();
    brings.inputs.insert("csv".to_owned(), InputPlace::memory("1"));
    assert!(refused(&mut brings).contains("`csv`"));
    let mut misspelt = config();
    misspelt.outputs.insert("resul".to_owned(), OutputPlace::Show);
    assert!(refused(&mut misspelt).contains("did you mean `result`"));
    let mut hex = config();
    hex.outputs.insert("result".to_owned(), OutputPlace::HexFile("x".into()));
    assert!(refused(&mut hex).contains("text already"));
}
