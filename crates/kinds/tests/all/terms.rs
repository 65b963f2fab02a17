//! The terms of jobs, whose digests operators allow: what they bind, what they leave out, and
//! members that decline.

use hushwire_aes::Backend;
#[cfg(feature = "sql")]
use hushwire_kinds::Runs;
use hushwire_kinds::{ComputeTask, Job, Prepared, PsiTask};
use hushwire_session::{
    ClientFile, Fault, Kind, Member, MemberConfig, Observer, Peer, RunFiles, Task, TermsDigest, open, run,
};
use hushwire_wire::{Identity, TransportKind};
use std::{
    collections::BTreeSet, fs, io::Read, os::unix::net::UnixListener, path::Path, sync::Arc, time::Duration,
};

fn parsed(text: &str, dir: &Path) -> Result<Job, Fault> {
    Job::parse(text, &dir.join("job.toml"))
}

/// The digest of the terms of a job whose files, if any, are in `dir`.
fn digest_in(text: &str, dir: &Path) -> TermsDigest {
    let terms = match parsed(text, dir).unwrap_or_else(|e| panic!("{text}: {e}")) {
        Job::Circuit(job) => Prepared::new(&job).map(|task| task.terms()),
        Job::AesCtr(job) => Ok(job.terms()),
        Job::Psi(job) => PsiTask::new(&job).map(|task| task.terms()),
        Job::Compute(job) => ComputeTask::new(&job).map(|task| task.terms()),
        #[cfg(feature = "sql")]
        Job::Query(job) => job.task().map(|task| task.terms()),
        _ => panic!("another kind: {text}"),
    };
    terms.unwrap_or_else(|e| panic!("{text}: {e}")).digest()
}

/// Checks that each of `terms` changes the digest of `base`, and that `sizes` do not. A change is a
/// piece of text and its replacement.
fn bind(base: &str, terms: &[(&str, &str)], sizes: &[(&str, &str)], dir: &Path) {
    let digest = |(from, to): &(&str, &str)| {
        assert!(base.contains(from), "{from} is no part of {base}");
        digest_in(&base.replace(from, to), dir)
    };
    let mut seen = BTreeSet::from([digest_in(base, dir)]);
    for change in sizes {
        assert!(seen.contains(&digest(change)), "{change:?} is no term");
    }
    for change in terms {
        assert!(seen.insert(digest(change)), "{change:?} is a term");
    }
}

#[test]
fn numbers_that_no_input_has_as_its_length_are_terms() {
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let text = "computation above\nmembers a, b\nsymbols n, k\ninput x: u32[n] from a\n\
                limit = sum(broadcast(const(u32, 1), [k]))\noutput above = sum(x) > limit to b\n";
    fs::write(dir.path().join("above.hwc"), text).unwrap_or_else(|e| panic!("{e}"));
    let base = "computation = \"above.hwc\"\n[symbols]\nk = 1000\nn = 3\n[parameters]\nthreads = 2\n";
    // A member that may choose k under an allowed digest finds a's sum by bisection.
    let terms = [("k = 1000", "k = 5"), ("k = 1000\n", "")];
    let sizes =
        [("n = 3", "n = 4"), ("n = 3", "n = \"<= 100\""), ("n = 3\n", ""), ("threads = 2", "threads = 1")];
    bind(base, &terms, &sizes, dir.path());
}

