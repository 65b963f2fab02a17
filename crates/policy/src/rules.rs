//! The verdict on a run.
//!
//! [`verdict`] compares a request with every block for its terms. It returns the limits of the
//! first block that allows the run, or else the denials of the block with the fewest. It reads no
//! clock and no store.

use crate::{AllowRule, DataRule, moment::moment_text};
use hushwire_fault::{Fault, code};
use hushwire_seal::{BlakeName, KeyId, VerifyKey};
use hushwire_session::size;
use std::{collections::BTreeMap, fmt};

/// A run that is requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRequest<'a> {
    /// The digest of the run's terms.
    pub digest: BlakeName,
    /// The tenant that requests it.
    pub tenant: &'a str,
    /// The data set of each table or input.
    pub data: &'a BTreeMap<String, RunData>,
    /// The keys to which its results are sealed.
    pub recipients: &'a [KeyId],
    /// The pin of each client that takes part.
    pub clients: &'a BTreeMap<String, String>,
    /// The value of each parameter.
    pub parameters: &'a BTreeMap<String, String>,
    /// The least number of rows of a group that its terms demand in a result.
    pub min_group: Option<u64>,
    /// The bytes of memory that its terms allow, if they set a limit.
    pub memory: Option<u64>,
    /// The number of runs of these terms in progress.
    pub running: u64,
}

/// A data set of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunData {
    /// The id of the data set.
    pub id: BlakeName,
    /// The line of its versions.
    pub line: BlakeName,
    /// The key of its owner, who signed it.
    pub owner: VerifyKey,
    /// The number of its rows.
    pub rows: u64,
    /// The time at which it expires, in seconds since 1970.
    pub expires: Option<u64>,
}

/// An earlier run of the same terms on the same lines of data sets, however it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastRun {
    /// The time at which it was counted, in seconds since 1970.
    pub at: u64,
}

/// The earlier runs of the same terms on the same lines of data sets. A store counts them itself,
/// since there may be very many.
pub trait RunHistory {
    /// The number of runs that were counted at `moment` or later, in seconds since 1970.
    fn since(&self, moment: u64) -> u64;
}

impl RunHistory for [PastRun] {
    fn since(&self, moment: u64) -> u64 {
        self.iter().filter(|run| run.at >= moment).count() as u64
    }
}

/// The limits of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PolicyLimits {
    /// The bytes of memory.
    pub memory: Option<u64>,
    /// The seconds of an attempt.
    pub seconds: Option<u64>,
    /// The number of runs of the terms at the same time.
    pub parallel: Option<u64>,
}

/// A rule that denies a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The key of the rule in a policy file.
    pub rule: &'static str,
    /// The reason why it denies this run.
    pub why: String,
    /// Whether the same run may be allowed later, without a change of the policy.
    pub passes: bool,
}

/// The verdict: whether a run is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A block allows the run, within these limits.
    Allowed {
        /// The index of the block among those that were checked.
        by: usize,
        /// The limits of each run.
        limits: PolicyLimits,
    },
    /// No block allows the run. The reasons are those of the block that comes nearest.
    Denied(Vec<Denial>),
}

impl Verdict {
    /// The error for a denied run.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        let Self::Denied(denials) = self else { return None };
        let cause: Vec<_> =
            denials.iter().map(|denial| format!("`{}`: {}", denial.rule, denial.why)).collect();
        let remedy = if denials.iter().all(|denial| denial.passes) {
            "ask again later"
        } else {
            "change the run, or ask the operator of each party for a policy that allows it"
        };
        Some(Fault::new(code::POLICY_DENIES, "asking the policy", cause.join(", "), remedy))
    }
}

/// Decides whether one of the blocks allows a run, at `now` in seconds since 1970. `history` has
/// the counted earlier runs of these terms on these lines.
#[must_use]
pub fn verdict(
    policies: &[AllowRule],
    request: &RunRequest<'_>,
    history: &(impl RunHistory + ?Sized),
    now: u64,
) -> Verdict {
    let mut nearest: Option<Vec<Denial>> = None;
    let ours = policies.iter().enumerate().filter(|(_, rule)| rule.digest == request.digest);
    for (by, rule) in ours {
        let denials = denials(rule, request, history, now);
        if denials.is_empty() {
            let &AllowRule { memory, seconds, parallel, .. } = rule;
            return Verdict::Allowed { by, limits: PolicyLimits { memory, seconds, parallel } };
        }
        if nearest.as_ref().is_none_or(|least| denials.len() < least.len()) {
            nearest = Some(denials);
        }
    }
    Verdict::Denied(nearest.unwrap_or_else(|| {
        let why = format!("no policy allows terms of the digest {}", request.digest);
        vec![Denial { rule: "digest", why, passes: false }]
    }))
}

