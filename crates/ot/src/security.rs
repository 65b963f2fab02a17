//! Security levels of extensions as types, and the base OTs that each requires.

use crate::base::{BaseProtocol, ChouOrlandi, ChouOrlandi16, Csw};
use crate::strength::{AtLeast, BaseSecurity, Passive, SelectiveFailure};

mod sealed {
    pub trait Sealed {}
}

/// A security level at run time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Level {
    /// Parties follow the protocol.
    SemiHonest,
    /// Parties may deviate in any way.
    Malicious,
}

impl Level {
    /// The name, as in commands and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SemiHonest => "semi-honest",
            Self::Malicious => "malicious",
        }
    }
}

/// The adversary against which an extension is secure: [`SemiHonest`] or [`Malicious`].
pub trait Security: sealed::Sealed + Send + Sync + 'static {
    /// The level as a value.
    const LEVEL: Level;
    /// The weakest level that its base OTs may have.
    type Base: BaseSecurity;
    /// The default base OTs.
    type DefaultBase: BaseProtocol<Level: AtLeast<Self::Base>>;
    /// The base OTs that take the least time, whatever they send.
    type FastBase: BaseProtocol<Level: AtLeast<Self::Base>>;
}

/// Parties follow the protocol and are curious.
#[derive(Clone, Copy, Debug)]
pub enum SemiHonest {}
/// Parties may deviate in any way; they are caught, or gain nothing.
#[derive(Clone, Copy, Debug)]
pub enum Malicious {}

impl sealed::Sealed for SemiHonest {}
impl sealed::Sealed for Malicious {}
impl Security for SemiHonest {
    const LEVEL: Level = Level::SemiHonest;
    type Base = Passive;
    type DefaultBase = ChouOrlandi;
    type FastBase = ChouOrlandi16;
}
impl Security for Malicious {
    const LEVEL: Level = Level::Malicious;
    type Base = SelectiveFailure;
    type DefaultBase = Csw;
    type FastBase = Csw;
}
