//! The agreement on an inference, and the computation that it runs. The computation comes from the
//! file that `hushwire model plan` writes, and contains no weights. The job's owner and client take
//! its two roles. Linear layers of two parties use homomorphic encryption unless the job says
//! otherwise.

use super::{InferJob, InferPart};
use crate::{BoundComputation, ComputeJob, ComputeTask};
use hushwire_compute::Computation;
use hushwire_fault::code;
use hushwire_nn::{Members, Numbers, OUTPUT};
use hushwire_ot::Protocol as Extension;
use hushwire_session::{
    AgreedField, Agreement, Chosen, Fault, Forecast, FromDisk, Linear, MemberConfig, Preparable, Protocol,
    Task, Wants,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

/// The version of the meaning of the owner's inputs. Before version 2, outputs that are not cut had
/// half a step added, which the client subtracted.
const VERSION: u32 = 2;

/// An inference's job, planned.
#[derive(Clone)]
pub struct InferTask {
    job: InferJob,
    numbers: Numbers,
    compute: ComputeTask,
    /// The predicted seconds with each extension, if the extension was chosen for the link.
    by_link: Vec<(Extension, f64)>,
}

/// The extensions of oblivious transfer from which one is chosen for a link. Among equally quick
/// ones the first is taken.
const BY_LINK: [Extension; 3] = [Extension::SoftSpoken4, Extension::SoftSpoken2, Extension::FerretB11];

/// The result of an inference at a member.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inferred {
    /// The lengths of the output, if this member learns it.
    pub lengths: Option<Vec<usize>>,
    /// Its elements, if there are few.
    pub elements: Vec<f32>,
    /// The lengths and elements of further outputs.
    #[serde(default)]
    pub more: Vec<(Vec<usize>, Vec<f32>)>,
    /// The preprocessing that came from disk. `None` if this party has no shelf.
    pub from_disk: Option<FromDisk>,
}

impl InferTask {
    /// Plans the inference.
    ///
    /// # Errors
    /// The network's file cannot be read, or holds a computation that is not a network's.
    pub fn new(job: &InferJob) -> Result<Self, Fault> {
        let computation = Arc::new(job.network.load()?);
        let numbers = Numbers::of_computation(&computation)?;
        let is_other = |bits: &u8| *bits != numbers.bits || numbers.wide.is_some();
        if let Some(bits) = job.bits.filter(is_other) {
            let [own, _] = numbers.told();
            let cause = format!("`bits` is {bits}, and the network has numbers of {own} bits");
            let remedy =
                format!("write bits = \"auto\", or the network anew (`hushwire model plan --bits {bits}`)");
            return Err(Fault::new(code::MODEL, "planning the job", cause, remedy));
        }
        if job.owner == job.client {
            let remedy = "let two members be owner and client; one alone needs no other";
            return Err(Fault::new(
                code::MODEL,
                "planning the job",
                "the model's owner is the client",
                remedy,
            ));
        }
        let mut compute = ComputeJob::new(job.protocol, job.network.clone());
        let Members { owner, client } = Members::default();
        compute.members = BTreeMap::from([(owner, job.owner.clone()), (client, job.client.clone())]);
        compute.learns = job.to.iter().map(|to| (Members::default().client, to.clone())).collect();
        compute.values = job.values.clone();
        (compute.threads, compute.ot, compute.linear) = (job.threads, job.ot, job.linear);
        compute.ahead = job.ahead;
        if job.protocol == Protocol::Two {
            compute.linear = Some(job.linear.unwrap_or(Linear::He));
        }
        let compute = ComputeTask::of(&compute, computation)?;
        if job.owner.is_connected() && !compute.agreement().members().contains(&job.owner) {
            let cause =
                "the network has no weights, so that its owner has nothing to bring and takes no part";
            let remedy = "let the client compute it alone: there is nothing to hide from it";
            return Err(Fault::new(code::MODEL, "planning the job", cause, remedy));
        }
        let (compute, by_link) = by_link(job, compute)?;
        Ok(InferTask { job: job.clone(), numbers, compute, by_link })
    }

    /// The job.
    #[must_use]
    pub fn job(&self) -> &InferJob {
        &self.job
    }

    /// The network's computation.
    #[must_use]
    pub fn computation(&self) -> &Computation {
        self.compute.computation()
    }

