//! A planned draw: its agreement, and the place of a member's result.

use super::{DrawJob, DrawPart, RESULT};
use hushwire_fault::code;
use hushwire_session::{AgreedField, Agreement, Fault, MemberConfig, OutputPlace, Protocol, Task, suggest};

/// AGREEMENT: the version of how numbers follow from the seed.
const VERSION: u32 = 1;

/// A draw, planned.
#[derive(Clone, Debug)]
pub struct DrawTask(DrawJob);

impl DrawTask {
    pub(super) fn new(job: &DrawJob) -> Self {
        Self(job.clone())
    }

    /// The job as its file has it.
    #[must_use]
    pub fn job(&self) -> &DrawJob {
        &self.0
    }

    /// The range and the count in words.
    pub(super) fn title(&self) -> String {
        let DrawJob { numbers, from, to, .. } = self.0;
        format!("{numbers} numbers from {from} to {to}")
    }

    fn place(&self, config: &MemberConfig) -> Result<OutputPlace, Fault> {
        let refused = |step, cause: String, remedy: &str| Err(Fault::new(code::PLACES, step, cause, remedy));
        if let Some(odd) = config.inputs.keys().next() {
            let cause = format!("nobody brings an input to a draw, as `{odd}`");
            return refused("reading inputs", cause, "take it out of [inputs]");
        }
        if let Some(odd) = config.outputs.keys().find(|name| *name != RESULT) {
            let cause = format!("a draw has no output called `{odd}`");
            return refused("preparing outputs", cause, &suggest::remedy(odd, &[RESULT]));
        }
        match config.outputs.get(RESULT) {
            Some(OutputPlace::HexFile(_) | OutputPlace::Csv(_) | OutputPlace::Unnamed) => refused(
                "preparing outputs",
                format!("output `{RESULT}` is text already"),
                "write result = { file = \"…\" } under [outputs]",
            ),
            place => Ok(place.cloned().unwrap_or(OutputPlace::Show)),
        }
    }
}

impl Task for DrawTask {
    type Learnt = super::Drawn;
    type Part = DrawPart;

    fn agreement(&self) -> Agreement {
        let DrawJob { parties, numbers, from, to } = self.0;
        Agreement {
            kind: "draw",
            title: self.title(),
            // A protocol in which all parties but one may deviate, as in a draw.
            protocol: Protocol::Authgarble(parties),
            clients: vec![],
            fields: vec![
                AgreedField::new("draw", format!("version {VERSION}")),
                AgreedField::new("parties", parties.to_string()),
                AgreedField::new("numbers", numbers.to_string()),
                AgreedField::new("range", format!("{from} to {to}")),
            ],
            lanes: 1,
            client_lanes: 1,
        }
    }

    fn open(&self, config: &mut MemberConfig) -> Result<DrawPart, Fault> {
        let place = self.place(config)?;
        let writer = format!("output {RESULT} of draw {}", self.terms().digest());
        let file = match &place {
            OutputPlace::File(path) => {
                Some(config.files.create("for output result", path, &writer, 0o600)?)
            }
            _ => None,
        };
        let shows = matches!(place, OutputPlace::Show | OutputPlace::Memory);
        Ok(DrawPart::new(self.0.clone(), file, shows))
    }
}
