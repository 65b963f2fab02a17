//! Types for outputs that a check has not covered yet. An [`Unverified`] value opens only with a
//! [`Verified`] proof of the same endpoint that is recent enough.

use core::{marker::PhantomData, sync::atomic::AtomicU64, sync::atomic::Ordering};

use crate::{OtError, Security, SemiHonest};

/// Proof that one endpoint's checks have passed up to some point. Only that endpoint can make it.
#[derive(Clone, Copy, Debug)]
pub struct Verified {
    end: u64,
    epoch: u64,
}

/// Outputs of an extension, which must not be used before a check covers them.
///
/// They hold the caller's buffers, which are already written. If they are dropped without a check,
/// the buffers are returned and must not be read.
///
/// ```compile_fail
/// # use hushwire_ot::{Malicious, Unverified};
/// # fn of(made: Unverified<Vec<u8>, Malicious>) -> Vec<u8> {
/// made.trust() // only where parties follow the protocol
/// # }
/// ```
#[must_use = "verify, then open it"]
pub struct Unverified<T, S> {
    value: T,
    end: u64,
    /// The epoch after which the value is verified.
    epoch: u64,
    level: PhantomData<S>,
}

impl<T, S: Security> Unverified<T, S> {
    /// The value, after a check has covered it.
    ///
    /// # Errors
    /// [`OtError::Unverified`] if `proof` is older than the value or belongs to another endpoint;
    /// the value is then lost.
    pub fn open(self, proof: &Verified) -> Result<T, OtError> {
        if proof.end == self.end && proof.epoch >= self.epoch {
            Ok(self.value)
        } else {
            Err(OtError::Unverified)
        }
    }
}

impl<T> Unverified<T, SemiHonest> {
    /// The value; with semi-honest parties no check is needed.
    pub fn trust(self) -> T {
        self.value
    }
}

/// Counts the checks of one endpoint.
pub(crate) struct Epochs {
    end: u64,
    passed: u64,
}

impl Epochs {
    pub(crate) fn new() -> Self {
        // LOCAL: distinguishes the endpoints of one process.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { end: NEXT.fetch_add(1, Ordering::Relaxed), passed: 0 }
    }

    /// Records that everything made so far is verified.
    pub(crate) fn pass(&mut self) -> Verified {
        self.passed += 1;
        Verified { end: self.end, epoch: self.passed }
    }

    /// Wraps outputs that were made since the last check.
    pub(crate) fn wrap<T, S>(&self, value: T) -> Unverified<T, S> {
        Unverified { value, end: self.end, epoch: self.passed + 1, level: PhantomData }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Malicious;

    #[test]
    fn only_a_later_check_of_the_same_end_opens() {
        let (mut end, mut other) = (Epochs::new(), Epochs::new());
        let early = end.pass();
        assert!(matches!(end.wrap::<_, Malicious>(5).open(&early), Err(OtError::Unverified)));
        let made = end.wrap::<_, Malicious>(5);
        assert_eq!(made.open(&end.pass()).expect("it was checked"), 5);
        let made = end.wrap::<_, Malicious>(6);
        for _ in 0..5 {
            other.pass();
        }
        assert!(made.open(&other.pass()).is_err());
    }
}
