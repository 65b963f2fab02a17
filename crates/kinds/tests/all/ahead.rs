//! Computations of n parties that take preprocessing from disk, over real links, with a thread for
//! each party.

use crate::n_party::{Kept, copied};
use hushwire_block::Wiped;
use hushwire_compute::Computation;
use hushwire_kinds::{
    ComputationSource, ComputeJob, ComputeSession, ComputeTask, Computed, PublicPlace, Value,
};
use hushwire_session::{
    Chosen, Fault, FromDisk, InputPlace, Kind, MemberConfig, Outcome, OutputPlace, Phase, Preparation,
    Protocol, Task, run,
};
use std::{collections::BTreeMap, fs, path::PathBuf, thread};

const ALL: [usize; 3] = [0, 1, 2];
const TEXT: &str = "computation scores\nmembers a, b, c\nsymbols n\ninput x: u32[n] from a\ninput y: u32[n] from b\n\
    input most: u32 public\ntotal = sum(x * y)\noutput total to a, b, c\noutput high = total > most to c\n";
/// Rows: n is 3, which is not known before a run.
const ROWS: [&str; 2] = ["1, 2, 3", "10, 20, 30"];
const TOTAL: u32 = 140;

/// The job as it runs.
fn job() -> ComputeJob {
    let mut job = ComputeJob::new(Protocol::Authgarble(3), ComputationSource::Text(TEXT.to_owned()));
    job.public.insert("most".into(), PublicPlace::Values("139".into()));
    job
}

/// The same job with the number of rows that it is prepared for.
fn for_rows(n: u64) -> ComputeJob {
    let mut job = job();
    job.symbols.insert("n".into(), n);
    job
}

fn planned(job: &ComputeJob) -> ComputeTask {
    ComputeTask::new(job).unwrap_or_else(|e| panic!("{e}"))
}

/// The results of all parties with these rows.
fn ends(
    kept: &Kept,
    job: &ComputeJob,
    with: &[usize],
    rows: [&str; 2],
) -> Vec<Result<Outcome<Computed>, Fault>> {
    let furnish = |p: usize, config: &mut MemberConfig| {
        if let (Some(name), Some(rows)) = (["x", "y"].get(p), rows.get(p)) {
            let values = InputPlace::Values(Wiped::new((*rows).to_owned()));
            config.inputs.insert((*name).to_owned(), values);
        }
        let learns = if p == 2 { &["total", "high"][..] } else { &["total"] };
        config.outputs = learns.iter().map(|name| ((*name).to_owned(), OutputPlace::Memory)).collect();
    };
    let task = planned(job);
    kept.each(kept.configs(with, furnish), |_, config, observer| run(&task, config, observer))
}

/// A run with correct results: the bytes that its parties sent, and what each took from disk.
fn ran(kept: &Kept, job: &ComputeJob, with: &[usize]) -> (u64, Vec<Option<FromDisk>>) {
    let ends = ends(kept, job, with, ROWS).into_iter().map(|end| {
        let Outcome { learnt, stats } = end.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(learnt.records[0], (0, TOTAL.to_le_bytes().to_vec()));
        assert!(learnt.records.get(1).is_none_or(|(_, high)| *high == [1]));
        (stats.bytes_sent, learnt.from_disk)
    });
    let (sent, from_disk): (Vec<_>, Vec<_>) = ends.unzip();
    (sent.into_iter().sum(), from_disk)
}

/// Like [`ran`], if all parties have shelves and take the same from them.
fn took(kept: &Kept, job: &ComputeJob) -> (u64, [u16; 2]) {
    let (sent, from_disk) = ran(kept, job, &ALL);
    let first = from_disk[0].expect("it has a shelf");
    assert_eq!(from_disk, [Some(first); 3]);
    (sent, [first.function_independent, first.function_dependent])
}

fn prepare(kept: &Kept, job: &ComputeJob, times: u32, up_to: Phase) {
    for end in prepared(kept, job, times, up_to) {
        assert_eq!(end.unwrap_or_else(|e| panic!("{e}")).learnt, u64::from(times), "a file for each run");
    }
}

