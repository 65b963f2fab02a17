//! Job files from clients: they bring the files that they name, and cannot reach files on this
//! host.

use hushwire_fault::{Fault, code};
use hushwire_kinds::{CircuitSource, ComputationSource, Job, PublicPlace};
use std::{collections::BTreeMap, path::Path};

const STEP: &str = "reading the job";

/// Reads a job. `files` has the texts of its computations and circuits by their names in the job.
///
/// # Errors
/// If a line does not make sense, or the job names a file that is not in `files`.
pub(crate) fn read(text: &str, files: &BTreeMap<String, String>) -> Result<Job, Fault> {
    let mut job = Job::parse(text, Path::new("job.toml"))?;
    match &mut job {
        Job::Circuit(job) => {
            if let CircuitSource::File(path) = &job.circuit {
                let text = files.get(&*path.to_string_lossy()).ok_or_else(|| stranger(path))?;
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                job.circuit = CircuitSource::Text(name, text.clone());
            }
        }
        Job::Compute(job) => {
            brought(&mut job.computation, files)?;
            let places = job.public.values();
            if let Some(path) = places.filter_map(PublicPlace::path).next() {
                return Err(stranger(path));
            }
        }
        Job::Infer(job) => brought(&mut job.network, files)?,
        Job::Query(_) | Job::Psi(_) | Job::AesCtr(_) | Job::Draw(_) => {}
        _ => return Err(Fault::internal(STEP, "its kind is none that the service knows")),
    }
    Ok(job)
}

/// Replaces the name of a computation's file by its text.
fn brought(source: &mut ComputationSource, files: &BTreeMap<String, String>) -> Result<(), Fault> {
    let ComputationSource::File(path) = source else { return Ok(()) };
    let text = files.get(&*path.to_string_lossy()).ok_or_else(|| stranger(path))?;
    *source = ComputationSource::Text(text.clone());
    Ok(())
}

/// The error for a file that did not come with the job. It does not tell whether this host has such
/// a file.
fn stranger(path: &Path) -> Fault {
    let cause = format!("the job names the file {}, which did not come with it", path.display());
    let remedy = "send its text under `files`, by the name that the job has for it; public values are texts";
    Fault::new(code::JOB_FILE, STEP, cause, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUM: &str = "computation sum\n    members a, b\n    input x: u32 from a\n    input y: u32 from b\n    \
                       output z = x + y to a\n";
    const JOB: &str = "kind = \"compute\"\nprotocol = \"rep3\"\ncomputation = \"sum.hwc\"\n[members]\na = \"party0\"\n\
                       b = \"party1\"\n";

    #[test]
    fn a_computation_comes_with_its_job() {
        let files = BTreeMap::from([("sum.hwc".to_owned(), SUM.to_owned())]);
        let job = read(JOB, &files).unwrap_or_else(|e| panic!("{e}"));
        assert!(job.terms().is_ok());
    }

    #[test]
    fn a_circuit_comes_with_its_job() {
        let and = "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n";
        let job = "protocol = \"gmw\"\ncircuit-file = \"and.txt\"\n[[inputs]]\nfrom = \"party0\"\n[[inputs]]\nfrom = \
                   \"party1\"\n[[outputs]]\nto = [\"party0\"]\n";
        let files = BTreeMap::from([("and.txt".to_owned(), and.to_owned())]);
        let read = read(job, &files).unwrap_or_else(|e| panic!("{e}"));
        // The job is the same as one whose circuit is in a file.
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("and.txt"), and).expect("room");
        let from_file = Job::parse(job, &dir.path().join("job.toml")).unwrap_or_else(|e| panic!("{e}"));
        let digest =
            |job: &Job| job.terms().map(|(terms, _)| terms.digest().to_string()).map_err(|e| e.to_string());
        assert_eq!(digest(&read), digest(&from_file));
    }

    /// The error does not even tell whether such a file exists.
    #[test]
    fn files_of_this_machine_are_out_of_reach() {
        for (name, there) in [("/etc/passwd", true), ("/etc/nothing", false), ("../x", false)] {
            let error = read(&JOB.replace("sum.hwc", name), &BTreeMap::new()).err();
            let error = error.map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains("did not come with it"), "{name} {there}: {error}");
        }
        let circuit = "protocol = \"rep3\"\ncircuit-file = \"/etc/passwd\"\n";
        assert!(read(circuit, &BTreeMap::new()).is_err());
        let public = format!("{JOB}[public]\nx = {{ file = \"/etc/passwd\" }}\n");
        let files = BTreeMap::from([("sum.hwc".to_owned(), SUM.to_owned())]);
        assert!(read(&public, &files).is_err());
    }
}
