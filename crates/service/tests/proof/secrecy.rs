//! Everything that a party has of a known data set: its store, blobs, logs and keys. It does not
//! depend on the rows.

use crate::{
    rig::Rig,
    support::{LONG, run, told, word, write},
};
use hushwire_seal::{MasterKey, OpenKey, Signature, SignedManifest, dataset::OpenedData};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Every row has these values.
const AMOUNT: i64 = 7_391_846_205_517_283_946;
const CODE: &str = "zqxvkjwpqzmh";
const ROWS: u64 = 4096;
const COLUMNS: &str = "columns = [\"amount BIGINT NOT NULL\", \"code VARCHAR(12) NOT NULL\"]\n";

fn walk(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let inside = |path: PathBuf| if path.is_dir() { walk(&path) } else { vec![path] };
    entries.flat_map(|entry| inside(entry.path())).collect()
}

/// The values in the forms in which programs write them.
fn forms() -> Vec<Vec<u8>> {
    let mut forms = vec![AMOUNT.to_string().into_bytes(), CODE.as_bytes().to_vec()];
    forms.extend([AMOUNT.to_le_bytes().to_vec(), AMOUNT.to_be_bytes().to_vec()]);
    // The form in which signed numbers are compared as bytes.
    forms.push((AMOUNT as u64 ^ (1 << 63)).to_be_bytes().to_vec());
    let digits: Vec<_> = forms.iter().map(|form| hex(form)).collect();
    forms.extend(digits);
    forms.push((i128::from(AMOUNT) * i128::from(ROWS)).to_string().into_bytes());
    forms
}

fn hex(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}

fn found(bytes: &[u8]) -> Vec<String> {
    let holds = |form: &&Vec<u8>| bytes.windows(form.len()).any(|window| window == form.as_slice());
    forms().iter().filter(holds).map(|form| String::from_utf8_lossy(form).into_owned()).collect()
}

/// Whether bytes look random: half of the bits are ones, and each byte is about as frequent as it
/// should be (chi-square with 255 degrees of freedom: 255 with a deviation of 22.6).
fn looks_drawn(bytes: &[u8]) -> Result<(), String> {
    let bits = bytes.len() as f64 * 8.0;
    let ones: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
    let off = (f64::from(ones) - bits / 2.0) / (bits.sqrt() / 2.0);
    let mut counts = [0.0f64; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1.0);
    let each = bytes.len() as f64 / 256.0;
    let chi: f64 = counts.iter().map(|count| (count - each).powi(2) / each).sum();
    if off.abs() < 6.0 && (120.0..400.0).contains(&chi) {
        return Ok(());
    }
    Err(format!("{} bytes: ones off by {off:.1} deviations, chi-square {chi:.0}", bytes.len()))
}