fn prepared(kept: &Kept, job: &ComputeJob, times: u32, up_to: Phase) -> Vec<Result<Outcome<u64>, Fault>> {
    let task = Preparation::new(&planned(job), times).unwrap_or_else(|e| panic!("{e}")).up_to(up_to);
    // The configurations name no inputs.
    kept.each(kept.configs(&ALL, |_, _| {}), |_, config, observer| run(&task, config, observer))
}

/// The files of a phase at every party.
fn waiting(kept: &Kept) -> [Vec<usize>; 2] {
    [
        ALL.iter().map(|p| kept.stocks(*p).len()).collect(),
        ALL.iter().map(|p| kept.garbled(*p).len()).collect(),
    ]
}

#[test]
fn each_file_serves_one_run_and_leaves_it_fewer_phases() {
    let kept = Kept::new();
    let (whole, none) = ran(&kept, &job(), &[]);
    assert_eq!(none, [None; 3], "nobody has a shelf");
    prepare(&kept, &for_rows(3), 2, Phase::FunctionDependent);
    prepare(&kept, &for_rows(3), 1, Phase::FunctionIndependent);
    // If one party has no file, the others do not use theirs, which stay for later.
    assert!(ran(&kept, &job(), &[0, 2]).0 > whole / 2);
    assert_eq!(waiting(&kept), [vec![1; 3], vec![2; 3]]);
    let mut bytes = vec![];
    for (found, left) in [([1, 1], [1, 1]), ([1, 1], [1, 0]), ([1, 0], [0, 0]), ([0, 0], [0, 0])] {
        let (sent, from_disk) = took(&kept, &job());
        assert_eq!((from_disk, waiting(&kept)), (found, left.map(|files| vec![files; 3])));
        bytes.push(sent);
    }
    assert!(bytes[0] == bytes[1] && bytes[1] < bytes[2] && bytes[2] < whole / 2, "{bytes:?} of {whole}");
    assert!(bytes[3] > whole / 2);
    let notes = kept.notes[1].lock().expect("no panic");
    assert!(notes.contains(&"the function-dependent phase is taken from disk by 1 of 1 threads".to_owned()));
}

/// With half gates, the evaluator needs more data in the online phase.
#[test]
fn other_variants_take_what_was_made_for_them_alone() {
    let kept = Kept::new();
    let halves = |job: ComputeJob| ComputeJob { protocol: Protocol::Ywz20(3), ..job };
    prepare(&kept, &halves(for_rows(3)), 1, Phase::FunctionDependent);
    assert_eq!(took(&kept, &job()).1, [0, 0]);
    assert_eq!(took(&kept, &halves(job())).1, [1, 1]);
}

/// Circuits only serve the number of rows, the public value and the recipients for which they were
/// made. Triples serve every run that needs the same number of them.
#[test]
fn circuits_serve_what_they_were_garbled_for_and_triples_what_takes_as_many() {
    let kept = Kept::new();
    prepare(&kept, &for_rows(2), 1, Phase::FunctionIndependent);
    prepare(&kept, &for_rows(2), 1, Phase::FunctionDependent);
    assert_eq!(took(&kept, &job()).1, [0, 0], "of three rows");
    let mut above = for_rows(3);
    above.public.insert("most".into(), PublicPlace::Values("171".into()));
    prepare(&kept, &above, 1, Phase::FunctionDependent);
    assert_eq!(took(&kept, &job()).1, [0, 0], "below another value");
    let swapped = TEXT.replace("total to a, b, c", "total to c, a, b").replace("scores", "others");
    let others = ComputeJob { computation: ComputationSource::Text(swapped), ..for_rows(3) };
    prepare(&kept, &others, 1, Phase::FunctionIndependent);
    let before = waiting(&kept);
    assert_eq!(took(&kept, &job()).1, [1, 0], "made for another computation");
    assert_eq!(waiting(&kept), [vec![1; 3], before[1].clone()]);
}

