//! Table 6 of the VASA paper, with this run's figures added.

use super::grid::AuthPhase;
use crate::{
    Report,
    axes::params,
    implementation::Implementation,
    papers::{VASA_6, beside},
};

/// The table of each link and variant that was measured.
pub(super) fn print(report: &Report) -> String {
    let mut links = vec![];
    for row in &report.rows {
        let link = ["transport", "net", "variant"].map(|key| row.params.text(key).unwrap_or_default());
        if !links.contains(&link) {
            links.push(link);
        }
    }
    links.iter().map(|link| print_link(report, link.each_ref().map(String::as_str))).collect()
}

fn print_link(report: &Report, [transport, net, variant]: [&str; 3]) -> String {
    let mut out =
        format!("\nMilliseconds over {transport}, net {net}: ours ({variant}) / the paper's over loopback");
    out += " (Core i7-1068NG7, openings unchecked). Improv% is over the line above.\n\n";
    out += "| | setup | function-independent | function-dependent | online |\n|---|--:|--:|--:|--:|\n";
    let params = |implementation: Implementation, phase: AuthPhase| params!(report; implementation = implementation, phase = phase);
    let link = [("transport", transport), ("net", net), ("variant", variant)];
    let ours = |implementation: Implementation, phase: AuthPhase| {
        let wanted = [("implementation", implementation.name()), ("phase", phase.name())];
        report.rows.iter().find(|row| row.is(&link) && row.is(&wanted)).map(|row| row.median)
    };
    let is_measured = |i: &Implementation| AuthPhase::ALL.iter().any(|phase| ours(*i, *phase).is_some());
    let measured: Vec<Implementation> = Implementation::ALL.into_iter().filter(is_measured).collect();
    let names: Vec<&str> = measured.iter().map(|i| i.name()).collect();
    let cells = |k: usize, column: usize| ours(measured[k], AuthPhase::ALL[column]);
    let theirs = |k: usize, column: usize| VASA_6.figure(&params(measured[k], AuthPhase::ALL[column]));
    beside(&mut out, ("", &names), (AuthPhase::ALL.len(), 1), |k| k.checked_sub(1), [&cells, &theirs]);
    out
}
