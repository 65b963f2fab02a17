//! Commands of an operator on the party's own host: making a party, checking it, backing it up.

use crate::{
    access::{self, CallerRole, OPERATORS},
    audit,
    blobs::Blobs,
    clock,
    config::Config,
    keys::{self, KeyState, KeyView, PartyKeys},
    party::Party,
    records::{peers, results},
    serve::runtime,
    store::{self, Store, StoreError, Stored, Upgrade},
};
use hushwire_fault::{Fault, code};
use hushwire_seal::MasterKey;
use hushwire_session::read_private_key;
use hushwire_wire::{Https, Identity, Pin};
use rusqlite::Connection;
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Write},
    net::Ipv6Addr,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Writes a new file that only its owner can read.
fn new_private(path: &Path, text: &str) -> Result<(), Fault> {
    let write = || -> io::Result<()> {
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())
    };
    write().map_err(|e| Fault::io("write", path, &e))
}

/// The facts that a new party's operator needs.
#[derive(Serialize)]
pub(crate) struct Made {
    config: PathBuf,
    pin: String,
    token: String,
    lines_for_the_others: String,
}

fn check_party(step: &str, party: u8) -> Result<(), Fault> {
    if party <= 7 {
        return Ok(());
    }
    Err(Fault::usage(step, format!("there is no party {party}"), "number the parties from 0 to 7"))
}

/// The host as it comes before a port: an IPv6 address is in brackets. A port, a scheme or a quote
/// in it would make a config that no command reads.
fn checked_host(step: &str, host: &str) -> Result<String, Fault> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    if bare.parse::<Ipv6Addr>().is_ok() {
        return Ok(format!("[{bare}]"));
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !host.is_empty() && host.chars().all(is_part) {
        return Ok(host.to_owned());
    }
    let remedy = "give a name or an address alone, as party0.example; a port is changed in the config";
    Err(Fault::usage(step, format!("{host:?} is not a host"), remedy))
}

/// Makes a party: its key, its master key, its config, and the first operator's token.
pub(crate) fn init(dir: &Path, party: u8, group: &str, host: &str) -> Result<Made, Fault> {
    let step = "making a party";
    hushwire_session::check_name(group).map_err(|e| Fault::usage(step, e, "choose another name"))?;
    check_party(step, party)?;
    let host = checked_host(step, host)?;
    fs::create_dir_all(dir).map_err(|e| Fault::io("make the directory", dir, &e))?;
    let [file, key, master_key, store] =
        ["toml", "pem", "master", "db"].map(|kind| dir.join(format!("party{party}.{kind}")));
    // Nothing is written if one of them is there: a store would bring another party's tokens.
    if let Some(path) = [&file, &key, &master_key, &store].into_iter().find(|path| path.exists()) {
        let remedy = "choose another directory, or move the file away";
        return Err(Fault::file("write", path, "it is there already", remedy));
    }
    let identity =
        Identity::generate(&format!("party{party}")).map_err(|e| Fault::internal(step, e.cause()))?;
    let config = format!(
        "# A party of the group {group}. Every path starts from the directory of this file.\n\
         group = \"{group}\"\nparty = {party}\nlisten-api = \"0.0.0.0:7443\"\nlisten-party = \"0.0.0.0:7400\"\n\
         url = \"https://{host}:7443\"            # as clients dial this party\nkey = \"party{party}.pem\"\n\
         master-key = \"party{party}.master\"      # keep a copy of it off this host: without it, no share opens\n\
         store = \"party{party}.db\"\nblobs = \"party{party}.blobs\"\nkeep = \"30d\"\nslots = 2\nmemory = \"2GiB\"\n\
         operators = []                         # public keys whose signature under a policy counts\n\n\
         # The others: `hushwire-service join` adds them.\n"
    );
    new_private(&file, &config)?;
    new_private(&key, &identity.to_pem())?;
    MasterKey::create(&master_key)?;
    let store = Store::open(&store, Upgrade::Newest)?;
    let token = access::draw()?;
    let drawn = token.clone();
    runtime()?.block_on(store.run("token", move |c| {
        access::grant(c, &drawn, CallerRole::Operator, OPERATORS, "init", None)?;
        audit::append(c, "init", "token", "the first operator's", json!({}))
    }))?;
    let pin = identity.pin().to_string();
    let lines =
        format!("hushwire-service join --config PARTY.toml --party {party} --host {host} --pin {pin}");
    Ok(Made { config: file, pin, token, lines_for_the_others: lines })
}