#[test]
fn files_that_are_put_back_end_the_run() {
    for up_to in [Phase::FunctionIndependent, Phase::FunctionDependent] {
        let kept = Kept::new();
        prepare(&kept, &for_rows(3), 1, up_to);
        let files = |p: usize| [kept.stocks(p), kept.garbled(p)].concat();
        let copies: Vec<Vec<PathBuf>> = ALL
            .iter()
            .map(|p| {
                let aside = kept.shelf(*p).with_extension("aside");
                fs::create_dir_all(&aside).expect("a directory");
                copied(&files(*p), &aside)
            })
            .collect();
        assert_eq!(took(&kept, &job()).1[0], 1);
        // A copy at one party alone, as after a crash between two writes: no other party offers it.
        copied(&copies[1], &kept.shelf(1));
        assert_eq!(took(&kept, &job()).1, [0, 0]);
        assert_eq!(files(1).len(), 1);
        for p in [0, 2] {
            copied(&copies[p], &kept.shelf(p));
        }
        let errors: Vec<_> = ends(&kept, &job(), &ALL, ROWS)
            .into_iter()
            .map(|end| end.expect_err("no outputs").to_string())
            .collect();
        assert!(errors.iter().any(|e| e.contains("was used before")), "{errors:?}");
    }
}

/// Several runs at the same time have processes of all parties on the same shelves. At most one of
/// them takes a file.
#[test]
fn of_runs_at_once_one_takes_a_file() {
    for up_to in [Phase::FunctionIndependent, Phase::FunctionDependent] {
        let kept = Kept::new();
        prepare(&kept, &for_rows(3), 1, up_to);
        let all: Vec<_> = thread::scope(|scope| {
            let running: Vec<_> = (0..3).map(|_| scope.spawn(|| ends(&kept, &job(), &ALL, ROWS))).collect();
            running.into_iter().map(|run| run.join().expect("no panic")).collect()
        });
        let mut served = 0;
        for run in all {
            let took = |end: &Result<Outcome<Computed>, Fault>| {
                let learnt = &end.as_ref().ok()?.learnt;
                assert_eq!(learnt.records[0].1, TOTAL.to_le_bytes());
                Some(learnt.from_disk?.function_independent == 1)
            };
            let took: Vec<_> = run.iter().map(took).collect();
            assert!(took.iter().all(|one| *one == took[0]), "all of its parties, or none: {took:?}");
            served += usize::from(took[0] == Some(true));
            for e in run.into_iter().filter_map(Result::err) {
                let text = e.to_string();
                let told = text.contains("another run took it") || text.contains("was used before");
                assert!(e.kind() == Kind::Network || told, "{text}");
            }
        }
        assert!(served <= 1, "{served} runs have had the same file");
        // A run that ends early may leave one party's copy, which is useless.
        assert_eq!(took(&kept, &job()).1, [0, 0]);
    }
}

/// Parties that prepare different things do not meet, nor do parties that prepare and parties that
/// run.
#[test]
fn parties_that_prepare_other_things_are_told_so() {
    let kept = Kept::new();
    let of = |job: &ComputeJob, times, up_to| {
        Preparation::new(&planned(job), times).unwrap_or_else(|e| panic!("{e}")).up_to(up_to)
    };
    let ours = of(&for_rows(3), 2, Phase::FunctionIndependent);
    let mut more = for_rows(3);
    more.public.insert("most".into(), PublicPlace::Values("171".into()));
    for (theirs, differs) in [
        (of(&for_rows(3), 1, Phase::FunctionIndependent), "runs (ours: "),
        (of(&for_rows(3), 2, Phase::FunctionDependent), "up to (ours: "),
        (of(&for_rows(4), 2, Phase::FunctionIndependent), "symbols (ours: "),
        (of(&more, 2, Phase::FunctionIndependent), "public values (ours: most "),
    ] {
        let ends = kept.each(kept.configs(&ALL, |_, _| {}), |p, config, observer| {
            run(if p == 2 { &theirs } else { &ours }, config, observer)
        });
        let errors: Vec<_> =
            ends.into_iter().map(|end| end.expect_err("nothing is made").to_string()).collect();
        assert!(errors.iter().any(|e| e.contains("another plan") && e.contains(differs)), "{errors:?}");
        assert_eq!(waiting(&kept), [vec![0; 3], vec![0; 3]]);
    }
    assert_ne!(planned(&for_rows(3)).agreement().digest(), ours.agreement().digest());
    assert_eq!(planned(&job()).terms(), ours.terms(), "who allows the runs allows this");
}

