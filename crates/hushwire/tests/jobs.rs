//! Jobs that only the library runs, compared with the expected numbers.

use hushwire::{
    CircuitBuilder, LocalJob,
    job::{
        Common, InputPlace, Kind, Member, MemberConfig, OutputPlace, Protocol, PsiJob, PsiTask, RunFiles,
        Task,
    },
    psi::Reveal,
    wire::{Identity, Listener, TransportKind},
};
use std::{fs, os::unix::fs::PermissionsExt, sync::Arc};

#[test]
fn records_go_in_and_out_in_memory() {
    for (protocol, owners) in
        [(Protocol::Rep3, ["client:a", "party2"]), (Protocol::Gmw, ["party0", "party1"])]
    {
        let to = [owners[0], "party1"];
        let job = CircuitBuilder::named(protocol, "add:32").instances(300);
        let job = job.input("x", owners[0]).input("y", owners[1]).output("sum", to);
        let job = job.build().unwrap_or_else(|e| panic!("{e}"));
        let [x, y] =
            [7919u32, 104_729].map(|step| (0..300).map(|i| step.wrapping_mul(i)).collect::<Vec<_>>());
        let records = |numbers: &[u32]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>();
        let run = LocalJob::new(&job).transport(TransportKind::TcpTls).in_memory();
        let ended =
            run.records("x", records(&x)).records("y", records(&y)).run().unwrap_or_else(|e| panic!("{e}"));
        // A sum has 33 bits, and so five bytes.
        let sums = x.iter().zip(&y).map(|(x, y)| u64::from(*x) + u64::from(*y));
        let sums: Vec<u8> = sums.flat_map(|sum| sum.to_le_bytes().into_iter().take(5)).collect();
        assert!(ended.records("sum") == Some(&sums[..]), "{protocol}");
        for member in to.map(|to| to.parse::<Member>().unwrap_or_else(|e| panic!("{e}"))) {
            let learnt = ended.learnt(&member).unwrap_or_else(|| panic!("{member}"));
            assert!(learnt.records == [(0, sums.clone())], "{member}");
            assert!(ended.stats(&member).is_some_and(|stats| stats.bytes_received > 0));
        }
        let other = ended.learnt(&Member::Party(0)).unwrap_or_else(|| panic!("party 0"));
        assert_eq!(other.records.is_empty(), protocol == Protocol::Rep3, "nobody else learns anything");
    }
}

#[test]
fn an_intersection_is_a_job_too() {
    let task = PsiTask::new(&PsiJob::new(Reveal::Items, "key")).unwrap_or_else(|e| panic!("{e}"));
    let rows = |text: &str| InputPlace::Memory(Arc::new(text.as_bytes().to_vec().into()));
    let run = LocalJob::new(&task).bring(Member::Party(0), "csv", rows("key\na\nb\nc\n"));
    let ended =
        run.bring(Member::Party(1), "csv", rows("key\nc\nd\na\n")).run().unwrap_or_else(|e| panic!("{e}"));
    for (party, items) in [(0, ["a", "c"]), (1, ["c", "a"])] {
        let learnt = ended.learnt(&Member::Party(party)).unwrap_or_else(|| panic!("party {party}"));
        assert_eq!(learnt.common, Common::Items(items.map(str::to_owned).to_vec()));
    }
}

#[test]
fn mistakes_are_said_before_anybody_waits() {
    let job = CircuitBuilder::named(Protocol::Yao, "less:8").input("a", "party0").input("b", "party1");
    let good = job.clone().output("less", ["party0"]).build().unwrap_or_else(|e| panic!("{e}"));
    let new = || LocalJob::new(&good);
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let nowhere = OutputPlace::File(dir.path().join("no/such/file"));
    for (run, kind, words) in [
        (new().input("a", "01"), Kind::Usage, "party 1 has no value for input `b`"),
        (new().input("a", "01").input("c", "02"), Kind::Usage, "no input called `c`; it has a, b"),
        (new().input("a", "01").input("b", "0"), Kind::Usage, "exactly 2 hexadecimal digits"),
        (
            new().input("a", "01").records("b", vec![1, 2]),
            Kind::Usage,
            "it has 2 bytes, and 1 instances of 8 bits are 1",
        ),
        (
            new().bring(Member::Party(2), "a", InputPlace::Hex("01".to_owned().into())),
            Kind::Usage,
            "the job has no party 2",
        ),
        (
            new().input("a", "01").input("b", "02").keep(Member::Party(0), "less", nowhere),
            Kind::File,
            "no/such/file",
        ),
    ] {
        let error = run.run().err().unwrap_or_else(|| panic!("{words}"));
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    let error = job.output("less", ["alice"]).build().err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("\"alice\" is neither a party") && error.contains("client:alice"), "{error}");
}