/// Adds another party to a config.
pub(crate) fn join(config: &Path, party: u8, host: &str, pin: &str) -> Result<Value, Fault> {
    let step = "adding a party to the config";
    check_party(step, party)?;
    let host = checked_host(step, host)?;
    let pin: Pin =
        pin.parse().map_err(|e: hushwire_wire::IdentityError| Fault::usage(step, e.cause(), e.remedy()))?;
    let text = fs::read_to_string(config).map_err(|e| Fault::io("read", config, &e))?;
    let names_it = |line: &str| {
        let pair = line.split('#').next().and_then(|line| line.split_once('='));
        pair.is_some_and(|(key, value)| key.trim() == "party" && value.trim().parse() == Ok(party))
    };
    if text.lines().any(names_it) {
        let cause = format!("{} has party {party} already", config.display());
        return Err(Fault::usage(step, cause, "edit its lines there"));
    }
    let more = format!(
        "\n[[peers]]\nparty = {party}\nurl = \"https://{host}:7443\"\naddress = \"{host}:7400\"\npin = \"{pin}\"\n"
    );
    let mut file = File::options().append(true).open(config).map_err(|e| Fault::io("write", config, &e))?;
    file.write_all(more.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(|e| Fault::io("write", config, &e))?;
    Ok(json!({ "config": config, "party": party, "pin": pin.to_string() }))
}

/// The result of a check of this host or of a peer.
#[derive(Serialize)]
pub(crate) struct PartyCheck {
    pub(crate) name: String,
    pub(crate) ok: bool,
    pub(crate) says: String,
}

/// Checks that the store of a party is there. SQLite would make an empty one, and no backup could
/// then be restored in its place.
fn check_store(config: &Config) -> Result<(), Fault> {
    if config.store.exists() {
        return Ok(());
    }
    let remedy = "correct `store` in the config, or restore a backup";
    Err(Fault::file("read", &config.store, "it is not there", remedy))
}

/// Connects to the store of a party beside the service, which may run.
fn connect(config: &Config) -> Result<Connection, Fault> {
    check_store(config)?;
    store::connect(&config.store)
}

/// Opens the store of a party for a change. The service may run, and be of the release before.
fn open_store(config: &Config) -> Result<Store, Fault> {
    check_store(config)?;
    Store::open(&config.store, Upgrade::Keep)
}

/// Checks a party's files and its peers. Nothing is changed, and a service may run meanwhile.
pub(crate) fn doctor(file: &Path) -> Result<Vec<PartyCheck>, Fault> {
    let config = Config::read(file)?;
    let mut checks = vec![];
    let mut check = |name: String, found: Result<String, String>| {
        let (ok, says) = match found {
            Ok(says) => (true, says),
            Err(says) => (false, says),
        };
        checks.push(PartyCheck { name, ok, says });
    };
    let identity = read_private_key(&config.key).and_then(|pem| {
        Identity::from_pem(&pem).map_err(|e| Fault::file("use the key", &config.key, e.cause(), e.remedy()))
    });
    let found = identity.as_ref().map_err(ToString::to_string).and_then(|identity| {
        let validity = identity.validity();
        let now = SystemTime::now();
        match (validity.holds_at(now), validity.expires_soon(now)) {
            (false, _) => {
                Err(format!("the certificate holds {validity}; make a new one with `hushwire keys rotate`"))
            }
            (true, true) => Err(format!("the certificate ends soon: it holds {validity}")),
            (true, false) => Ok(format!("{}, holds {validity}", identity.pin())),
        }
    });
    check("key".to_owned(), found);
    check(
        "master key".to_owned(),
        MasterKey::read(&config.master_key).map(|_| "opens".to_owned()).map_err(|e| e.to_string()),
    );
    check("store".to_owned(), sound_store(&config).map_err(|e| e.to_string()));
    check("party keys".to_owned(), own_keys(&config).map_err(|e| e.to_string()));
    check("blobs".to_owned(), whole_blobs(&config).map_err(|e| e.to_string()));
    if let Some(dir) = &config.policies {
        check("policies".to_owned(), signed_policies(dir, &config.operators));
    }
    if let Ok(identity) = identity {
        let https = Https::new(&identity);
        let runtime = runtime()?;
        for peer in &config.peers {
            let tls = https.client(peer.pins.clone()).map_err(|e| Fault::internal("setting up TLS", e))?;
            let up = runtime.block_on(crate::peers::probe(&peer.url, &tls, "/healthz"));
            let found = if up {
                Ok("answers, with its pin".to_owned())
            } else {
                Err(format!(
                    "does not answer at {}, or shows another pin; see that it runs, and compare pins",
                    peer.url
                ))
            };
            check(format!("party {}", peer.party), found);
            let name = crate::peers::name(&config.group);
            let there = runtime.block_on(crate::peers::reaches(&peer.address, &tls, &name));
            let found = there.map(|()| "is reached, with its pin".to_owned()).map_err(|e| {
                format!("cannot be reached at {}: {e}; see that it runs, and that nothing on the way takes TLS apart", peer.address)
            });
            check(format!("party port of {}", peer.party), found);
        }
    }
    Ok(checks)
}

/// Whether the store is sound, and its audit log holds.
fn sound_store(config: &Config) -> Result<String, Fault> {
    let c = connect(config)?;
    store::sound(&c, &config.store)?;
    let schema = store::schema(&c).map_err(StoreError::Sql)?;
    let entries = audit::verify(&c)?.seq;
    Ok(format!("sound, of schema {schema}; audit log of {entries} entries holds"))
}

/// Whether the master key opens the keys of the store.
fn own_keys(config: &Config) -> Result<String, Fault> {
    let c = connect(config)?;
    let opened = keys::check(&c, &MasterKey::read(&config.master_key)?)?;
    Ok(format!("{opened} open under the master key"))
}

/// Whether every blob that the store names exists; says how much room is free.
fn whole_blobs(config: &Config) -> Result<String, Fault> {
    let names = results::blobs(&connect(config)?)?;
    if let Some(lost) = names.iter().find(|name| !config.blobs.join(name).is_file()) {
        let cause = format!(
            "{} of the store's {} blobs is not there",
            config.blobs.join(lost).display(),
            names.len()
        );
        return Err(Fault::new(code::STORE, "looking for blobs", cause, "restore it from a backup"));
    }
    // The service makes the directory when it first starts.
    let made = config.blobs.ancestors().find(|dir| dir.exists()).unwrap_or(Path::new("."));
    let free = Blobs::free_in(made).map_err(|e| Fault::io("use", made, &e))?;
    Ok(format!("{} are there, and {} are free", names.len(), hushwire_session::size::show(free)))
}

/// Whether every policy in the watched directory is signed by an operator.
fn signed_policies(dir: &Path, operators: &[String]) -> Result<String, String> {
    let files = crate::policy_dir::read(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    for (stem, (text, signature)) in &files {
        let signed = crate::policy_dir::signed(stem, text, signature).map_err(|e| e.to_string())?;
        signed.check(&format!("{stem}.toml"), operators).map_err(|e| e.to_string())?;
    }
    Ok(format!("{} in {}, all signed", files.len(), dir.display()))
}

/// The content of a party's own store, and whether its service runs.
pub(crate) fn status(file: &Path) -> Result<Value, Fault> {
    let config = Config::read(file)?;
    let c = connect(&config)?;
    let wrong = |e: rusqlite::Error| Fault::from(StoreError::Sql(e));
    let counted = |sql: &str| -> Result<Value, Fault> {
        let read = || -> rusqlite::Result<Value> {
            let mut statement = c.prepare(sql)?;
            let rows = statement
                .query_map([], |row| Ok((row.get::<_, String>(0)?, json!(row.get::<_, i64>(1)?))))?;
            Ok(Value::Object(rows.collect::<Result<_, _>>()?))
        };
        read().map_err(wrong)
    };
    let number = |sql: &str| c.query_row(sql, [], |row| row.get::<_, Option<i64>>(0)).map_err(wrong);
    let identity = read_private_key(&config.key).ok().and_then(|pem| Identity::from_pem(&pem).ok());
    let running = match &identity {
        Some(identity) => {
            let tls = Https::new(identity).client(vec![identity.pin()]);
            let tls = tls.map_err(|e| Fault::internal("setting up TLS", e))?;
            runtime()?.block_on(crate::peers::probe(&config.url, &tls, "/healthz"))
        }
        None => false,
    };
    let (blobs, blob_bytes) = blob_bytes(&config.blobs);
    let oldest = number("SELECT min(created) FROM jobs WHERE state IN ('submitted', 'ready', 'running')")?;
    Ok(json!({
        "group": config.group,
        "party": config.party,
        "url": config.url,
        "running": running,
        "release": env!("CARGO_PKG_VERSION"),
        "schema": store::schema(&c).map_err(wrong)?,
        "pin": identity.map(|identity| identity.pin().to_string()),
        "jobs": counted("SELECT state, count(*) FROM jobs GROUP BY state")?,
        "oldest-open-job": oldest.map(clock::text),
        "open-attempts": counted(
            "SELECT state, count(*) FROM attempts WHERE state IN ('reserved', 'started', 'prepared') GROUP BY state",
        )?,
        "runs": number("SELECT count(*) FROM runs WHERE refunded = 0")?,
        "datasets": counted("SELECT state, count(*) FROM datasets GROUP BY state")?,
        "proposals": counted("SELECT state, count(*) FROM proposals GROUP BY state")?,
        "policies": number("SELECT count(*) FROM policies WHERE active = 1")?,
        "tokens": counted("SELECT role, count(*) FROM tokens WHERE revoked IS NULL GROUP BY role")?,
        "keys": keys::list(&c)?,
        "peers": heard(&c)?,
        "store-bytes": fs::metadata(&config.store).map_or(0, |meta| meta.len()),
        "blobs": blobs,
        "blob-bytes": blob_bytes,
        "audit": audit::head(&c)?.to_string(),
    }))
}

/// The number of blobs, and their bytes in total.
fn blob_bytes(dir: &Path) -> (u64, u64) {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| entry.metadata().ok()).filter(fs::Metadata::is_file);
    files.fold((0, 0), |(count, bytes), meta| (count + 1, bytes + meta.len()))
}

/// The last news of the other parties.
fn heard(c: &Connection) -> Stored<Vec<Value>> {
    let mut statement = c.prepare("SELECT party, release, last_seen, audit_seq FROM peers ORDER BY party")?;
    let rows = statement.query_map([], |row| {
        let (party, release, seen, seq): (u8, String, i64, i64) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        Ok(json!({ "party": party, "release": release, "last-seen": clock::text(seen), "audit-entries": seq }))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Copies the store and all blobs that it names into a new directory, while the service runs.
pub(crate) fn backup(file: &Path, to: &Path) -> Result<Value, Fault> {
    let config = Config::read(file)?;
    let c = connect(&config)?;
    fs::create_dir(to).map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => {
            let remedy = "name a new directory: a backup does not replace another one";
            Fault::file("make the directory", to, "it is there already", remedy)
        }
        _ => Fault::io("make the directory", to, &e),
    })?;
    let snapshot = |copy: &Path| {
        let made = c.execute("VACUUM INTO ?1", [copy.to_string_lossy()]);
        made.map(drop).map_err(|e| Fault::from(StoreError::Sql(e)))
    };
    let (copy, blobs, missing) = copy_blobs(snapshot, &config.blobs, to)?;
    let head = audit::verify(&copy)?;
    Ok(json!({ "backup": to, "blobs": blobs, "missing": missing, "audit": head.to_string() }))
}

/// Writes a snapshot of the store and the blobs that it names into `to`. Returns the snapshot, and
/// the numbers of blobs that were copied and that are missing.
///
/// A blob may be deleted, with the row that names it, after the snapshot. Then a new snapshot does
/// not name it. A blob that two snapshots name is missing indeed.
fn copy_blobs(
    mut snapshot: impl FnMut(&Path) -> Result<(), Fault>,
    blobs: &Path,
    to: &Path,
) -> Result<(Connection, usize, usize), Fault> {
    let (copy, copied) = (to.join("store.db"), to.join("blobs"));
    fs::create_dir(&copied).map_err(|e| Fault::io("make the directory", &copied, &e))?;
    let mut missing = BTreeSet::new();
    loop {
        snapshot(&copy)?;
        let c = store::connect(&copy)?;
        let names = results::blobs(&c)?;
        let before = std::mem::take(&mut missing);
        for name in names.iter().filter(|name| !copied.join(name).exists()) {
            let from = blobs.join(name);
            match fs::copy(&from, copied.join(name)) {
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => _ = missing.insert(name.clone()),
                Err(e) => return Err(Fault::io("copy", &from, &e)),
            }
        }
        if missing.is_subset(&before) {
            return Ok((c, names.len() - missing.len(), missing.len()));
        }
        drop(c);
        fs::remove_file(&copy).map_err(|e| Fault::io("replace", &copy, &e))?;
    }
}

/// Restores a backup. The store must not exist yet.
pub(crate) fn restore(file: &Path, from: &Path) -> Result<Value, Fault> {
    let config = Config::read(file)?;
    let wrong = |cause: String, remedy: &str| Fault::new(code::BACKUP, "restoring a backup", cause, remedy);
    // SQLite would play the log of another store into this one.
    let log = PathBuf::from([config.store.as_os_str(), OsStr::new("-wal")].into_iter().collect::<OsString>());
    if let Some(there) = [&config.store, &log].into_iter().find(|path| path.exists()) {
        let cause = format!("{} is there", there.display());
        return Err(wrong(cause, "end the service, and move its store and its blobs away first"));
    }
    let copy = from.join("store.db");
    if !copy.exists() {
        let cause = format!("{} has no store.db", from.display());
        return Err(wrong(cause, "name a directory that `hushwire-service backup` made"));
    }
    let c = store::connect(&copy)?;
    store::sound(&c, &copy)?;
    let head = audit::verify(&c)?;
    let names = results::blobs(&c)?;
    drop(c);
    fs::create_dir_all(&config.blobs).map_err(|e| Fault::io("make the directory", &config.blobs, &e))?;
    for name in &names {
        let (from, to) = (from.join("blobs").join(name), config.blobs.join(name));
        let bytes = fs::read(&from).map_err(|e| Fault::io("read", &from, &e))?;
        if blake3::hash(&bytes).to_hex().as_str() != name {
            return Err(wrong(format!("{} is not what was stored", from.display()), "take another backup"));
        }
        fs::write(&to, bytes).map_err(|e| Fault::io("write", &to, &e))?;
    }
    fs::copy(&copy, &config.store).map_err(|e| Fault::io("write", &config.store, &e))?;
    let opened =
        runtime()?.block_on(async { Party::open(Config::read(file)?, "127.0.0.1:0").await.map(drop) });
    opened.map_err(|e| e.during("opening what was restored"))?;
    Ok(json!({ "restored": config.store, "blobs": names.len(), "audit": head.to_string() }))
}

/// Makes a new key to which data sets are sealed from now on.
pub(crate) fn rotate(file: &Path) -> Result<Value, Fault> {
    let config = Config::read(file)?;
    let store = open_store(&config)?;
    let master = MasterKey::read(&config.master_key)?;
    let (id, state) = runtime()?.block_on(async {
        let (id, state) = PartyKeys::rotate(&store, &master).await?;
        let name = id.clone();
        store.run("key", move |c| audit::append(c, "keys rotate", "key", &name, json!({}))).await?;
        Ok::<_, Fault>((id, state))
    })?;
    let then = match state {
        KeyState::Pending => {
            "the service takes it up within seconds: it is pending until all other parties know of it, and then \
             data sets are sealed to it; `keys list` shows the state"
        }
        KeyState::Active | KeyState::Expired => "data sets are sealed to it",
    };
    Ok(json!({ "key": id, "state": state, "then": then }))
}

/// The keys that data sets are or were sealed to.
pub(crate) fn list_keys(file: &Path) -> Result<Vec<KeyView>, Fault> {
    Ok(keys::list(&connect(&Config::read(file)?)?)?)
}

/// Accepts another party's audit log as it is from now on, after its operator restored it from a
/// backup.
pub(crate) fn accept_log(file: &Path, party: u8) -> Result<Value, Fault> {
    let config = Config::read(file)?;
    if !config.peers.iter().any(|peer| peer.party == party) {
        let cause = format!("the config has no other party {party}");
        return Err(Fault::usage("accepting an audit log", cause, "name one of [[peers]]"));
    }
    let store = open_store(&config)?;
    runtime()?.block_on(store.run("peer", move |c| peers::accept(c, party)))?;
    Ok(json!({ "party": party, "then": "the service compares its log from what it says next" }))
}

#[cfg(test)]
#[path = "admin_tests.rs"]
mod tests;