#[test]
fn only_what_is_known_before_a_run_can_be_prepared() {
    let kept = Kept::new();
    let refused = |job: &ComputeJob| {
        let ends = prepared(&kept, job, 1, Phase::FunctionIndependent);
        let errors = ends.into_iter().map(|end| end.expect_err("nothing is made"));
        let errors: Vec<_> = errors.map(|e| (e.kind(), e.to_string())).collect();
        assert!(errors.iter().all(|(kind, _)| *kind == Kind::Usage), "{errors:?}");
        errors[0].1.clone()
    };
    let error = refused(&job());
    assert!(error.contains("depends on n") && error.contains("write n = …"), "{error}");
    let mut without = for_rows(3);
    without.public.clear();
    let error = refused(&without);
    assert!(error.contains("public input most"), "{error}");
    let three = ComputeJob { protocol: Protocol::Rep3, ..for_rows(3) };
    let error = Preparation::new(&planned(&three), 1).err().expect("an error");
    assert!(error.to_string().contains("protocol rep3 has no preprocessing"), "{error}");
    // More than the agreed bound.
    let mut bounded = job();
    bounded.bounds.insert("n".into(), 2);
    bounded.symbols.insert("n".into(), 3);
    assert!(ComputeTask::new(&bounded).is_err());
}

/// A member that declines a job does not send digests of the job's files, whether the job is run or
/// prepared.
#[test]
fn files_that_a_job_names_are_not_told_by_who_declines() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("most.bin");
    fs::write(&path, 139u32.to_le_bytes()).expect("a file");
    let mut job = for_rows(3);
    assert!(!Preparation::new(&planned(&job), 1).unwrap_or_else(|e| panic!("{e}")).tells_of_files());
    job.public.insert("most".into(), PublicPlace::File(path.clone()));
    let task = Preparation::new(&planned(&job), 1).unwrap_or_else(|e| panic!("{e}"));
    assert!(task.tells_of_files());
    assert!(task.reads().iter().any(|(_, read)| *read == path));
}

/// Every computation of a session takes a file of its own.
#[test]
fn computations_of_a_session_take_from_disk_in_turn() {
    let kept = Kept::new();
    prepare(&kept, &for_rows(3), 2, Phase::FunctionIndependent);
    prepare(&kept, &for_rows(3), 1, Phase::FunctionDependent);
    let computation: Computation = TEXT.parse().unwrap_or_else(|e| panic!("{e}"));
    let chosen = Chosen::new(Protocol::Authgarble(3), None, None).unwrap_or_else(|e| panic!("{e}"));
    let left = kept.each(kept.configs(&ALL, |_, _| {}), |p, config, observer| {
        let mut session =
            ComputeSession::connect(config, chosen, None, &[], observer).unwrap_or_else(|e| panic!("{e}"));
        let mut inputs = BTreeMap::from([("most".to_owned(), Value::from(139u32))]);
        match p {
            0 => drop(inputs.insert("x".into(), Value::from([1u32, 2, 3]))),
            1 => drop(inputs.insert("y".into(), Value::from([10u32, 20, 30]))),
            _ => {}
        }
        let runs = (0..4).map(|_| {
            let learnt = session.run(&computation, &inputs).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(learnt["total"].records(), TOTAL.to_le_bytes());
            [kept.garbled(p).len(), kept.stocks(p).len()]
        });
        runs.collect::<Vec<_>>()
    });
    assert_eq!(left, vec![vec![[0, 2], [0, 1], [0, 0], [0, 0]]; 3]);
}