    /// The protocol with its options, and the extension that was chosen for the link.
    #[must_use]
    pub fn chosen(&self) -> Chosen {
        self.compute.chosen()
    }

    /// The extensions of oblivious transfer from which one was chosen for the link, with the
    /// predicted seconds of a run. Empty if the job names an extension, or does not use any.
    #[must_use]
    pub fn by_link(&self) -> &[(Extension, f64)] {
        &self.by_link
    }

    /// The ring and its fixed-point numbers.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// Names the runs that may replace each other's output. These are the runs of the same network
    /// with the same scales, whatever its weights.
    #[must_use]
    pub fn writer(&self) -> String {
        self.writer_of(OUTPUT)
    }

    /// Like [`writer`](Self::writer), for one of several outputs.
    #[must_use]
    pub fn writer_of(&self, output: &str) -> String {
        self.compute.writer(output)
    }

    /// The job of the computation.
    pub(super) fn compute(&self) -> &ComputeTask {
        &self.compute
    }

    /// The bound computation.
    ///
    /// # Errors
    /// It is too large for this machine.
    pub fn bound(&self) -> Result<BoundComputation, Fault> {
        self.compute.bound(&BTreeMap::new())
    }

    /// The forecast of a run.
    ///
    /// # Errors
    /// The computation is too large to run.
    pub fn price(&self, aes_instructions: bool) -> Result<Forecast, Fault> {
        Ok(self.bound()?.forecast(self.compute.chosen(), aes_instructions)?.0)
    }
}

/// The extension that is predicted to be quickest over the job's link, if the job names none, with
/// the predictions.
fn by_link(job: &InferJob, compute: ComputeTask) -> Result<(ComputeTask, Vec<(Extension, f64)>), Fault> {
    if job.protocol != Protocol::Two || job.ot.is_some() {
        return match job.link {
            None => Ok((compute, vec![])),
            Some(_) => {
                let cause = "`link` chooses the extension of oblivious transfer, and there is none to choose";
                let remedy = "leave out `link`, or write protocol = \"two\" and ot = \"auto\"";
                Err(Fault::new(code::MODEL, "planning the job", cause, remedy))
            }
        };
    }
    let link = job.link.unwrap_or_default();
    let forecasts = compute.bound(&BTreeMap::new())?.by_extension(compute.chosen(), &BY_LINK)?;
    let seconds = forecasts.iter().map(|forecast| forecast.seconds(link.0));
    let prices: Vec<(Extension, f64)> = BY_LINK.into_iter().zip(seconds).collect();
    let best = prices.iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(ot, _)| *ot);
    Ok((if let Some(ot) = best { compute.over(link, ot) } else { compute }, prices))
}

impl Task for InferTask {
    type Learnt = Inferred;
    type Part = InferPart;

    fn agreement(&self) -> Agreement {
        let mut agreement = self.compute.agreement();
        // This is in the text that binds a run, but not in the terms, which are the same in every
        // release.
        let protocol = agreement.fields.iter_mut().filter(|field| field.name == "protocol");
        protocol.for_each(|field| field.text += &format!(", inference version {VERSION}"));
        agreement.fields.extend(self.job.to.iter().map(|to| AgreedField::new("to", to.key())));
        Agreement { kind: "infer", title: "inference".to_owned(), ..agreement }
    }

    fn tells_of_files(&self) -> bool {
        self.compute.tells_of_files()
    }

    fn reads(&self) -> Vec<(String, PathBuf)> {
        self.compute.reads()
    }

    fn open(&self, config: &mut MemberConfig) -> Result<InferPart, Fault> {
        InferPart::open(self, config)
    }
}

impl Preparable for InferTask {
    fn wants(&self) -> Result<Wants, Fault> {
        self.compute.wants()
    }
}

#[cfg(all(test, feature = "two"))]
mod tests {
    use super::*;
    use crate::ComputationSource;
    use hushwire_nn::{Network, Secure, zoo};
    use hushwire_session::{Link, Member};

    fn job(outputs: usize) -> InferJob {
        let mut w = zoo::Writer::new("m", 3, &[1, 8]);
        let x = w.gemm("input", [8, outputs]);
        let x = w.relu(&x);
        let network = Network::new(w.finish(&x), None).expect("a network");
        let secure = Secure::new(&network, Numbers::default(), &Members::default()).expect("a computation");
        InferJob {
            protocol: Protocol::Two,
            ot: None,
            link: None,
            linear: None,
            ahead: None,
            network: ComputationSource::Text(secure.computation().to_string()),
            bits: None,
            owner: Member::Party(0),
            client: Member::Party(1),
            to: None,
            threads: None,
            values: crate::RunValues::default(),
        }
    }

