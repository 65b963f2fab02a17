//! Job files from clients: they bring the files that they name, and reach no file of this host.

use hushwire_fault::{Fault, code};
use hushwire_kinds::{CircuitSource, ComputationSource, Job, PublicPlace};
use std::{collections::BTreeMap, path::Path};

const STEP: &str = "reading the job";

/// Reads a job, and takes the text of each circuit, computation or network that it names from
/// `files`. The keys of `files` are the paths as the job writes them.
///
/// # Errors
/// The job is invalid, or names a file that did not come with it.
pub(crate) fn read(text: &str, files: &BTreeMap<String, String>) -> Result<Job, Fault> {
    let mut job = Job::parse(text, Path::new("job.toml"))?;
    match &mut job {
        Job::Circuit(job) => {
            if let CircuitSource::File(path) = &job.circuit {
                let text = text_of(path, files)?;
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                job.circuit = CircuitSource::Text(name, text);
            }
        }
        Job::Compute(job) => {
            bring(&mut job.computation, files)?;
            if let Some(path) = job.public.values().find_map(PublicPlace::path) {
                return Err(did_not_come(path));
            }
        }
        Job::Infer(job) => bring(&mut job.network, files)?,
        Job::Query(_) | Job::Psi(_) | Job::AesCtr(_) | Job::Draw(_) => {}
        _ => return Err(Fault::internal(STEP, "its kind is none that the service knows")),
    }
    Ok(job)
}

/// Replaces the path of a computation by its text.
fn bring(source: &mut ComputationSource, files: &BTreeMap<String, String>) -> Result<(), Fault> {
    if let ComputationSource::File(path) = source {
        *source = ComputationSource::Text(text_of(path, files)?);
    }
    Ok(())
}

fn text_of(path: &Path, files: &BTreeMap<String, String>) -> Result<String, Fault> {
    files.get(&*path.to_string_lossy()).cloned().ok_or_else(|| did_not_come(path))
}

/// The error for a file that did not come with the job. It is the same whether or not this host has
/// such a file, so that nobody learns which files there are.
fn did_not_come(path: &Path) -> Fault {
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

    /// The error also hides whether the file exists.
    #[test]
    fn files_of_this_machine_are_out_of_reach() {
        let compute = |name: &str| JOB.replace("sum.hwc", name);
        let circuit = "protocol = \"rep3\"\ncircuit-file = \"/etc/passwd\"\n";
        let network = "kind = \"infer\"\nprotocol = \"rep3\"\nnetwork = \"/etc/passwd\"\nowner = \"party0\"\n\
                       client = \"party1\"\n";
        let public = format!("{JOB}[public]\nx = {{ file = \"x.bin\" }}\n");
        let files = BTreeMap::from([("sum.hwc".to_owned(), SUM.to_owned())]);
        for job in
            [&compute("/etc/passwd"), &compute("/etc/nothing"), &compute("../x"), circuit, network, &public]
        {
            let error = read(job, &files).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains("did not come with it"), "{job}: {error}");
        }
        assert!(read(&public.replace("x.bin", "/etc/passwd"), &files).is_err(), "a job cannot even name it");
    }
}
