//! Who may call the service: roles, tenants and tokens.

use crate::{
    clock,
    store::{Store, Stored},
};
use hushwire_fault::{Fault, code};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    fmt,
    str::FromStr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use utoipa::ToSchema;

/// The tenant of operators and auditors, who see the metadata of all tenants.
pub(crate) const OPERATORS: &str = "operators";
/// The beginning of a token.
const PREFIX: &str = "hw_";
/// LOCAL: the domain of tokens' hashes. A token has 256 random bits, so a fast hash does.
const CONTEXT: &str = "hushwire service token v1";

/// The role of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CallerRole {
    /// Uploads data sets, grants their use, and deletes them.
    Owner,
    /// Proposes jobs, submits them, and fetches results.
    Analyst,
    /// Approves and denies proposals, cancels jobs, makes tokens; sees all metadata.
    Operator,
    /// Reads the audit log and metadata.
    Auditor,
}

impl CallerRole {
    /// All roles.
    pub(crate) const ALL: [Self; 4] = [Self::Owner, Self::Analyst, Self::Operator, Self::Auditor];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Analyst => "analyst",
            Self::Operator => "operator",
            Self::Auditor => "auditor",
        }
    }
}

impl FromStr for CallerRole {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|role| role.name() == text);
        found.ok_or_else(|| format!("{text:?} is no role: owner, analyst, operator or auditor"))
    }
}

/// The holder of a token, who makes a request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The token's name; not the token itself.
    pub(crate) token: String,
    /// Its tenant.
    pub(crate) tenant: String,
    /// Its role.
    pub(crate) role: CallerRole,
}

impl Caller {
    /// Whether the caller may see what a tenant owns.
    pub(crate) fn sees(&self, tenant: &str) -> bool {
        matches!(self.role, CallerRole::Operator | CallerRole::Auditor) || self.tenant == tenant
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.role.name(), self.tenant, self.token)
    }
}

/// A tenant's quotas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Quotas {
    /// The most jobs that have not ended.
    pub(crate) jobs: i64,
    /// The most bytes of data sets.
    pub(crate) bytes: i64,
    /// The most attempts at the same time.
    pub(crate) parallel: i64,
}

impl Default for Quotas {
    fn default() -> Self {
        Self { jobs: 20_000, bytes: 1 << 40, parallel: 8 }
    }
}

/// A token in a list, without its secret.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct TokenView {
    /// Its name in logs.
    pub(crate) id: String,
    /// Its role.
    pub(crate) role: String,
    /// Its tenant.
    pub(crate) tenant: String,
    /// Its remark.
    pub(crate) label: String,
    /// When it was made.
    pub(crate) created: String,
    /// When it expires.
    pub(crate) expires: Option<String>,
    /// Whether it was revoked.
    pub(crate) revoked: bool,
}

fn hashed(token: &str) -> [u8; 32] {
    blake3::derive_key(CONTEXT, token.as_bytes())
}

/// Makes a tenant, unless it exists.
pub(crate) fn tenant(c: &Connection, name: &str, quotas: Quotas) -> Stored<()> {
    hushwire_session::check_name(name)
        .map_err(|e| Fault::usage("naming the tenant", e, "choose another name"))?;
    c.execute(
        "INSERT INTO tenants(name, jobs, bytes, parallel, created) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
        params![name, quotas.jobs, quotas.bytes, quotas.parallel, clock::now()],
    )?;
    Ok(())
}

/// Sets a tenant's quotas; makes the tenant if it does not exist.
pub(crate) fn set_quotas(c: &Connection, name: &str, quotas: Quotas) -> Stored<()> {
    tenant(c, name, quotas)?;
    c.execute(
        "UPDATE tenants SET jobs = ?2, bytes = ?3, parallel = ?4 WHERE name = ?1",
        params![name, quotas.jobs, quotas.bytes, quotas.parallel],
    )?;
    Ok(())
}