    fn over(link: Option<&str>) -> InferTask {
        let link = link.map(|link| link.parse::<Link>().expect(link));
        InferTask::new(&InferJob { link, ..job(100_000) }).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn links_choose_what_is_predicted_to_be_quickest() {
        for (link, expected) in [
            (Some("loopback"), Extension::SoftSpoken2),
            (Some("lan"), Extension::SoftSpoken2),
            (None, Extension::SoftSpoken4),
            (Some("1Gbps,1ms"), Extension::SoftSpoken4),
            (Some("wan"), Extension::FerretB11),
        ] {
            let task = over(link);
            assert_eq!(task.chosen().ot, Some(expected), "{link:?}: {:?}", task.by_link());
            let least = task.by_link().iter().map(|(_, seconds)| *seconds).fold(f64::INFINITY, f64::min);
            assert!(task.by_link().contains(&(expected, least)), "{link:?}: {:?}", task.by_link());
            let seconds = task.price(true).unwrap_or_else(|e| panic!("{e}"));
            let shape = link.map_or_else(Link::default, |link| link.parse().expect(link)).0;
            assert_eq!(seconds.seconds(shape).to_bits(), least.to_bits(), "the price of what is chosen");
        }
    }

    /// Members with different links never agree, even if both links lead to the same extension, or
    /// one member names the extension that the other's link leads to.
    #[test]
    fn members_with_other_links_do_not_agree() {
        let named = InferJob { ot: Some(Extension::SoftSpoken2), ..job(100_000) };
        let named = InferTask::new(&named).unwrap_or_else(|e| panic!("{e}"));
        let ours = over(Some("lan")).agreement();
        assert_eq!(ours.digest(), over(Some("lan")).agreement().digest());
        for theirs in [over(Some("wan")), over(Some("loopback")), over(None), named] {
            let theirs = theirs.agreement();
            assert_ne!(ours.digest(), theirs.digest());
            let differs = ours.differences(&theirs.tags());
            assert_eq!(differs.len(), 1, "{differs:?}");
            assert!(differs[0].starts_with("protocol (ours: two, ot softspoken2 by link lan"), "{differs:?}");
        }
    }

    /// Two parties must agree on it, like on any term.
    #[test]
    fn ots_ahead_are_agreed_on() {
        let of = |ahead| InferTask::new(&InferJob { ahead, ..job(4) }).unwrap_or_else(|e| panic!("{e}"));
        let told = [None, Some(true), Some(false)].map(|ahead| of(ahead).agreement());
        for (i, theirs) in told.iter().enumerate() {
            let differs = told[0].differences(&theirs.tags());
            assert_eq!(differs.len(), usize::from(i > 0), "{differs:?}");
        }
        assert!(of(Some(true)).chosen().to_string().ends_with(", OTs ahead"));
        let three = InferJob { protocol: Protocol::Rep3, client: Member::Client("c".into()), ..job(4) };
        let error = InferTask::new(&InferJob { ahead: Some(false), ..three }).err().map(|e| e.to_string());
        assert!(error.is_some_and(|error| error.contains("`ahead`")));
    }

    #[test]
    fn links_without_a_choice_are_refused() {
        let link = "lan".parse::<Link>().ok();
        let named = InferJob { link, ot: Some(Extension::SoftSpoken4), ..job(4) };
        let three = InferJob { link, protocol: Protocol::Rep3, client: Member::Client("c".into()), ..job(4) };
        for job in [named, three] {
            let error = InferTask::new(&job).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains("`link`"), "{error}");
        }
    }

    /// Outputs of another computation are not a network's.
    #[test]
    fn other_computations_are_refused() {
        let good = job(4);
        let ComputationSource::Text(text) = &good.network else { panic!("text") };
        let line = text.lines().find(|line| line.starts_with("output ")).expect("an output");
        let name = line.split_whitespace().nth(1).expect("a name");
        let more = format!("{text}\n{}\n", line.replacen(&format!(" {name}"), " more", 1));
        let odd = InferJob { network: ComputationSource::Text(more), ..good };
        let error = InferTask::new(&odd).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("more") && error.contains("model plan"), "{error}");
    }
}
