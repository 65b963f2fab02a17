//! Intersections as jobs: two parties with a CSV file each, over TCP with TLS. Sets of the standard
//! library are the oracle.

use hushwire_kinds::{Common, Intersection, Job, PsiReveal, PsiTask};
use hushwire_session::{
    Fault, InputPlace, Kind, Member, MemberConfig, Outcome, OutputPlace, Peer, Task, run,
};
use hushwire_wire::{Identity, Listener};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

type Ended = Result<Outcome<Intersection>, Fault>;

fn task(keys: &str) -> Result<PsiTask, String> {
    let job =
        Job::parse(&format!("kind = \"psi\"\n{keys}\n"), Path::new("job.toml")).map_err(|e| e.to_string())?;
    let Job::Psi(job) = job else { return Err("another kind".into()) };
    PsiTask::new(&job).map_err(|e| e.to_string())
}

type Places = (InputPlace, Option<OutputPlace>);

fn config(index: u8, (rows, result): Places, identity: Identity) -> MemberConfig {
    MemberConfig {
        connect_timeout: Duration::from_secs(30),
        stall: Duration::from_secs(30),
        inputs: BTreeMap::from([("csv".to_owned(), rows)]),
        outputs: result.map(|place| ("result".to_owned(), place)).into_iter().collect(),
        ..MemberConfig::new(Member::Party(index), identity, None)
    }
}

fn key() -> Identity {
    Identity::generate("a party").unwrap_or_else(|e| panic!("{e}"))
}

/// Runs both parties on threads, each with its own job and places.
fn both(tasks: [&PsiTask; 2], places: [Places; 2]) -> [Ended; 2] {
    let silent: hushwire_session::Observer = Arc::new(|_| {});
    both_heard(tasks, places, &silent)
}

fn both_heard(
    tasks: [&PsiTask; 2],
    places: [Places; 2],
    observer: &hushwire_session::Observer,
) -> [Ended; 2] {
    let [a, b] = places;
    let mut configs = [config(0, a, key()), config(1, b, key())];
    let mut peers = vec![];
    for config in &mut configs {
        let listener = Listener::bind("127.0.0.1:0").unwrap_or_else(|e| panic!("{e}"));
        let (member, address, pin) = (config.me.clone(), Some(listener.address()), config.identity.pin());
        config.listener = Some(Arc::new(listener));
        peers.push(Peer { member, address, pin });
    }
    for config in &mut configs {
        config.peers = peers.iter().filter(|peer| peer.member != config.me).cloned().collect();
    }
    thread::scope(|scope| {
        let running = configs.into_iter().zip(tasks);
        let running = running.map(|(config, task)| scope.spawn(move || run(task, config, observer)));
        let running: Vec<_> = running.collect();
        let ended: Vec<_> =
            running.into_iter().map(|thread| thread.join().unwrap_or_else(|_| panic!("a panic"))).collect();
        ended.try_into().unwrap_or_else(|_| panic!("two parties"))
    })
}

/// The error of a party that fails before it dials.
fn refused(task: &PsiTask, index: u8, places: Places) -> Fault {
    let mut config = config(index, places, key());
    config.protect_inputs();
    task.open(&mut config).err().unwrap_or_else(|| panic!("it was taken"))
}

fn memory(text: &str) -> InputPlace {
    InputPlace::memory(text)
}

fn learnt(ended: Ended) -> Intersection {
    ended.unwrap_or_else(|e| panic!("{e}")).learnt
}

const A: &str = "id,email\n1,ann@x\n2,bob@x\n3,\n4,eve@x\n5,ann@x\n";
/// Like [`A`], with each key once, as a party that gives columns has it.
const A_ONCE: &str = "id,email\n1,ann@x\n2,bob@x\n3,\n4,eve@x\n";
const B: &str = "mail\neve@x\nann@x\nzoe@x\nyan@x\n";
const COLUMNS: &str = "columns = [\"email\", \"mail\"]";