/// A tenant's quotas, or the defaults if the tenant is unknown.
pub(crate) fn quotas(c: &Connection, name: &str) -> Stored<Quotas> {
    let found = c
        .prepare_cached("SELECT jobs, bytes, parallel FROM tenants WHERE name = ?1")?
        .query_row([name], |row| Ok(Quotas { jobs: row.get(0)?, bytes: row.get(1)?, parallel: row.get(2)? }))
        .optional()?;
    Ok(found.unwrap_or_default())
}

/// All tenants with their quotas.
pub(crate) fn tenants(c: &Connection) -> Stored<Vec<(String, Quotas)>> {
    let mut statement = c.prepare("SELECT name, jobs, bytes, parallel FROM tenants ORDER BY name")?;
    let rows = statement.query_map([], |row| {
        Ok((row.get(0)?, Quotas { jobs: row.get(1)?, bytes: row.get(2)?, parallel: row.get(3)? }))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Fresh random bytes as hexadecimal digits.
pub(crate) fn random<const N: usize>() -> Result<String, Fault> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|e| Fault::internal("drawing random bytes", e))?;
    Ok(hex::encode(bytes))
}

/// Draws a new token. It is worth nothing before [`grant`].
pub(crate) fn draw() -> Result<String, Fault> {
    Ok(format!("{PREFIX}{}", random::<32>()?))
}

/// Gives a drawn token a role in a tenant. Returns the token's name.
pub(crate) fn grant(
    c: &Connection,
    token: &str,
    role: CallerRole,
    of: &str,
    label: &str,
    expires: Option<i64>,
) -> Stored<String> {
    if matches!(role, CallerRole::Operator | CallerRole::Auditor) != (of == OPERATORS) {
        let cause = format!("operators and auditors are of the tenant {OPERATORS}, and nobody else is");
        return Err(Fault::usage("giving a token", cause, "choose the tenant by the role").into());
    }
    if label.len() > 256 {
        return Err(Fault::usage("giving a token", "the label is longer than 256 bytes", "shorten it").into());
    }
    tenant(c, of, Quotas::default())?;
    let id = random::<6>()?;
    c.execute(
        "INSERT INTO tokens(id, tenant, role, label, hash, created, expires) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![id, of, role.name(), label, hashed(token), clock::now(), expires],
    )?;
    Ok(id)
}

/// The holder of a token, and when the token expires; `None` if it is unknown, revoked or expired.
pub(crate) fn caller(c: &Connection, token: &str) -> Stored<Option<(Caller, Option<i64>)>> {
    let mut statement = c.prepare_cached(
        "SELECT id, tenant, role, expires FROM tokens
         WHERE hash = ?1 AND revoked IS NULL AND (expires IS NULL OR expires > ?2)",
    )?;
    let found = statement.query_row(params![hashed(token), clock::now()], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?, row.get(3)?))
    });
    let Some((token, tenant, role, expires)) = found.optional()? else { return Ok(None) };
    let role = role.parse().map_err(|e| Fault::internal("reading a token", e))?;
    Ok(Some((Caller { token, tenant, role }, expires)))
}

/// LOCAL: how long the holder of a token is remembered before the store is asked again.
const REMEMBERED: Duration = Duration::from_secs(1);
/// LOCAL: the most tokens whose holders are remembered.
const MOST_REMEMBERED: usize = 1024;

/// Holders of tokens that were used a moment ago, by the tokens' hashes. A revocation clears all.
#[derive(Default)]
pub(crate) struct Callers(Mutex<KnownCallers>);

#[derive(Default)]
struct KnownCallers {
    /// The number of revocations so far.
    revocations: u64,
    known: HashMap<[u8; 32], (Caller, Option<i64>, Instant)>,
}