/// The content of a data set's parts, as the holder of a party's store and master key sees it.
fn opened(rig: &Rig, party: usize, id: &str) -> Vec<u8> {
    let master = rig.dir.path().join(format!("party{party}.master"));
    let master = MasterKey::read(&master).unwrap_or_else(|e| panic!("{e}"));
    let store = rig.store(party);
    let wrapped: Vec<u8> = store
        .query_row("SELECT private FROM party_keys WHERE kind = 'seal'", [], |row| row.get(0))
        .expect("a key");
    let key = master.unwrap("party key", &wrapped).expect("it is sealed under the master key");
    let key = OpenKey::from_bytes(key[..].try_into().expect("32 bytes"));
    let row = "SELECT manifest, signature, envelope FROM datasets WHERE id = ?1";
    let (manifest, signature, envelope): (String, String, Vec<u8>) =
        store.query_row(row, [id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).expect("a data set");
    let signature: Signature = signature.parse().expect("a signature");
    let signed = SignedManifest::read(manifest.as_bytes(), signature).expect("a manifest");
    let data = OpenedData::new(&key, signed.manifest(), party, &envelope).expect("an envelope");
    let blob: String = store
        .query_row("SELECT blob FROM parts WHERE dataset = ?1 AND n = 0", [id], |row| row.get(0))
        .expect("a part");
    let sealed = fs::read(rig.blobs(party).join(blob)).expect("a blob");
    assert_eq!(looks_drawn(&sealed), Ok(()), "what lies on the disk of party {party}");
    data.part(0, sealed).expect("it opens").to_vec()
}

#[test]
fn a_party_has_nothing_that_depends_on_the_rows() {
    let rig = Rig::up();
    let mut csv = "amount,code\n".to_owned();
    (0..ROWS).for_each(|_| csv.push_str(&format!("{AMOUNT},{CODE}\n")));
    write(&rig, "known.csv", &csv);
    write(&rig, "schema.toml", &format!("[[tables]]\nname = \"known\"\n{COLUMNS}"));
    write(
        &rig,
        "job.toml",
        &format!(
            "kind = \"query\"\nsql = \"SELECT code, COUNT(*) AS n, MAX(amount) AS most FROM known GROUP BY code\"\n\
             to = [\"recipient:bob\"]\n\n[[tables]]\nname = \"known\"\n{COLUMNS}parts = [\"data:known {ROWS}\"]\n"
        ),
    );
    // The search finds values that are there.
    assert_eq!(found(csv.as_bytes()).len(), 2, "{:?}", found(csv.as_bytes()));
    assert!(looks_drawn(csv.as_bytes()).is_err() && looks_drawn(&[0; 4096]).is_err());
    let bob = told(&rig, "key init --keys bob.keys --name bob");
    let put = told(&rig, "data put known.csv --schema schema.toml --keys owner.keys --to owner.toml");
    let id = word(&put["id"]).to_owned();
    let proposal = word(&told(&rig, "propose job.toml --to analyst.toml")[0]["id"]).to_owned();
    let draft = format!(
        "policy draft {proposal} --recipient {} --data known=id:{id} --to operator.toml",
        word(&bob["id"])
    );
    write(&rig, "policy.toml", &run(&rig, &draft));
    run(&rig, &format!("approve {proposal} --policy policy.toml --keys operator.keys --to operator.toml"));
    let submit =
        format!("submit --proposal {proposal} --data known={id} --recipient bob=bob.keys --to analyst.toml");
    let job = run(&rig, &submit).trim().to_owned();
    rig.wait(&job, LONG);
    run(&rig, &format!("fetch {job} --keys bob.keys --out answer.csv --to analyst.toml"));
    let answer = fs::read(rig.dir.path().join("answer.csv")).expect("a result");
    assert_eq!(found(&answer).len(), 2, "the recipient has both: {}", String::from_utf8_lossy(&answer));

    // No file of a party has a value.
    let mut looked = 0;
    for path in walk(rig.dir.path()) {
        let inside = path.strip_prefix(rig.dir.path()).expect("it is inside").to_string_lossy().into_owned();
        if inside.starts_with("party") {
            let bytes = fs::read(&path).unwrap_or_default();
            assert_eq!(found(&bytes), Vec::<String>::new(), "{inside}");
            looked += usize::from(!bytes.is_empty());
        }
    }
    assert!(looked > 15, "{looked} files");
    // Nor do the answers to operators and auditors, who see everything.
    for path in [
        "/v1/audit?limit=10000".to_owned(),
        format!("/v1/datasets/{id}"),
        format!("/v1/jobs/{job}"),
        "/metrics".to_owned(),
    ] {
        let answer = rig.ask(0, "GET", &path, &rig.token("operator"), &Value::Null);
        assert_eq!((answer.status.as_u16(), found(&answer.bytes).len()), (200, 0), "{path}");
    }
    // With all its keys, one party has bytes that look random, though all rows are equal.
    let shares: Vec<_> = (0..3).map(|party| opened(&rig, party, &id)).collect();
    for (party, share) in shares.iter().enumerate() {
        assert!(share.len() > 10_000, "{}", share.len());
        assert_eq!(looks_drawn(share), Ok(()), "party {party}");
        assert_eq!(found(share), Vec::<String>::new(), "party {party}");
    }
    assert_eq!(json!(shares[0] == shares[1]), json!(false));
}
