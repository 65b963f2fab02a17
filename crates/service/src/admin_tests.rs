use super::*;

/// The config of a new party 0 with two peers.
fn made(dir: &Path) -> PathBuf {
    let made = init(dir, 0, "heart", "localhost").unwrap_or_else(|e| panic!("{e}"));
    for party in [1, 2] {
        let pin = Identity::generate("peer").unwrap_or_else(|e| panic!("{e}")).pin().to_string();
        join(&made.config, party, "localhost", &pin).unwrap_or_else(|e| panic!("{e}"));
    }
    made.config
}

/// Puts bytes into the directory of blobs, and a row that names them into the store.
fn add_blob(config: &Config, bytes: &[u8]) -> String {
    let blobs = Blobs::open(&config.blobs).unwrap_or_else(|e| panic!("{e}"));
    let (name, bytes) = blobs.put(bytes).expect("room");
    let c = store::connect(&config.store).expect("a store");
    c.pragma_update(None, "foreign_keys", false).expect("a setting");
    let row = "INSERT INTO parts(dataset, n, blob, bytes, stored) VALUES (?1, 0, ?1, ?2, 1)";
    c.execute(row, (&name, bytes as i64)).expect("a row");
    name
}

fn cause<T>(outcome: Result<T, Fault>) -> String {
    outcome.err().map(|e| e.to_string()).unwrap_or_default()
}

#[test]
fn a_blob_that_is_deleted_during_a_backup_is_not_missing_from_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let config = Config::read(&made(dir.path())).unwrap_or_else(|e| panic!("{e}"));
    let (kept, deleted) = (add_blob(&config, b"kept"), add_blob(&config, b"deleted"));
    let c = connect(&config).unwrap_or_else(|e| panic!("{e}"));
    let mut snapshots = 0;
    let snapshot = |copy: &Path| {
        c.execute("VACUUM INTO ?1", [copy.to_string_lossy()]).expect("room");
        snapshots += 1;
        if snapshots == 1 {
            c.execute("DELETE FROM parts WHERE blob = ?1", [&deleted]).expect("a row");
            fs::remove_file(config.blobs.join(&deleted)).expect("a blob");
        }
        Ok(())
    };
    let to = dir.path().join("backup");
    fs::create_dir(&to).expect("room");
    let (copy, blobs, missing) = copy_blobs(snapshot, &config.blobs, &to).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((blobs, missing, snapshots), (1, 0, 2));
    assert!(results::blobs(&copy).is_ok_and(|names| names == BTreeSet::from([kept.clone()])));
    assert!(to.join("blobs").join(kept).exists());
}

#[test]
fn a_backup_counts_lost_blobs_and_fails_if_one_cannot_be_copied() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = made(dir.path());
    let config = Config::read(&file).unwrap_or_else(|e| panic!("{e}"));
    let name = add_blob(&config, b"bytes");
    fs::remove_file(config.blobs.join(&name)).expect("a blob");
    let lost = backup(&file, &dir.path().join("lost")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((lost["blobs"].as_u64(), lost["missing"].as_u64()), (Some(0), Some(1)), "{lost}");
    // A directory cannot be copied as a file.
    fs::create_dir(config.blobs.join(&name)).expect("room");
    let error = cause(backup(&file, &dir.path().join("failed")));
    assert!(error.contains(&name), "{error}");
}

/// Commands that look at a store do not make one: an empty store would be in a backup's way.
#[test]
fn a_store_that_is_not_there_is_not_made() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = made(dir.path());
    let config = Config::read(&file).unwrap_or_else(|e| panic!("{e}"));
    backup(&file, &dir.path().join("backup")).unwrap_or_else(|e| panic!("{e}"));
    fs::remove_file(&config.store).expect("a store");
    let checks = doctor(&file).unwrap_or_else(|e| panic!("{e}"));
    assert!(
        checks
            .iter()
            .any(|check| check.name == "store" && !check.ok && check.says.contains("it is not there"))
    );
    let to = dir.path().join("again");
    for error in [
        cause(status(&file)),
        cause(backup(&file, &to)),
        cause(rotate(&file)),
        cause(list_keys(&file)),
        cause(accept_log(&file, 1)),
    ] {
        assert!(error.contains("it is not there"), "{error}");
    }
    assert!(!config.store.exists() && !config.blobs.exists() && !to.exists());
    // The log of the store before would be played into the restored one.
    let log = dir.path().join("party0.db-wal");
    fs::write(&log, b"").expect("room");
    assert!(cause(restore(&file, &dir.path().join("backup"))).contains("party0.db-wal"));
    fs::remove_file(&log).expect("a file");
    restore(&file, &dir.path().join("backup")).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn a_party_that_cannot_be_is_not_put_into_a_config() {
    let dir = tempfile::tempdir().expect("a directory");
    let config = made(dir.path());
    let pin = Identity::generate("peer").unwrap_or_else(|e| panic!("{e}")).pin().to_string();
    let text = fs::read_to_string(&config).expect("text");
    let spaced = text.replacen("party = 1\n", "party=1  # the clinic\n", 1);
    fs::write(&config, &spaced).expect("room");
    for (party, host, says) in [
        (8, "localhost", "there is no party 8"),
        (3, "", "is not a host"),
        (3, "h\" # ", "is not a host"),
        (3, "h\nx", "is not a host"),
        (3, "https://h", "is not a host"),
        (0, "localhost", "has party 0 already"),
        (1, "localhost", "has party 1 already"),
        (2, "localhost", "has party 2 already"),
    ] {
        let error = cause(join(&config, party, host, &pin));
        assert!(error.contains(says), "{party} {host}: {error}");
    }
    assert_eq!(fs::read_to_string(&config).expect("text"), spaced);
    join(&config, 3, "::1", &pin).unwrap_or_else(|e| panic!("{e}"));
    assert!(Config::read(&config).is_ok_and(|config| config.parties() == 4));
    assert!(cause(init(dir.path(), 1, "heart", "h\"")).contains("is not a host"));
}

#[test]
fn a_party_is_made_only_where_none_of_its_files_is() {
    let dir = tempfile::tempdir().expect("a directory");
    for kind in ["toml", "pem", "master", "db"] {
        let there = dir.path().join(format!("party0.{kind}"));
        fs::write(&there, b"").expect("room");
        let error = cause(init(dir.path(), 0, "heart", "localhost"));
        assert!(
            error.contains(&format!("party0.{kind}")) && error.contains("it is there already"),
            "{error}"
        );
        fs::remove_file(&there).expect("a file");
    }
    assert!(fs::read_dir(dir.path()).is_ok_and(|mut left| left.next().is_none()));
    assert!(init(dir.path(), 0, "heart", "localhost").is_ok());
}