impl Callers {
    fn lock(&self) -> MutexGuard<'_, KnownCallers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The holder of a token.
    pub(crate) async fn find(&self, store: &Store, token: &str) -> Result<Option<Caller>, Fault> {
        let hash = hashed(token);
        let revocations = {
            let all = self.lock();
            if let Some((caller, expires, at)) = all.known.get(&hash)
                && at.elapsed() < REMEMBERED
                && expires.is_none_or(|end| end > clock::now())
            {
                return Ok(Some(caller.clone()));
            }
            all.revocations
        };
        let (token, at) = (token.to_owned(), Instant::now());
        let Some((caller, expires)) = store.look(move |c| caller(c, &token)).await? else {
            return Ok(None);
        };
        let mut all = self.lock();
        // The token may have been revoked since the store was read.
        if all.revocations == revocations {
            if all.known.len() >= MOST_REMEMBERED {
                all.known.clear();
            }
            all.known.insert(hash, (caller.clone(), expires, at));
        }
        Ok(Some(caller))
    }

    /// Forgets all holders, because a token was revoked.
    pub(crate) fn forget(&self) {
        let mut all = self.lock();
        all.revocations += 1;
        all.known.clear();
    }
}

/// All tokens.
pub(crate) fn tokens(c: &Connection) -> Stored<Vec<TokenView>> {
    let mut statement = c.prepare(
        "SELECT id, role, tenant, label, created, expires, revoked FROM tokens ORDER BY created, id",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(TokenView {
            id: row.get(0)?,
            role: row.get(1)?,
            tenant: row.get(2)?,
            label: row.get(3)?,
            created: clock::text(row.get(4)?),
            expires: row.get::<_, Option<i64>>(5)?.map(clock::text),
            revoked: row.get::<_, Option<i64>>(6)?.is_some(),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Revokes a token.
pub(crate) fn revoke(c: &Connection, id: &str) -> Stored<()> {
    let changed = c.execute(
        "UPDATE tokens SET revoked = ?2 WHERE id = ?1 AND revoked IS NULL",
        params![id, clock::now()],
    )?;
    if changed == 0 { Err(absent("token", id).into()) } else { Ok(()) }
}

/// The error for a name that leads to nothing, or to what others own.
pub(crate) fn absent(what: &str, name: &str) -> Fault {
    Fault::filled(code::NOT_FOUND, &[("what", &format!("{what} {name:?}"))]).during("looking it up")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_holds_until_it_ends_or_is_revoked_and_is_not_in_the_store() {
        let c = Connection::open_in_memory().expect("memory");
        c.execute_batch(include_str!("store/0001.sql")).expect("the schema");
        let give = |role, of, expires| {
            let token = draw().expect("randomness");
            grant(&c, &token, role, of, "", expires).map_err(Fault::from).map(|id| (id, token))
        };
        let who =
            |token: &str| caller(&c, token).map_err(Fault::from).expect("a store").map(|(caller, _)| caller);
        let (id, token) = give(CallerRole::Analyst, "heart", None).unwrap_or_else(|e| panic!("{e}"));
        let caller = who(&token).expect("it holds");
        assert_eq!((caller.tenant.as_str(), caller.role), ("heart", CallerRole::Analyst));
        assert!(caller.sees("heart") && !caller.sees("lung"));
        assert!(who(&format!("{token}0")).is_none() && who("").is_none());
        let (_, old) =
            give(CallerRole::Owner, "heart", Some(clock::now() - 1)).unwrap_or_else(|e| panic!("{e}"));
        assert!(who(&old).is_none());
        let kept: Vec<u8> =
            c.query_row("SELECT hash FROM tokens LIMIT 1", [], |row| row.get(0)).expect("a row");
        assert!(!token.as_bytes().windows(kept.len()).any(|part| part == kept) && kept.len() == 32);
        revoke(&c, &id).map_err(Fault::from).unwrap_or_else(|e| panic!("{e}"));
        assert!(who(&token).is_none() && revoke(&c, &id).is_err());
        assert!(
            give(CallerRole::Operator, "heart", None).is_err()
                && give(CallerRole::Owner, OPERATORS, None).is_err()
        );
    }
}
