//! Jobs: members and their files, the agreement, the run ([`hushwire_session`]), and the kinds of
//! jobs ([`hushwire_kinds`]).

pub use hushwire_kinds::*;
pub use hushwire_session::*;

/// Encryption of a file with AES in counter mode, under a key that exists only as shares.
pub use hushwire_kinds::encrypt as aes_ctr;