#[test]
fn terms_of_each_kind_bind_and_sizes_do_not() {
    let dir = Path::new("/nowhere");
    let base = "protocol = \"rep3\"\ncircuit = \"add:32\"\ninstances = 3\n[[inputs]]\nname = \"a\"\nfrom = \"party0\"\n[[inputs]]\nfrom = \"party1\"\n\
                [[outputs]]\nto = [\"party2\"]\n[parameters]\nbatch = 2\n";
    bind(
        base,
        &[
            ("add:32", "sub:32"),
            ("circuit = ", "bit-order = \"msb\"\ncircuit = "),
            ("\"a\"", "\"b\""),
            ("from = \"party1\"", "from = \"client:carl\""),
            ("to = [\"party2\"]", "to = [\"party1\"]"),
            ("to = [\"party2\"]", "to = [\"party0\", \"party2\"]"),
        ],
        &[("instances = 3", "instances = 4"), ("batch = 2", "batch = 1\nthreads = 1")],
        dir,
    );
    let base = "kind = \"psi\"\nkey = \"email\"\nto = \"party0\"\nreveal = \"items\"\n";
    bind(
        base,
        &[
            ("\"email\"", "\"phone\""),
            ("\"items\"", "\"flags\""),
            ("to = \"party0\"", "to = \"party1\""),
            ("to = \"party0\"", "to = \"party0\"\nsecurity = \"malicious\""),
        ],
        &[("to = \"party0\"", "to = \"party0\"\nmost-items = 77")],
        dir,
    );
    let base =
        "kind = \"aes-ctr\"\nowner = \"client:ann\"\ndirection = \"encrypt\"\n[parameters]\nbatch = 64\n";
    bind(
        base,
        &[("client:ann", "client:bob"), ("\"encrypt\"", "\"decrypt\"")],
        &[("batch = 64", "batch = 128")],
        dir,
    );
}

#[cfg(feature = "sql")]
#[test]
fn terms_of_queries_bind_and_numbers_of_rows_do_not() {
    let base = "kind = \"query\"\nto = [\"client:analyst\"]\njoin-bound = 9\n\
        sql = \"SELECT city, SUM(salary) AS total FROM salaries JOIN people ON person = id GROUP BY city ORDER BY city\"\n\
        [[tables]]\nname = \"salaries\"\ncolumns = [\"person INTEGER NOT NULL\", \"salary DECIMAL(10, 2) NOT NULL\"]\n\
        parts = [\"client:alice 9\"]\n\
        [[tables]]\nname = \"people\"\ncolumns = [\"id INTEGER NOT NULL\", \"city VARCHAR(6) NOT NULL\"]\nkey = [\"id\"]\n\
        parts = [\"client:bob 9\"]\n";
    bind(
        base,
        &[
            ("SUM(salary)", "MAX(salary)"),
            ("to = [", "min-group = 5\nto = ["),
            ("to = [", "tag-joins = true\nto = ["),
            ("join-bound = 9", "join-bound = 100"),
            ("client:analyst", "client:bob"),
            ("DECIMAL(10, 2)", "DECIMAL(10, 3)"),
            ("person INTEGER NOT NULL", "person INTEGER"),
            ("client:alice", "client:anna"),
            ("parts = [\"client:alice 9\"]", "parts = [\"client:alice 9\"]\npadded = true"),
            ("key = [\"id\"]", "key = [\"id\", \"city\"]"),
        ],
        &[
            ("client:alice 9", "client:alice 5000"),
            ("salary DECIMAL(10, 2) NOT NULL", "salary  numeric(10,2) not null"),
        ],
        Path::new("/nowhere"),
    );
}

/// Owners and public values of computations are terms, too. The terms that describe a result name
/// the runs that may replace it.
#[test]
fn owners_public_values_and_what_a_result_tells_are_terms() {
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let text = "computation c\nmembers a\nsymbols k\ninput p: u8 public\ninput s: u32 secret\n\
                output z = s + sum(broadcast(const(u32, 1), [k])) to a\n";
    fs::write(dir.path().join("c.hwc"), text).unwrap_or_else(|e| panic!("{e}"));
    let base = "computation = \"c.hwc\"\n[symbols]\nk = 5\n[public]\np = { values = \"7\" }\n[owners]\ns = \"client:bob\"\n";
    let terms = [("\"7\"", "\"8\""), ("client:bob", "client:eve"), ("client:bob", "party1")];
    bind(base, &terms, &[], dir.path());
    let writer = |text: &str| {
        let Ok(Job::Compute(job)) = parsed(text, dir.path()) else { panic!("no computation: {text}") };
        ComputeTask::new(&job).map_or_else(|e| panic!("{e}"), |task| task.writer("z"))
    };
    assert_ne!(writer(base), writer(&base.replace("k = 5", "k = 6")));
    let writer = |text: &str| {
        let Ok(Job::Psi(job)) = parsed(text, dir.path()) else { panic!("no intersection: {text}") };
        PsiTask::new(&job).map_or_else(|e| panic!("{e}"), |task| task.writer())
    };
    let base = "kind = \"psi\"\nkey = \"email\"\nto = \"party0\"\nreveal = \"items\"\n";
    assert_eq!(writer(base), writer(&base.replace("to =", "most-items = 9\nto =")));
    assert_ne!(writer(base), writer(&base.replace("items", "flags")));
    assert_ne!(writer(base), writer(&base.replace("party0", "party1")));
}