fn common() -> BTreeSet<String> {
    let a: BTreeSet<&str> = A.lines().skip(1).filter_map(|l| l.split(',').nth(1)).collect();
    let b: BTreeSet<&str> = B.lines().skip(1).collect();
    a.intersection(&b).map(|key| (*key).to_owned()).collect()
}

#[test]
fn both_learn_a_size_and_items_each_in_its_own_words() {
    for method in ["", "store = \"band\"", "method = \"circuit\"", "protocol = \"yao\"", "protocol = \"gmw\""]
    {
        let size = task(&format!("{method}\nreveal = \"size\"\n{COLUMNS}"));
        let size = size.unwrap_or_else(|e| panic!("{e}"));
        for ended in both([&size, &size], [(memory(A), None), (memory(B), None)]).map(learnt) {
            assert_eq!(ended.common, Common::Size(common().len() as u64));
            assert_eq!((ended.keys, ended.text.as_deref()), ([3, 4], Some(&b"2\n"[..])));
        }
    }
    for keys in [
        "",
        "method = \"vole\"",
        "security = \"malicious\"",
        "store = \"band\"",
        "store = \"band\"\nsecurity = \"malicious\"",
        "method = \"phasing\"",
        "circuit = \"scs\"",
        "protocol = \"gmw\"",
    ] {
        let items = task(&format!("{keys}\n{COLUMNS}")).unwrap_or_else(|e| panic!("{e}"));
        both_learn_items(&items);
    }
}

#[test]
fn a_file_without_rows_has_nothing_in_common() {
    for (reveal, text) in [
        ("size", "0\n"),
        ("items", "id,email\n"),
        ("flags", "id,email,in_both\n1,ann@x,0\n2,bob@x,0\n3,,0\n4,eve@x,0\n5,ann@x,0\n"),
    ] {
        for method in ["", "method = \"phasing\""] {
            let task = task(&format!("reveal = \"{reveal}\"\n{method}\n{COLUMNS}"));
            let task = task.unwrap_or_else(|e| panic!("{e}"));
            let [ours, _] = both([&task, &task], [(memory(A), None), (memory("mail\n"), None)]).map(learnt);
            assert_eq!(ours.text.as_deref(), Some(text.as_bytes()), "{reveal} {method}");
            assert_eq!(ours.keys, [3, 0]);
        }
    }
}

