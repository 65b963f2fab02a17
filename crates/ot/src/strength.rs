//! The adversaries against which base OTs are secure, as types, so that an extension cannot use
//! base OTs that are too weak for it.

mod sealed {
    pub trait Sealed {}
}

/// The adversary against which base OTs are secure: [`Passive`], [`SelectiveFailure`] or [`Full`].
pub trait BaseSecurity: sealed::Sealed + Send + Sync + 'static {}

/// Semi-honest parties.
#[derive(Clone, Copy, Debug)]
pub enum Passive {}
/// Malicious parties, except that a corrupted sender may guess choice bits and is caught at each
/// wrong guess. This is enough if the choices are an extension's Δ, but not if they are inputs.
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

/// Base OTs that are secure against `W`, or against a stronger adversary.
pub trait AtLeast<W: BaseSecurity>: BaseSecurity {}
impl AtLeast<Passive> for Passive {}
impl AtLeast<Passive> for SelectiveFailure {}
impl AtLeast<Passive> for Full {}
impl AtLeast<SelectiveFailure> for SelectiveFailure {}
impl AtLeast<SelectiveFailure> for Full {}
impl AtLeast<Full> for Full {}