/// A party with several jobs listens on one port for all of them.
#[test]
fn jobs_at_once_share_each_partys_port() {
    let jobs: Vec<_> = [("add:8", "07", "18"), ("less:8", "07", "11"), ("sub:8", "30", "11")]
        .into_iter()
        .map(|(circuit, x, y)| {
            let job = CircuitBuilder::named(Protocol::Rep3, circuit).input("x", "party0");
            let job = job.input("y", "party1").output("out", ["party2"]).build();
            (job.unwrap_or_else(|e| panic!("{e}")), [x, y])
        })
        .collect();
    let parties: Vec<_> = (0..3)
        .map(|i| {
            let identity = Identity::generate(&format!("party {i}")).unwrap_or_else(|e| panic!("{e}"));
            let listener = Listener::bind("127.0.0.1:0").unwrap_or_else(|e| panic!("{e}"));
            (Member::Party(i), identity.to_pem(), Arc::new(listener.shared()))
        })
        .collect();
    let open = |job, values: &[&str; 2], i: usize| {
        let (me, pem, listener) = &parties[i];
        let identity = Identity::from_pem(pem).unwrap_or_else(|e| panic!("{e}"));
        let mut member =
            hushwire::Member::new(MemberConfig::new(me.clone(), identity, Some(listener.clone())));
        if let Some(value) = values.get(i) {
            member = member.bring(["x", "y"][i], InputPlace::Hex((*value).to_owned().into()));
        }
        member.open(job).unwrap_or_else(|e| panic!("{e}"))
    };
    let outputs: Vec<_> = std::thread::scope(|scope| {
        let mut running = vec![];
        for (job, values) in &jobs {
            let members: Vec<_> = (0..3).map(|i| open(job, values, i)).collect();
            let peers: Arc<Vec<_>> = Arc::new(members.iter().map(hushwire::Opened::peer).collect());
            running.extend(members.into_iter().map(|member| {
                let peers = peers.clone();
                scope.spawn(move || member.run(&peers).unwrap_or_else(|e| panic!("{e}")).learnt.digits)
            }));
        }
        running.into_iter().map(|member| member.join().unwrap_or_else(|e| panic!("{e:?}"))).collect()
    });
    let shown: Vec<_> = outputs.into_iter().flatten().map(|(_, digits)| digits).collect();
    assert_eq!(shown, ["01f", "1", "01f"]);
}

#[test]
fn an_output_that_may_replace_files_of_others_replaces_none_of_the_members_own() {
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let at = |name: &str| dir.path().join(name);
    let put = |name: &str, text: &str| fs::write(at(name), text).unwrap_or_else(|e| panic!("{e}"));
    let identity = Identity::generate("a").unwrap_or_else(|e| panic!("{e}"));
    put("a.pem", &identity.to_pem());
    fs::set_permissions(at("a.pem"), PermissionsExt::from_mode(0o600)).unwrap_or_else(|e| panic!("{e}"));
    put("allowed.txt", "");
    let peers: String = (0..3)
        .map(|i| format!("[[peers]]\nindex = {i}\naddress = \"127.0.0.1:1\"\npin = \"{}\"\n", identity.pin()))
        .collect();
    put("a.toml", &format!("name = \"a\"\nkey = \"a.pem\"\nallow-file = \"allowed.txt\"\n{peers}"));
    let job = CircuitBuilder::named(Protocol::Rep3, "add:8").input("x", "party0").input("y", "party1");
    let job = job.output("sum", ["client:a"]).build().unwrap_or_else(|e| panic!("{e}"));
    for (name, what) in [
        ("a.toml", "this member's own file"),
        ("a.pem", "this member's private key"),
        ("allowed.txt", "the jobs that this member allows"),
    ] {
        let member = hushwire::Member::client(&at("a.toml"), "").unwrap_or_else(|e| panic!("{e}"));
        let member = member.files(RunFiles::new(true)).allow(job.terms().digest());
        let opened = member.keep("sum", OutputPlace::File(at(name))).open(&job);
        let error = opened.err().unwrap_or_else(|| panic!("{name} was taken for an output"));
        assert!(error.kind() == Kind::Refused && error.cause().contains(what), "{name}: {error}");
    }
}