/// A job may set the dialect of files. A party's own file takes precedence, and no digest covers
/// it.
#[test]
fn a_job_says_how_both_files_are_read() {
    let (a, b) = ("email|n\nann@x|1\nNA|2\neve@x|3\n", "mail;n\nNA;1\n'eve@x';2\n");
    let digest = |task: &PsiTask| task.terms().digest();
    let plain = task(COLUMNS).unwrap_or_else(|e| panic!("{e}"));
    for (keys, size) in [
        ("", 1),
        ("dialect = { null = \"NA\" }", 0),
        ("dialects = [{}, { quote = \"'\" }]", 2),
        ("dialects = [{ separator = \"|\", null = [\"NA\"] }, { separator = \";\", quote = \"'\" }]", 1),
    ] {
        let task = task(&format!("{keys}\nreveal = \"size\"\n{COLUMNS}")).unwrap_or_else(|e| panic!("{e}"));
        for ended in both([&task, &task], [(memory(a), None), (memory(b), None)]).map(learnt) {
            assert_eq!(ended.common, Common::Size(size), "{keys}");
        }
    }
    let odd = task(&format!("dialect = {{ null = \"NA\" }}\n{COLUMNS}")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(digest(&odd), digest(&plain));
    let own = InputPlace::memory(a.as_bytes());
    let mut dialect = hushwire_session::Dialect::default();
    dialect.set("null", "nothing").unwrap_or_else(|e| panic!("{e}"));
    let size = task(&format!("dialect = {{ null = \"NA\" }}\nreveal = \"size\"\n{COLUMNS}"));
    let size = size.unwrap_or_else(|e| panic!("{e}"));
    let places = [(InputPlace::Table(vec![own], dialect), None), (memory("mail\nann@x\n"), None)];
    for ended in both([&size, &size], places).map(learnt) {
        assert_eq!((&ended.common, ended.keys), (&Common::Size(1), [3, 1]));
    }
    for (keys, words) in [
        ("dialect = { colour = \"red\" }", "colour"),
        ("dialect = { decimal = \"x\" }", "cannot be used"),
        ("dialects = [{}]", "does not have the options of both files"),
        ("dialect = {}\ndialects = [{}, {}]", "stands beside `dialect`"),
    ] {
        let wrong = task(&format!("{keys}\n{COLUMNS}")).expect_err(keys);
        assert!(wrong.contains(words), "{wrong}");
    }
}

/// A set with more keys than were agreed on could be a dictionary. Whichever party brings it,
/// nothing is computed.
#[test]
fn a_set_larger_than_agreed_ends_the_run() {
    for method in ["vole", "circuit", "scs"] {
        // Only circuits reveal a size to both.
        let reveal = if method == "vole" { "items" } else { "size" };
        for (most, [own, other]) in [
            (
                "[3, 3]",
                [
                    "this party has 4 different keys and the peer 3",
                    "the peer has 4 different keys and this party 3",
                ],
            ),
            ("[3, 4]", [""; 2]),
            ("4", [""; 2]),
        ] {
            let keys =
                format!("method = \"{method}\"\nreveal = \"{reveal}\"\nmost-items = {most}\n{COLUMNS}");
            let task = task(&keys).unwrap_or_else(|e| panic!("{e}"));
            let ended = both([&task, &task], [(memory(A), None), (memory(B), None)]);
            if own.is_empty() {
                drop(ended.map(learnt));
                continue;
            }
            let errors = ended.map(|ended| ended.expect_err("taken"));
            let said = [&errors[1], &errors[0]].map(ToString::to_string);
            let bound = "and 3 are agreed on for it at most; agree on `most-items`";
            let tells = |i: usize, whose: &str| said[i].contains(whose) && said[i].contains(bound);
            assert!(tells(0, own) || tells(1, other), "{said:?}");
            assert!(errors.iter().all(|e| e.is_consequence() || e.kind() == Kind::Usage), "{said:?}");
        }
    }
    let [a, b] = ["[3, 4]", "[4, 4]"].map(|most| task(&format!("most-items = {most}\n{COLUMNS}")));
    let (a, b) = (a.unwrap_or_else(|e| panic!("{e}")), b.unwrap_or_else(|e| panic!("{e}")));
    let ended = both([&a, &b], [(memory(A), None), (memory(B), None)]).map(|ended| ended.expect_err("alike"));
    assert!(ended.iter().any(|e| e.to_string().contains("most items (ours: ")), "{ended:?}");
    let wrong = task(&format!("most-items = [1, 2, 3]\n{COLUMNS}")).expect_err("three");
    assert!(wrong.contains("is neither one number nor two"), "{wrong}");
    for none in ["0", "[0, 1]", "[1, 0]"] {
        let wrong = task(&format!("most-items = {none}\n{COLUMNS}")).expect_err(none);
        assert!(wrong.contains("most-items"), "{wrong}");
    }
}

/// All rows of a common key count, on the side that has the column.
#[test]
fn sums_are_those_of_the_rows_with_a_common_key() {
    let a = "email,paid\nann@x,5\nbob@x,7\neve@x,-12\n,100\nann@x,1\n";
    let b = "mail,n\neve@x,3\nann@x, -40\nzoe@x,1000\nann@x,\neve@x,9\n";
    for (reveal, sum, text) in [
        ("sum:n,count", -28, "count,sum\n2,-28\n"),
        ("sum:n@party1,count", -28, "count,sum\n2,-28\n"),
        ("sum:paid@party0,count", -6, "count,sum\n2,-6\n"),
    ] {
        let task = task(&format!("reveal = \"{reveal}\"\n{COLUMNS}")).unwrap_or_else(|e| panic!("{e}"));
        for ended in both([&task, &task], [(memory(a), None), (memory(b), None)]).map(learnt) {
            assert_eq!(ended.common, Common::Sum { count: 2, sum });
            assert_eq!(ended.text.as_deref(), Some(text.as_bytes()));
            assert_eq!((ended.found, ended.rows, ended.keys), (Some(2), None, [3, 3]));
        }
    }
    let task = task(&format!("reveal = \"sum:n,count\"\n{COLUMNS}")).unwrap_or_else(|e| panic!("{e}"));
    for (b, words) in
        [("mail\nann@x\n", "n"), ("mail,n\nann@x,1.5\n", "line 2: column n has a field of the form 9.9")]
    {
        let error = refused(&task, 1, (memory(b), None));
        assert!(error.kind() == Kind::File && error.to_string().contains(words), "{error}");
    }
    // Party 0 needs no such column.
    let mut other = config(0, (memory("email\nann@x\n"), None), key());
    assert!(task.open(&mut other).is_ok());
}

/// Rows of one party with the other's columns: keys that come once, twice on either side, or not at
/// all.
#[test]
fn columns_are_those_of_the_other_party_s_row() {
    let b = "mail,n,plan\neve@x,3,\nann@x,-40,\"a, b\"\nzoe@x,1,z\nann@x,-40,\"a, b\"\n,9,9\n";
    for security in ["semi-honest", "malicious"] {
        for (a, text, keys) in [
            (A, "id,email,plan,n\n1,ann@x,\"a, b\",-40\n4,eve@x,,3\n5,ann@x,\"a, b\",-40\n", [3, 3]),
            ("email\nzoe@x\n", "email,plan,n\nzoe@x,z,1\n", [1, 3]),
            ("email\nbob@x\n", "email,plan,n\n", [1, 3]),
            ("email\n", "email,plan,n\n", [0, 3]),
        ] {
            let task = task(&format!(
                "reveal = \"columns:plan,n\"\nsecurity = \"{security}\"\npayload-bytes = 9\n{COLUMNS}"
            ));
            let task = task.unwrap_or_else(|e| panic!("{e}"));
            let [ours, theirs] = both([&task, &task], [(memory(a), None), (memory(b), None)]).map(learnt);
            assert_eq!(ours.text.as_deref().map(String::from_utf8_lossy).as_deref(), Some(text));
            assert_eq!((ours.keys, theirs.common, theirs.text), (keys, Common::Nothing, None));
            let Common::Columns { keys, fields } = ours.common else { panic!("{:?}", ours.common) };
            let rows: Vec<(&str, [&str; 2])> = match keys.len() {
                2 => vec![("ann@x", ["a, b", "-40"]), ("eve@x", ["", "3"])],
                1 => vec![("zoe@x", ["z", "1"])],
                _ => vec![],
            };
            assert!(
                keys.iter().eq(rows.iter().map(|(key, _)| key))
                    && fields == rows.iter().map(|(_, f)| f.to_vec()).collect::<Vec<_>>()
            );
        }
    }
    // Party 1 learns a column of the other file, with the fewest bytes that suffice.
    let of = |keys: &str| task(&format!("{keys}\n{COLUMNS}")).unwrap_or_else(|e| panic!("{e}"));
    let ids = of("reveal = \"columns:id\"\nto = \"party1\"\npayload-bytes = 1");
    let b = "mail\neve@x\nzoe@x\nbob@x\n";
    let [theirs, ours] = both([&ids, &ids], [(memory(A_ONCE), None), (memory(b), None)]).map(learnt);
    assert_eq!(ours.text.as_deref(), Some(&b"mail,id\neve@x,4\nbob@x,2\n"[..]));
    assert_eq!((theirs.common, theirs.text), (Common::Nothing, None));
    let task = of("reveal = \"columns:plan,n\"");
    let error = refused(&task, 1, (memory("mail,n\nann@x,1\n"), None));
    assert!(error.kind() == Kind::File && error.to_string().contains("no column is called plan"), "{error}");
    let error = refused(&task, 0, (memory("email,plan\nann@x,1\n"), None));
    assert!(error.to_string().contains("it has a column plan already"), "{error}");
}

fn both_learn_items(items: &PsiTask) {
    assert_eq!(items.job().reveal, PsiReveal::Items, "what there is without a word");
    let ended = both([items, items], [(memory(A), None), (memory(B), None)]).map(learnt);
    for (ended, text) in
        ended.into_iter().zip(["id,email\n1,ann@x\n4,eve@x\n5,ann@x\n", "mail\neve@x\nann@x\n"])
    {
        let Common::Items(items) = ended.common else { panic!("{:?}", ended.common) };
        assert_eq!(items.into_iter().collect::<BTreeSet<_>>(), common());
        assert_eq!(ended.text.as_deref(), Some(text.as_bytes()), "its own order and column");
    }
}

#[test]
fn one_party_alone_learns_flags_or_items() {
    for learner in [0, 1] {
        for (reveal, texts) in [
            (
                "flags",
                [
                    "id,email,in_both\n1,ann@x,1\n2,bob@x,0\n3,,0\n4,eve@x,1\n5,ann@x,1\n",
                    "mail,in_both\neve@x,1\nann@x,1\nzoe@x,0\nyan@x,0\n",
                ],
            ),
            ("items", ["id,email\n1,ann@x\n4,eve@x\n5,ann@x\n", "mail\neve@x\nann@x\n"]),
        ] {
            for method in ["vole", "circuit", "scs"] {
                let task = task(&format!(
                    "method = \"{method}\"\nreveal = \"{reveal}\"\n{COLUMNS}\nto = \"party{learner}\""
                ));
                let task = task.unwrap_or_else(|e| panic!("{e}"));
                let ended = both([&task, &task], [(memory(A), None), (memory(B), None)]).map(learnt);
                assert_eq!(ended[learner].text.as_deref(), Some(texts[learner].as_bytes()), "{reveal}");
                assert!(ended.iter().all(|ended| ended.keys == [3, 4]), "those of party 0 come first");
                assert_eq!((&ended[1 - learner].common, &ended[1 - learner].text), (&Common::Nothing, &None));
            }
        }
    }
}

#[test]
fn results_are_files_that_appear_when_both_have_confirmed() {
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let at = |name: &str| dir.path().join(name);
    fs::write(at("a.csv"), A).and_then(|()| fs::write(at("b.csv"), B)).unwrap_or_else(|e| panic!("{e}"));
    let task = task(&format!("reveal = \"items\"\n{COLUMNS}")).unwrap_or_else(|e| panic!("{e}"));
    let places = |a: &str| {
        [a, "b"].map(|name| {
            let file = |name: String| at(&name);
            let out = name.chars().last().unwrap_or_default();
            (
                InputPlace::File(file(format!("{name}.csv"))),
                Some(OutputPlace::File(file(format!("{out}.out")))),
            )
        })
    };
    let ended = both([&task, &task], places("a")).map(learnt);
    assert!(
        ended.iter().all(|ended| ended.text.is_none() && ended.common == Common::Filed),
        "it is in the file"
    );
    assert_eq!(ended.map(|ended| (ended.found, ended.rows)), [(Some(2), Some(3)), (Some(2), Some(2))]);
    assert_eq!(
        fs::read_to_string(at("a.out")).ok().as_deref(),
        Some("id,email\n1,ann@x\n4,eve@x\n5,ann@x\n")
    );
    assert_eq!(fs::read_to_string(at("b.out")).ok().as_deref(), Some("mail\neve@x\nann@x\n"));
    let over = (InputPlace::File(at("a.csv")), Some(OutputPlace::File(at("a.csv"))));
    let error = refused(&task, 0, over);
    assert!(error.kind() == Kind::Refused && error.to_string().contains("overwrite input csv"), "{error}");
}

/// Two files that write the same key differently match, with columns in the order that the job
/// gives.
#[test]
fn keys_of_several_columns_are_compared_in_their_forms() {
    let a = "name,phone,id\n Zoe\u{308} ,030 123456,1\nAnn,+49 30 99999,2\nBob,none,3\nAnn,,4\n";
    let b = "tel,wer\n+4930123456,ZO\u{cb}\n0049 30 99999,Anne\n";
    let task = task(
        "keys = [[\"name\", \"phone\"], [\"wer\", \"tel\"]]\nnormalise = [\"nfc case\", \"phone:+49\"]\nreveal = \"items\"",
    );
    let task = task.unwrap_or_else(|e| panic!("{e}"));
    let ended = both([&task, &task], [(memory(a), None), (memory(b), None)]).map(learnt);
    let texts = ["name,phone,id\n Zoe\u{308} ,030 123456,1\n", "tel,wer\n+4930123456,ZO\u{cb}\n"];
    for (ended, text) in ended.iter().zip(texts) {
        assert_eq!(ended.text.as_deref(), Some(text.as_bytes()), "rows stand as their party has them");
        assert_eq!(ended.common, Common::Items(vec!["zo\u{eb},+4930123456".to_owned()]));
        assert_eq!((ended.found, ended.rows, ended.keys), (Some(1), Some(1), [2, 2]));
    }
}

/// The notes that both owners of such rows see before a run.
fn notes_of(keys: &str, rows: &str) -> Vec<String> {
    let task = task(keys).unwrap_or_else(|e| panic!("{e}"));
    let notes = Arc::new(Mutex::new(vec![]));
    let heard = notes.clone();
    let observer: hushwire_session::Observer = Arc::new(move |event| {
        if let hushwire_session::Event::Note(note) = event {
            heard.lock().unwrap_or_else(PoisonError::into_inner).push(note);
        }
    });
    let rows = || (memory(rows), None);
    for ended in both_heard([&task, &task], [rows(), rows()], &observer) {
        learnt(ended);
    }
    notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

#[test]
fn owners_see_how_their_keys_are_compared() {
    let notes = notes_of(
        "key = \"mail\"\nnormalise = \"email\"\nreveal = \"size\"",
        "mail\n Ann@X.org\nnone\n\"\"\nbob@x\n",
    );
    for line in [
        "2 rows have a key of mail (email), 1 have not; the first ones as they are compared:",
        "  \" Ann@X.org\" → \"ann@x.org\"",
        "1 row is in no set, since a field is not what its form is of; the first is in line 3",
    ] {
        assert!(notes.iter().filter(|note| *note == line).count() == 2, "{line}: {notes:?}");
    }
    for (form, field, compared) in [
        ("phone:+49", "030 / 12 34 56", "+4930123456"),
        ("nfc", "Zoe\u{308}", "Zo\u{eb}"),
        ("nfc case", "ZOE\u{308}", "zo\u{eb}"),
    ] {
        let keys = format!("key = \"k\"\nnormalise = \"{form}\"\nreveal = \"size\"");
        let notes = notes_of(&keys, &format!("k\n{field}\n"));
        let line = format!("  {field:?} → {compared:?}");
        assert!(notes.iter().filter(|note| **note == line).count() == 2, "{line}: {notes:?}");
    }
}

#[test]
fn whoever_has_another_plan_is_told_what_differs() {
    let plan = |keys: &str| task(keys).unwrap_or_else(|e| panic!("{e}"));
    let ours = plan("reveal = \"items\"\ncolumn = \"email\"\nprotocol = \"yao\"");
    for (theirs, field) in [
        ("reveal = \"size\"\ncolumn = \"email\"\nprotocol = \"yao\"", "reveal (ours: items)"),
        (
            "reveal = \"items\"\ncolumn = \"mail\"\nprotocol = \"yao\"",
            "columns (ours: \"email\" and \"email\")",
        ),
        (
            "reveal = \"items\"\ncolumn = \"email\"\nprotocol = \"yao\"\nto = \"party1\"",
            "to (ours: party0 and party1)",
        ),
        (
            "reveal = \"items\"\ncolumn = \"email\"\nprotocol = \"yao\"\ncircuit = \"scs\"",
            "method (ours: that with fewer ANDs)",
        ),
        ("reveal = \"items\"\ncolumn = \"email\"\nprotocol = \"gmw\"", "protocol (ours: yao, scheme mi, "),
        ("reveal = \"items\"\ncolumn = \"email\"\nscheme = \"prp\"", "protocol (ours: yao, scheme mi, "),
        (
            "reveal = \"items\"\ncolumn = \"email\"\nprotocol = \"yao\"\nnormalise = \"email\"",
            "normalise (ours: trim)",
        ),
        ("reveal = \"items\"\nkeys = [\"email\", \"name\"]\nprotocol = \"yao\"", "columns (ours: "),
        ("reveal = \"items\"\ncolumn = \"email\"\not = \"iknp\"", "protocol (ours: yao, scheme mi, "),
    ] {
        let differences = ours.agreement().differences(&plan(theirs).agreement().tags());
        assert!(differences.len() == 1 && differences[0].starts_with(field), "{theirs}: {differences:?}");
        assert_ne!(ours.agreement().digest(), plan(theirs).agreement().digest());
    }
    let columns = "column = \"email\"\nreveal = \"columns:id\"\npayload-bytes = 3";
    for (from, to, differs) in [
        ("= 3", "= 30", "payload-bytes (ours: 3)"),
        ("columns:id", "columns:n", "reveal (ours: columns:id)"),
        ("= 3", "= 3\nstore = \"band\"", "method (ours: vole, clustered store)"),
    ] {
        let theirs = plan(&columns.replace(from, to)).agreement();
        assert_eq!(plan(columns).agreement().differences(&theirs.tags()), [differs]);
    }
    let vole = plan("column = \"email\"").agreement();
    let differences = vole.differences(&ours.agreement().tags());
    assert_eq!(differences.len(), 2, "{differences:?}");
    assert!(
        differences[0].starts_with("protocol (ours: semi-honest, ")
            && differences[1] == "method (ours: vole, clustered store)"
    );
    let theirs = plan("reveal = \"size\"\ncolumn = \"email\"\nprotocol = \"yao\"");
    let rows = || (memory("email\nx\n"), None);
    let [first, _] = both([&ours, &theirs], [rows(), rows()]);
    let error = first.err().map(|e| e.to_string()).unwrap_or_default();
    assert!(
        error.starts_with("party 0 failed during connect: ") && error.contains("differs in reveal"),
        "{error}"
    );
}

#[test]
fn files_and_plans_that_make_no_sense_are_refused() {
    for (keys, words) in [
        ("column = \"email\"\nsecurity = \"good\"", ["line 3", "neither semi-honest"]),
        (
            "column = \"email\"\nmethod = \"scs\"\nsecurity = \"malicious\"",
            ["semi-honest parties", "method vole"],
        ),
        (
            "column = \"email\"\nreveal = \"size\"\nsecurity = \"malicious\"",
            ["semi-honest parties", "method vole"],
        ),
        ("column = \"email\"\nmethod = \"volt\"", ["line 3", "phasing"]),
        ("column = \"email\"\nstore = \"bend\"", ["line 3", "neither clustered nor band"]),
        (
            "column = \"email\"\nmethod = \"scs\"\nstore = \"clustered\"",
            ["`store` is clustered", "vole or circuit"],
        ),
        ("column = \"email\"\nprotocol = \"gmw\"\nstore = \"band\"", ["`store` is band", "vole or circuit"]),
        ("column = \"email\"\nmethod = \"vole\"\ncircuit = \"scs\"", ["line 4", "keep `method`"]),
        ("column = \"email\"\nmethod = \"vole\"\nprotocol = \"gmw\"", ["of whole sets", "phasing or scs"]),
        (
            "column = \"email\"\nmethod = \"vole\"\nreveal = \"size\"",
            ["their number alone", "method circuit"],
        ),
        (
            "column = \"email\"\nmethod = \"circuit\"\nscheme = \"mi\"\nreveal = \"size\"",
            ["the method is circuit", "phasing or scs"],
        ),
        ("column = \"email\"\nmethod = \"circuit\"", ["tells one party", "the method vole"]),
        (
            "column = \"email\"\nmethod = \"scs\"\nreveal = \"sum:n,count\"",
            ["add nothing up", "method circuit"],
        ),
        ("column = \"email\"\nreveal = \"sum:n,count\"\nto = \"party0\"", ["learnt by both", "`to`"]),
        ("column = \"email\"\nreveal = \"sum:n\"", ["line 3", "sum:COLUMN,count"]),
        (
            "column = \"email\"\nreveal = \"sum:n,count\"\nsecurity = \"malicious\"",
            ["semi-honest parties", "vole"],
        ),
        ("reveal = \"all\"\ncolumn = \"email\"", ["line 2", "size"]),
        ("reveal = \"size\"", ["`key` is missing", "keys = "]),
        ("reveal = \"size\"\nkeyy = \"email\"", ["line 3", "`key`"]),
        ("reveal = \"size\"\ncolumns = [\"a\"]", ["line 3", "both files"]),
        ("reveal = \"size\"\ncolumn = \"a\"\ncolumns = [\"a\", \"b\"]", ["line 4", "keep one"]),
        ("reveal = \"size\"\nkey = []", ["line 3", "is empty"]),
        ("reveal = \"size\"\nkey = [\"a\", \" a\"]", ["the column a twice", "each once"]),
        ("reveal = \"size\"\nkeys = [[\"a\", \"b\"], \"c\"]", ["2 columns in party 0's", "as many for both"]),
        ("reveal = \"size\"\nkey = \"a\"\nnormalise = \"upper\"", ["line 4", "\"upper\" is none of exact"]),
        (
            "reveal = \"size\"\nkey = \"a\"\nnormalise = [\"trim\", \"nfc\"]",
            ["key of 1 columns has 2 forms", "each"],
        ),
        ("reveal = \"size\"\ncolumn = \"a\"\ninstances = 3", ["line 4", "instances"]),
        ("reveal = \"size\"\ncolumn = \"a\"\nto = \"party1\"", ["learnt by both", "`to`"]),
        ("reveal = \"flags\"\ncolumn = \"a\"\nto = [\"party0\", \"party1\"]", ["by one party", "items"]),
        ("reveal = \"items\"\ncolumn = \"a\"\nto = \"client:bob\"", ["no clients", "party0"]),
        ("reveal = \"items\"\ncolumn = \"a\"\nto = [\"party0\", \"party0\"]", ["line 4", "twice"]),
        ("reveal = \"items\"\ncolumn = \"a\"\nto = []", ["line 4", "is empty"]),
        ("protocol = \"rep3\"\nreveal = \"size\"\ncolumn = \"a\"", ["two parties", "yao or gmw"]),
        (
            "protocol = \"gmw\"\nscheme = \"mi\"\nreveal = \"size\"\ncolumn = \"a\"",
            ["no garbling", "`scheme`"],
        ),
        ("scheme = \"privacy-free\"\nreveal = \"size\"\ncolumn = \"a\"", ["line 2", "hides nothing"]),
    ] {
        let error = task(keys).err().unwrap_or_default();
        assert!(words.iter().all(|word| error.contains(word)), "{keys}: {error}");
    }
}

#[test]
fn places_that_a_party_has_not_are_named() {
    let flags = task("reveal = \"flags\"\ncolumn = \"mail\"").unwrap_or_else(|e| panic!("{e}"));
    let show = || (memory("mail\nx\n"), Some(OutputPlace::Show));
    let error = refused(&flags, 1, show()).to_string();
    assert!(error.contains("party 1 does not learn an output called `result`"), "{error}");
    let error = refused(&flags, 0, (InputPlace::Hex("00".to_owned().into()), None)).to_string();
    assert!(error.contains("`csv`") && error.contains("file = "), "{error}");
    let error = refused(&flags, 0, (memory("email\n"), None));
    assert_eq!(error.kind(), Kind::File);
    let error = error.to_string();
    assert!(error.contains("cannot read input csv, line 1: no column is called mail"), "{error}");
}
