//! Errors of a device: the step, the cause and the remedy.

use hushwire_fault::{Fault, IntoText, code};
use std::time::Duration;

/// A failure of a device: the device, the step, the cause and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{device}, {step}: {cause}; {}", .cause.remedy())]
pub struct HdlError {
    /// The device's name, as users know it.
    pub device: String,
    /// The step that failed.
    pub step: &'static str,
    /// The cause.
    pub cause: Cause,
}

/// The reason why a device failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The device's program does not exist.
    #[error("there is no {0}")]
    Missing(String),
    /// The device's program exists but does not start.
    #[error("it cannot be started ({0})")]
    NotStarted(String),
    /// The device closed the connection. The text is the exit status, if the engine started the
    /// process.
    #[error("it is gone{}", .0.as_ref().map_or(String::new(), |how| format!(", with {how}")))]
    Died(Option<String>),
    /// The device reported an error before it ended.
    #[error("it reports: {0}")]
    Reported(String),
    /// The connection failed.
    #[error("the connection failed ({0})")]
    Io(String),
    /// The device sent a message that the protocol does not allow at this point.
    #[error("it broke the protocol: {0}")]
    Protocol(String),
    /// The device speaks another version of the protocol.
    #[error("it speaks version {found} of the protocol, and this program version {expected}")]
    Version {
        /// The device's version.
        found: u32,
        /// This program's version.
        expected: u32,
    },
    /// A circuit does not fit into the device.
    #[error("the circuit needs {needed} {what}, and it has room for {room}")]
    Capacity {
        /// The resource that is too small, for example "slots".
        what: &'static str,
        /// The number that the circuit needs.
        needed: usize,
        /// The number that the device has.
        room: usize,
    },
    /// The device runs batches of another size than the parties agreed on.
    #[error("it runs batches of {found} instances, and the parties agreed on {expected}")]
    Instances {
        /// The device's number of instances.
        found: usize,
        /// The parties' number of instances.
        expected: usize,
    },
    /// For this long, the device sent nothing and received nothing.
    #[error("it did nothing for {} s", .0.as_secs_f64())]
    Silent(Duration),
    /// The caller within this program is wrong.
    #[error("{0}")]
    Misuse(String),
}

impl From<HdlError> for Fault {
    fn from(e: HdlError) -> Self {
        let code = match e.cause {
            Cause::Missing(_) | Cause::NotStarted(_) => code::DEVICE_MISSING,
            Cause::Misuse(_) => code::DEVICE_MISUSE,
            _ => code::DEVICE,
        };
        let places = [("cause", (&e.cause).into_text()), ("remedy", e.cause.remedy().into())];
        Self::of(code, &places).during(format_args!("{}, {}", e.device, e.step))
    }
}

impl Cause {
    /// The remedy, as a clause that follows the cause.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Missing(_) => {
                "run hdl/setup in a checkout of the source, or set HUSHWIRE_HDL to the folder that holds party-sim"
            }
            Self::NotStarted(_) | Self::Version { .. } => {
                "run hdl/setup again, so that it is built from the same source and for this machine"
            }
            Self::Died(_) | Self::Io(_) => "see what it wrote to standard error, and start the run again",
            Self::Reported(_) => "read its words, and start the run again",
            Self::Protocol(_) => "run hdl/setup again, and report this if it stays so",
            Self::Capacity { .. } => "build the device with more room, or take a smaller circuit",
            Self::Instances { .. } => "build the device with the number of lanes that the run is for",
            Self::Silent(_) => {
                "see whether its process is stopped or the machine overloaded, and start the run again"
            }
            Self::Misuse(_) => "please report this with the command line",
        }
    }
}
