//! The method of a job, which follows from the method that it names and the result that it reveals.

use super::{PsiJob, PsiMethod, PsiReveal};
use hushwire_fault::{IntoText, code};
use hushwire_psi::Method;
use hushwire_session::Fault;

pub(super) fn wrong(cause: impl IntoText, remedy: &str) -> Fault {
    Fault::new(code::INTERSECTION, "planning the job", cause, remedy)
}

/// The method of a job.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen {
    Vole,
    Bins,
    /// `None`: the one with fewer ANDs.
    Circuit(Option<Method>),
}

pub(super) fn method(job: &PsiJob) -> Result<Chosen, Fault> {
    let of_circuits = job.protocol.is_some() || job.scheme.is_some() || job.ot.is_some();
    let number = matches!(job.reveal, PsiReveal::Size | PsiReveal::Sum { .. });
    if matches!(job.reveal, PsiReveal::Columns { .. }) {
        return match job.method {
            Some(method @ (PsiMethod::Bins | PsiMethod::Circuit(_))) => {
                let cause = format!("the method {method} carries no columns of the other party's file");
                Err(wrong(cause, "take the method vole"))
            }
            _ if of_circuits => {
                let cause = "`protocol`, `scheme` and `ot` are of circuits, which carry no columns of the other party's file";
                Err(wrong(cause, "leave them out: columns take the method vole"))
            }
            _ => Ok(Chosen::Vole),
        };
    }
    Ok(match job.method {
        Some(method @ (PsiMethod::Vole | PsiMethod::Bins)) if of_circuits => {
            let cause = format!(
                "`protocol`, `scheme` and `ot` are of circuits of whole sets, and the method is {method}"
            );
            return Err(wrong(cause, "leave them out, or take the method phasing or scs"));
        }
        Some(PsiMethod::Vole) if number => {
            let cause = "the method vole tells which items are common, and not their number alone";
            return Err(wrong(cause, "take the method circuit, or reveal items"));
        }
        Some(PsiMethod::Bins) => Chosen::Bins,
        Some(PsiMethod::Circuit(circuit)) => Chosen::Circuit(Some(circuit)),
        None if of_circuits => Chosen::Circuit(None),
        None if number => Chosen::Bins,
        Some(PsiMethod::Vole) | None => Chosen::Vole,
    })
}