fn denials(
    rule: &AllowRule,
    request: &RunRequest<'_>,
    history: &(impl RunHistory + ?Sized),
    now: u64,
) -> Vec<Denial> {
    let mut denials = vec![];
    let mut deny = |rule, passes, why: fmt::Arguments<'_>| {
        denials.push(Denial { rule, why: why.to_string(), passes });
    };
    if rule.tenant != request.tenant {
        deny(
            "tenant",
            false,
            format_args!("it is for the tenant {:?}, and {:?} asks", rule.tenant, request.tenant),
        );
    }
    data(rule, request, now, &mut deny);
    let stranger = request.recipients.iter().find(|key| !rule.recipients.contains(key));
    match stranger {
        Some(key) => deny("recipients", false, format_args!("results may not be sealed to {key}")),
        // A rule without keys is for terms by which only parties and clients learn results.
        None if request.recipients.is_empty() && !rule.recipients.is_empty() => {
            deny("recipients", false, format_args!("the run names nobody who gets results"));
        }
        None => {}
    }
    for (client, pin) in request.clients {
        match rule.clients.get(client) {
            Some(pins) if pins.contains(pin) => {}
            Some(_) => deny("clients", false, format_args!("client {client:?} may not have the pin {pin}")),
            None => deny("clients", false, format_args!("it has no rule for client {client:?}")),
        }
    }
    for client in rule.clients.keys().filter(|client| !request.clients.contains_key(*client)) {
        deny("clients", false, format_args!("the run gives client {client:?} no pin"));
    }
    if let Some(least) = rule.min_rows {
        for (table, data) in request.data.iter().filter(|(_, data)| data.rows < least) {
            let rows = data.rows;
            deny("min-rows", false, format_args!("{table:?} has {rows} rows, and needs {least}"));
        }
    }
    if let Some(least) = rule.min_group
        && request.min_group.is_none_or(|group| group < least)
    {
        let has = request.min_group.unwrap_or(0);
        deny(
            "min-group",
            false,
            format_args!("the job shows groups of {has} rows, and {least} are the least"),
        );
    }
    parameters(rule, request, &mut deny);
    if let Some(most) = rule.runs {
        let since = rule.window.map_or(0, |window| (now + 1).saturating_sub(window));
        let counted = history.since(since);
        if counted >= most {
            let within = rule.window.map_or(String::new(), |window| format!(" within {}", span(window)));
            let passes = rule.window.is_some() && most > 0;
            deny("runs", passes, format_args!("it ran {counted} times{within}, and may run {most} times"));
        }
    }
    if let Some(begins) = rule.not_before.filter(|begins| now < *begins) {
        deny("not-before", true, format_args!("it begins at {}", moment_text(begins)));
    }
    if let Some(ends) = rule.expires.filter(|ends| now >= *ends) {
        deny("expires", false, format_args!("it ended at {}", moment_text(ends)));
    }
    if let (Some(most), Some(wants)) = (rule.memory, request.memory)
        && wants > most
    {
        let (wants, most) = (size::show(wants), size::show(most));
        deny("max.memory", false, format_args!("the job may take {wants}, and the policy allows {most}"));
    }
    if let Some(most) = rule.parallel.filter(|most| request.running >= *most) {
        deny("max.parallel", true, format_args!("{} runs of it are under way, of {most}", request.running));
    }
    denials
}

type Deny<'a> = dyn FnMut(&'static str, bool, fmt::Arguments<'_>) + 'a;

fn data(rule: &AllowRule, request: &RunRequest<'_>, now: u64, deny: &mut Deny<'_>) {
    for (table, data) in request.data {
        let allowed = match rule.data.get(table) {
            None => {
                deny("data", false, format_args!("it has no rule for {table:?}"));
                continue;
            }
            Some(DataRule::Id(id)) => *id == data.id,
            Some(DataRule::Line(line)) => *line == data.line,
            Some(DataRule::Owner(owner)) => *owner == data.owner,
        };
        if !allowed {
            deny("data", false, format_args!("{table:?} may not be {}", data.id));
        }
        if let Some(ended) = data.expires.filter(|ended| now >= *ended) {
            deny("data", false, format_args!("the data set of {table:?} expired at {}", moment_text(ended)));
        }
    }
    for table in rule.data.keys().filter(|table| !request.data.contains_key(*table)) {
        deny("data", false, format_args!("the run names no data set for {table:?}"));
    }
}

fn parameters(rule: &AllowRule, request: &RunRequest<'_>, deny: &mut Deny<'_>) {
    for (parameter, value) in request.parameters {
        match rule.parameters.get(parameter) {
            None => deny("parameters", false, format_args!("it has no rule for {parameter:?}")),
            Some(values) if !values.allows(value) => {
                deny("parameters", false, format_args!("{parameter:?} may not be {value:?}, but {values}"));
            }
            Some(_) => {}
        }
    }
    for parameter in rule.parameters.keys().filter(|name| !request.parameters.contains_key(*name)) {
        deny("parameters", false, format_args!("the run gives {parameter:?} no value"));
    }
}

/// Formats seconds in the largest unit without a remainder.
pub(crate) fn span(seconds: u64) -> String {
    let units = [(86_400, "d"), (3600, "h"), (60, "m")];
    match units.iter().find(|(unit, _)| seconds.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", seconds / unit),
        None => format!("{seconds}s"),
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
