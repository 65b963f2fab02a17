//! Security levels as types, so that an extension cannot stand on base OTs that are too weak for it.

use crate::base::{BaseProtocol, ChouOrlandi, ChouOrlandi16, Csw};

mod sealed {
    pub trait Sealed {}
}

/// A security level at run time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Level {
    /// Parties follow the protocol.
    SemiHonest,
    /// Parties may do anything.
    Malicious,
}

/// The adversary that an extension withstands: [`SemiHonest`] or [`Malicious`].
pub trait Security: sealed::Sealed + Send + Sync + 'static {
    /// The same, as a value.
    const LEVEL: Level;
    /// The least that its base OTs must withstand.
    type Base: BaseSecurity;
    /// The base OTs it takes where nobody says otherwise.
    type DefaultBase: BaseProtocol<Level: AtLeast<Self::Base>>;
    /// Those that take the least time, whatever they send.
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

/// The adversary that base OTs withstand: [`Passive`], [`SelectiveFailure`] or [`Full`].
pub trait BaseSecurity: sealed::Sealed + Send + Sync + 'static {}

/// Semi-honest parties.
#[derive(Clone, Copy, Debug)]
pub enum Passive {}
/// Malicious parties, but a corrupt sender may guess choice bits and is caught at each wrong guess: enough where the
/// choices are an extension's Δ, not where they are inputs.
#[derive(Clone, Copy, Debug)]
pub enum SelectiveFailure {}
/// Malicious parties, universally composable.
#[derive(Clone, Copy, Debug)]
pub enum Full {}

impl sealed::Sealed for Passive {}
impl sealed::Sealed for SelectiveFailure {}
impl sealed::Sealed for Full {}
impl BaseSecurity for Passive {}
impl BaseSecurity for SelectiveFailure {}
impl BaseSecurity for Full {}

/// Base OTs that withstand what `W` asks for, or more.
pub trait AtLeast<W: BaseSecurity>: BaseSecurity {}
impl AtLeast<Passive> for Passive {}
impl AtLeast<Passive> for SelectiveFailure {}
impl AtLeast<Passive> for Full {}
impl AtLeast<SelectiveFailure> for SelectiveFailure {}
impl AtLeast<SelectiveFailure> for Full {}
impl AtLeast<Full> for Full {}
