CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE party_keys(
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, public TEXT NOT NULL, private BLOB NOT NULL, state TEXT NOT NULL,
    since INTEGER NOT NULL) STRICT;
CREATE TABLE peers(
    party INTEGER PRIMARY KEY, release TEXT NOT NULL, seal_to TEXT, last_seen INTEGER NOT NULL,
    audit_seq INTEGER NOT NULL, audit_hash TEXT NOT NULL) STRICT;
CREATE TABLE tenants(
    name TEXT PRIMARY KEY, jobs INTEGER NOT NULL, bytes INTEGER NOT NULL, parallel INTEGER NOT NULL,
    created INTEGER NOT NULL) STRICT;
CREATE TABLE tokens(
    id TEXT PRIMARY KEY, tenant TEXT NOT NULL REFERENCES tenants(name), role TEXT NOT NULL, label TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE, created INTEGER NOT NULL, expires INTEGER, revoked INTEGER) STRICT;
CREATE TABLE datasets(
    id TEXT PRIMARY KEY, tenant TEXT NOT NULL REFERENCES tenants(name), name TEXT NOT NULL, owner TEXT NOT NULL,
    line TEXT NOT NULL, version INTEGER NOT NULL, manifest TEXT NOT NULL, signature TEXT NOT NULL, envelope BLOB,
    rows INTEGER NOT NULL, state TEXT NOT NULL, bytes INTEGER NOT NULL, created INTEGER NOT NULL, expires INTEGER,
    deleted INTEGER) STRICT;
CREATE INDEX datasets_by_tenant ON datasets(tenant, created);
CREATE TABLE parts(
    dataset TEXT NOT NULL REFERENCES datasets(id), n INTEGER NOT NULL, blob TEXT NOT NULL, bytes INTEGER NOT NULL,
    stored INTEGER NOT NULL, PRIMARY KEY(dataset, n)) STRICT, WITHOUT ROWID;
CREATE INDEX parts_by_blob ON parts(blob);
CREATE TABLE grants(
    dataset TEXT NOT NULL REFERENCES datasets(id), whom TEXT NOT NULL, expires INTEGER, who TEXT NOT NULL,
    at INTEGER NOT NULL, PRIMARY KEY(dataset, whom)) STRICT, WITHOUT ROWID;
CREATE TABLE proposals(
    id TEXT PRIMARY KEY, tenant TEXT NOT NULL REFERENCES tenants(name), digest TEXT NOT NULL, kind TEXT NOT NULL,
    job TEXT NOT NULL, terms TEXT NOT NULL, explain TEXT NOT NULL, needs TEXT NOT NULL, who TEXT NOT NULL, created INTEGER NOT NULL,
    state TEXT NOT NULL, verdict_by TEXT, verdict_at INTEGER, reason TEXT, policy TEXT) STRICT;
CREATE INDEX proposals_by_digest ON proposals(digest);
CREATE TABLE policies(
    name TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL, signature TEXT NOT NULL, signer TEXT NOT NULL,
    active INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY(name, version)) STRICT, WITHOUT ROWID;
CREATE TABLE jobs(
    id TEXT PRIMARY KEY, tenant TEXT NOT NULL REFERENCES tenants(name), idem TEXT NOT NULL, body_hash TEXT NOT NULL,
    body TEXT NOT NULL, proposal TEXT NOT NULL REFERENCES proposals(id), digest TEXT NOT NULL, kind TEXT NOT NULL,
    state TEXT NOT NULL, priority INTEGER NOT NULL, attempt INTEGER NOT NULL, next_try INTEGER NOT NULL,
    waits TEXT, cause TEXT, who TEXT NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL,
    UNIQUE(tenant, idem)) STRICT;
CREATE INDEX jobs_by_state ON jobs(state, priority, created);
CREATE INDEX jobs_by_tenant ON jobs(tenant, created);
CREATE TABLE attempts(
    job TEXT NOT NULL REFERENCES jobs(id), k INTEGER NOT NULL, state TEXT NOT NULL, decision TEXT,
    go INTEGER NOT NULL, created INTEGER NOT NULL, ended INTEGER, cause TEXT, stats TEXT,
    PRIMARY KEY(job, k)) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_open ON attempts(state) WHERE state IN ('reserved', 'started', 'prepared');
CREATE TABLE runs(
    job TEXT NOT NULL, k INTEGER NOT NULL, digest TEXT NOT NULL, line TEXT NOT NULL, at INTEGER NOT NULL,
    refunded INTEGER NOT NULL, PRIMARY KEY(job, k, line)) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_digest ON runs(digest, at);
CREATE TABLE results(
    job TEXT NOT NULL REFERENCES jobs(id), k INTEGER NOT NULL, output TEXT NOT NULL, blob TEXT NOT NULL,
    bytes INTEGER NOT NULL, recipient TEXT NOT NULL, fetched INTEGER, acknowledged INTEGER,
    PRIMARY KEY(job, k, output)) STRICT, WITHOUT ROWID;
CREATE INDEX results_by_blob ON results(blob);
CREATE TABLE used_material(file TEXT PRIMARY KEY, job TEXT NOT NULL, k INTEGER NOT NULL, at INTEGER NOT NULL) STRICT;
CREATE TABLE audit(
    seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, object TEXT NOT NULL,
    detail TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