#[test]
fn a_public_file_of_a_job_lies_below_the_job() {
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let folder = dir.path().join("job");
    fs::create_dir_all(folder.join("below")).unwrap_or_else(|e| panic!("{e}"));
    std::os::unix::fs::symlink(dir.path(), folder.join("link")).unwrap_or_else(|e| panic!("{e}"));
    let with = |file: &str| {
        let job = format!("computation = \"c.hwc\"\n[public]\nrate = {{ file = \"{file}\" }}\n");
        parsed(&job, &folder).map(drop).map_err(|e| e.to_string())
    };
    for good in ["rate.bin", "./rate.bin", "below/rate.bin"] {
        assert_eq!(with(good), Ok(()), "{good}");
    }
    let absolute = folder.join("rate.bin").display().to_string();
    for bad in [
        "/etc/hostname",
        "../secret",
        "below/../../secret",
        "link/secret",
        &absolute.replace("/job/", "/other/"),
    ] {
        let error = with(bad).err().unwrap_or_else(|| panic!("{bad} was taken"));
        assert!(error.contains("line 3: `rate` is no file below the job's folder; put the file"), "{error}");
    }
}

/// A member that allows no job, whose only peers are at this address.
fn declining(at: &Path) -> MemberConfig {
    let identity = |name| Identity::generate(name).unwrap_or_else(|e| panic!("{e}"));
    let mut config = MemberConfig::new(Member::Client("a".into()), identity("a"), None);
    let address = format!("unix:{}", at.display());
    let peer =
        |i| Peer { member: Member::Party(i), address: Some(address.clone()), pin: identity("p").pin() };
    config.peers = (0..3).map(peer).collect();
    config.connect_timeout = Duration::from_secs(4);
    // The test can then read what it sends.
    config.transport = TransportKind::Unix;
    config.allow([]);
    config
}

#[test]
fn a_member_that_declines_tells_no_digest_of_files_that_the_job_names() {
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let text =
        "computation c\nmembers a\ninput rate: u8 public\ninput x: u8 from a\noutput z = x * rate to a\n";
    fs::write(dir.path().join("c.hwc"), text).unwrap_or_else(|e| panic!("{e}"));
    fs::write(dir.path().join("rate.bin"), [7]).unwrap_or_else(|e| panic!("{e}"));
    for (rate, has_digests) in [("file = \"rate.bin\"", false), ("values = \"7\"", true)] {
        let path = dir.path().join(format!("{has_digests}.socket"));
        let at = UnixListener::bind(&path).unwrap_or_else(|e| panic!("{e}"));
        at.set_nonblocking(true).unwrap_or_else(|e| panic!("{e}"));
        let job = parsed(&format!("computation = \"c.hwc\"\n[public]\nrate = {{ {rate} }}\n"), dir.path());
        let Ok(Job::Compute(job)) = job else { panic!("{job:?}") };
        let task = ComputeTask::new(&job).unwrap_or_else(|e| panic!("{e}"));
        let observer: Observer = Arc::new(|_| ());
        let error = run(&task, declining(&path), &observer).err().unwrap_or_else(|| panic!("it ran"));
        assert_eq!(error.kind(), Kind::Refused, "{error}");
        let (mut stream, _) = at.accept().unwrap_or_else(|e| panic!("{rate}: nobody is told: {e}"));
        stream.set_nonblocking(false).unwrap_or_else(|e| panic!("{e}"));
        let mut hello = [0; 128];
        stream.read_exact(&mut hello).unwrap_or_else(|e| panic!("{e}"));
        // The digests of the job and of its parameters, and the reason.
        assert_eq!(hello[28..92].iter().any(|byte| *byte != 0), has_digests, "{rate}");
        assert_eq!(hello[100], 11, "{rate}");
        // A program that opens its session first is refused as well.
        let error = open(&task, &mut declining(&path)).err().unwrap_or_else(|| panic!("it opened"));
        assert_eq!(error.kind(), Kind::Refused, "{error}");
    }
}

