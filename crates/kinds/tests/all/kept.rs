//! Links that serve several runs of the same members.

use hushwire_fault::code;
use hushwire_kinds::{ComputationSource, ComputeJob, ComputeTask};
use hushwire_session::{
    InputPlace, KeptLinks, Member, MemberConfig, OutputPlace, Protocol, Task, session_of,
};
use std::{collections::BTreeMap, time::Duration};

use super::stored::{Ended, configs, run_all};

fn task(operation: &str) -> ComputeTask {
    let text = format!(
        "computation c\nmembers party0, party1\ninput x: u32 from party0\ninput y: u32 from party1\n\
         output z = x {operation} y to party1\n"
    );
    ComputeTask::new(&ComputeJob::new(Protocol::Rep3, ComputationSource::Text(text)))
        .unwrap_or_else(|e| panic!("{e}"))
}

/// Members that keep their links.
struct Kept {
    links: BTreeMap<Member, KeptLinks>,
}

impl Kept {
    fn new() -> Self {
        Self { links: (0..3).map(|party| (Member::Party(party), KeptLinks::new())).collect() }
    }

    fn there(&self) -> Vec<bool> {
        self.links.values().map(KeptLinks::are_there).collect()
    }

    /// A run in which each member takes its label from `label`.
    fn run(
        &self,
        task: &ComputeTask,
        (x, y): (u32, u32),
        label: impl Fn(u8) -> String,
        furnish: impl Fn(&mut MemberConfig),
    ) -> Ended<ComputeTask> {
        let mut all = configs(task);
        for (me, config) in &mut all {
            let Member::Party(party) = me else { panic!("parties alone") };
            config.session = session_of(&label(*party));
            config.kept = Some(self.links[me].clone());
            match party {
                0 => _ = config.inputs.insert("x".into(), InputPlace::Values(x.to_string().into())),
                1 => {
                    config.inputs.insert("y".into(), InputPlace::Values(y.to_string().into()));
                    config.outputs.insert("z".into(), OutputPlace::Show);
                }
                _ => {}
            }
            furnish(config);
        }
        run_all(task, all)
    }
}

fn learnt(ended: &Ended<ComputeTask>) -> String {
    let outcome = ended[&Member::Party(1)].as_ref().unwrap_or_else(|e| panic!("{e}"));
    assert!(ended.values().all(Result::is_ok));
    outcome.learnt.shown[0].1.elements[0].clone()
}

/// Makes everybody unreachable: members without links could not meet.
fn deaf(config: &mut MemberConfig) {
    (config.listener, config.connect_timeout) = (None, Duration::from_secs(1));
    for peer in &mut config.peers {
        peer.address = Some("127.0.0.1:9".to_owned());
    }
}

#[test]
fn a_run_on_kept_links_meets_nobody_and_computes_the_same() {
    let (kept, sum) = (Kept::new(), task("+"));
    assert_eq!(kept.there(), [false; 3]);
    assert_eq!(learnt(&kept.run(&sum, (3, 4), |_| "1".into(), |_| {})), "7");
    for n in 2..12u32 {
        assert_eq!(kept.there(), [true; 3]);
        assert_eq!(learnt(&kept.run(&sum, (n, 100), |_| n.to_string(), deaf)), (n + 100).to_string());
    }
    // Another computation with the same lanes may follow.
    assert_eq!(sum.agreement().lanes, task("*").agreement().lanes);
    assert_eq!(learnt(&kept.run(&task("*"), (6, 7), |_| "*".into(), deaf)), "42");
}

#[test]
fn members_of_different_runs_refuse_each_other_on_kept_links() {
    let (kept, sum) = (Kept::new(), task("+"));
    assert_eq!(learnt(&kept.run(&sum, (3, 4), |_| "1".into(), |_| {})), "7");
    let ended = kept.run(&sum, (3, 4), |party| if party == 2 { "2" } else { "3" }.into(), deaf);
    assert!(ended.values().all(Result::is_err));
    let errors: Vec<_> = ended.values().filter_map(|ended| ended.as_ref().err()).collect();
    assert!(
        errors.iter().any(|e| e.code() == code::DISAGREE && e.to_string().contains("another run")),
        "{errors:?}"
    );
    // The remaining links are unusable.
    assert_eq!(kept.there(), [false; 3]);
    assert_eq!(learnt(&kept.run(&sum, (5, 6), |_| "4".into(), |_| {})), "11", "they meet anew");
}

#[test]
fn links_whose_other_end_is_gone_are_not_there() {
    let (kept, sum) = (Kept::new(), task("+"));
    assert_eq!(learnt(&kept.run(&sum, (3, 4), |_| "1".into(), |_| {})), "7");
    kept.links[&Member::Party(0)].close();
    let ended = kept.run(&sum, (3, 4), |_| "2".into(), deaf);
    assert!(ended.values().all(Result::is_err), "one meets anew, the others do not");
}
