//! One member of a job, whose others are elsewhere.

use hushwire_aes::Backend;
use hushwire_job::{
    ClientFile, InputPlace, JobError, MemberConfig, Observer, Outcome, OutputPlace, PartyFile, Task,
};
use std::{path::Path, sync::Arc};

/// One member of a run across machines: what `hushwire party` and `hushwire client` are.
pub struct Member {
    config: MemberConfig,
    observer: Observer,
}

impl Member {
    /// The party that a party file describes. It listens from now on. `label` keeps apart runs that must not be mixed up.
    ///
    /// # Errors
    /// The file or its key cannot be used, or the address cannot be had.
    pub fn party(file: &Path, label: &str) -> Result<Self, JobError> {
        let file = PartyFile::read(file)?;
        let me = file.member.me.clone();
        let config = MemberConfig::of_party(file, label, Backend::best());
        Ok(Self::new(config.map_err(|e| e.of(&me))?))
    }

    /// The client that a client file describes.
    ///
    /// # Errors
    /// The file or its key cannot be used.
    pub fn client(file: &Path, label: &str) -> Result<Self, JobError> {
        let file = ClientFile::read(file)?;
        let me = file.0.me.clone();
        let config = MemberConfig::of_client(file, label, Backend::best());
        Ok(Self::new(config.map_err(|e| e.of(&me))?))
    }

    /// A member with a configuration of the program's own.
    #[must_use]
    pub fn new(config: MemberConfig) -> Self {
        Self { config, observer: Arc::new(|_| {}) }
    }

    /// The place of one of its inputs, in place of the file's.
    #[must_use]
    pub fn bring(mut self, name: &str, place: InputPlace) -> Self {
        self.config.inputs.insert(name.to_owned(), place);
        self
    }

    /// The place of one of its outputs, in place of the file's.
    #[must_use]
    pub fn keep(mut self, name: &str, place: OutputPlace) -> Self {
        self.config.outputs.insert(name.to_owned(), place);
        self
    }

    /// A listener to the run's events.
    #[must_use]
    pub fn observer(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// Meets the others and runs this member's side of a job of any kind to its end.
    ///
    /// # Errors
    /// Something failed here or elsewhere; no output is in place.
    pub fn run<T: Task>(self, task: &T) -> Result<Outcome<T::Learnt>, JobError> {
        hushwire_job::run(task, self.config, &self.observer)
    }
}