#[test]
fn no_output_replaces_the_list_of_jobs_that_a_member_allows() {
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let put = |name: &str, text: &str| {
        fs::write(dir.path().join(name), text).unwrap_or_else(|e| panic!("{e}"));
    };
    let identity = Identity::generate("a").unwrap_or_else(|e| panic!("{e}"));
    put("a.pem", &identity.to_pem());
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(dir.path().join("a.pem"), private).unwrap_or_else(|e| panic!("{e}"));
    put("allowed.txt", "");
    let text = format!(
        "name = \"a\"\nkey = \"a.pem\"\nallow-file = \"allowed.txt\"\n[[peers]]\nindex = 0\naddress = \"127.0.0.1:1\"\npin = \"{}\"\n",
        identity.pin()
    );
    let file = ClientFile::parse(&text, &dir.path().join("a.toml")).unwrap_or_else(|e| panic!("{e}"));
    let mut config = MemberConfig::of_client(file, "", Backend::best()).unwrap_or_else(|e| panic!("{e}"));
    config.files.set_force(true);
    let error = config.files.check("with --out", &dir.path().join("allowed.txt"), RunFiles::ONCE).err();
    assert!(error.is_some_and(|e| e.to_string().contains("the jobs that this member allows")));
}

/// A result may be replaced by a later run of the same question on other rows, but not by one that
/// reveals more.
#[cfg(feature = "sql")]
#[test]
fn results_of_queries_are_of_the_same_terms_and_members_have_names_of_their_own() {
    let base = "kind = \"query\"\nto = [\"client:ann\"]\nsql = \"SELECT city, COUNT(*) AS n FROM t GROUP BY city\"\nmin-group = 3\n\
                [[tables]]\nname = \"t\"\ncolumns = [\"city VARCHAR(6) NOT NULL\"]\nparts = [\"client:bob 9\"]\n";
    let task = |text: &str| match parsed(text, Path::new("/nowhere")) {
        Ok(Job::Query(job)) => hushwire_kinds::QueryTask::new(&job),
        other => panic!("{other:?}"),
    };
    let writer = |(from, to): (&str, &str)| {
        task(&base.replace(from, to)).map_or_else(|e| panic!("{e}"), |task| task.writer())
    };
    let ours = writer(("", ""));
    assert_eq!(ours, writer(("client:bob 9", "client:bob 12")));
    for change in
        [("min-group = 3", "min-group = 1"), ("client:ann", "client:bob"), ("VARCHAR(6)", "VARCHAR(7)")]
    {
        assert_ne!(ours, writer(change), "{change:?}");
    }
    let Ok(Job::Query(mut job)) = parsed(base, Path::new("/nowhere")) else { panic!("no query") };
    job.to = vec![Member::Client("party0".into())];
    let error = hushwire_kinds::QueryTask::new(&job).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("client party0 is called as a party is"), "{error}");
}

#[test]
fn results_of_circuits_are_of_the_circuit_and_not_of_its_name() {
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let writer = |gate: &str, protocol: &str| {
        let text = format!("1 3\n2 1 1\n1 1\n\n2 1 0 1 2 {gate}\n");
        fs::write(dir.path().join("gate.txt"), text).unwrap_or_else(|e| panic!("{e}"));
        let job = format!(
            "protocol = \"{protocol}\"\ncircuit-file = \"gate.txt\"\n[[inputs]]\nfrom = \"party0\"\n[[inputs]]\nfrom = \"party1\"\n\
             [[outputs]]\nto = [\"party1\"]\n"
        );
        let Ok(Job::Circuit(job)) = parsed(&job, dir.path()) else { panic!("no circuit: {job}") };
        Prepared::new(&job).map_or_else(|e| panic!("{e}"), |task| task.plan.writer("z"))
    };
    let ours = writer("AND", "rep3");
    assert_eq!(ours, writer("AND", "gmw"));
    assert_ne!(ours, writer("XOR", "rep3"));
}
