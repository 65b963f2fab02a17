//! Explains a block in words.

use crate::{AllowRule, DataRule, ParameterRule, moment::moment_text, rules::span};
use hushwire_session::size;

/// Says in words what a block allows, one sentence on each line. The text includes how often its
/// terms `ran` on their data sets.
#[must_use]
pub fn explain(rule: &AllowRule, ran: usize) -> String {
    let mut lines = vec![format!("{:?} may be run by the tenant {:?}.", rule.name, rule.tenant)];
    for (table, data) in &rule.data {
        lines.push(match data {
            DataRule::Id(_) => format!("The table {table:?} is the data set {data}."),
            DataRule::Line(_) => format!("The table {table:?} is any version of {data}."),
            DataRule::Owner(_) => format!("The table {table:?} is any data set of {data}."),
        });
    }
    let recipients: Vec<_> = rule.recipients.iter().map(ToString::to_string).collect();
    lines.push(match recipients[..] {
        [] => "No result is sealed: the terms say which parties and clients learn something.".to_owned(),
        _ => format!("Results are sealed to {}.", recipients.join(" or ")),
    });
    for (client, pins) in &rule.clients {
        lines.push(format!("The client {client:?} has the pin {}.", pins.join(" or ")));
    }
    if let Some(least) = rule.min_rows {
        lines.push(format!("Each data set has at least {least} rows."));
    }
    if let Some(least) = rule.min_group {
        lines.push(format!("The job shows no group of fewer than {least} rows."));
    }
    for (parameter, values) in &rule.parameters {
        lines.push(match values {
            ParameterRule::Among(_) => format!("The parameter {parameter:?} is {values}."),
            ParameterRule::Dates(from, to) | ParameterRule::Numbers(from, to) => {
                format!("The parameter {parameter:?} is from {from} to {to}.")
            }
        });
    }
    let times = if ran == 1 { "time" } else { "times" };
    lines.push(match (rule.runs, rule.window) {
        (Some(runs), Some(window)) => {
            format!("It may run {runs} times within {}; it ran {ran} {times} so far.", span(window))
        }
        (Some(runs), None) => format!("It may run {runs} times in all; it ran {ran} {times} so far."),
        (None, _) => format!("It may run any number of times; it ran {ran} {times} so far."),
    });
    if let Some(begins) = rule.not_before {
        lines.push(format!("It begins at {}.", moment_text(begins)));
    }
    if let Some(ends) = rule.expires {
        lines.push(format!("It ends at {}.", moment_text(ends)));
    }
    if let Some(memory) = rule.memory {
        lines.push(format!("A run takes at most {} of memory.", size::show(memory)));
    }
    if let Some(seconds) = rule.seconds {
        lines.push(format!("An attempt takes at most {seconds} s."));
    }
    if let Some(parallel) = rule.parallel {
        lines.push(format!("At most {parallel} runs of it are under way at a time."));
    }
    if let Some(epsilon) = &rule.epsilon {
        lines.push(format!("Its differential budget is {epsilon:?}, which is not enforced."));
    }
    lines.join("\n")
}
