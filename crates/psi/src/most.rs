//! Limits on the size of a party's set.

use crate::PsiError;
use core::fmt;

/// AGREEMENT: the default limit on a party's keys.
const FREE: u64 = 1 << 20;
/// AGREEMENT: the default limit as a multiple of the other party's keys, if that is larger.
const TIMES: u64 = 4;

/// The largest number of different keys that each of two parties may bring. `None` means 2^20 or
/// four times the other party's number, whichever is larger. AGREEMENT.
///
/// Each party reports its size and could report any number. A party learns for every key of its set
/// whether the other party has it, so this limit bounds the dictionary that it can try in a run.
/// The limit also bounds the memory that the other party reserves, since it is checked first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Most(pub [Option<u64>; 2]);

impl Most {
    /// The largest number of keys of the party `place`, unless the other party has enough keys to
    /// allow more.
    #[must_use]
    pub fn alone(self, place: usize) -> u64 {
        self.0[place].unwrap_or(FREE)
    }

    /// Checks both parties' reported sizes; `me` is this party's place.
    ///
    /// # Errors
    /// If a set has more keys than allowed.
    pub fn check(self, sizes: [usize; 2], me: usize) -> Result<(), PsiError> {
        let sizes = sizes.map(|size| size as u64);
        for (i, agreed) in self.0.into_iter().enumerate() {
            let [count, other] = [sizes[i], sizes[1 - i]];
            let most = agreed.unwrap_or(FREE.max(other.saturating_mul(TIMES)));
            if count > most {
                return Err(PsiError::TooMany { own: i == me, count, other, most, agreed: agreed.is_some() });
            }
        }
        Ok(())
    }
}

/// The text that both parties agree on: `1000 and 1048576 or 4 times the other's`.
impl fmt::Display for Most {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |most: Option<u64>| {
            most.map_or(format!("{FREE} or {TIMES} times the other's"), |most| most.to_string())
        };
        let [a, b] = self.0;
        write!(f, "{} and {}", one(a), one(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_as_large_as_agreed() {
        let free = Most::default();
        for (most, sizes, whose) in [
            (free, [20, 1 << 20], None),
            (free, [20, (1 << 20) + 1], Some(1)),
            (free, [1 << 28, 1 << 26], None),
            (free, [(1 << 28) + 1, 1 << 26], Some(0)),
            (free, [usize::MAX, 0], Some(0)),
            (Most([Some(30), None]), [30, 1 << 20], None),
            (Most([Some(30), None]), [31, 20], Some(0)),
            (Most([None, Some(1 << 28)]), [20, 1 << 28], None),
        ] {
            for me in [0, 1] {
                let found = match most.check(sizes, me) {
                    Ok(()) => None,
                    Err(PsiError::TooMany { own: true, .. }) => Some(me),
                    Err(PsiError::TooMany { own: false, .. }) => Some(1 - me),
                    Err(e) => panic!("{e}"),
                };
                assert_eq!(found, whose, "{most} of {sizes:?}");
            }
        }
    }

    #[test]
    fn both_numbers_and_the_remedy_are_named() {
        let text = |most: Most| most.check([5_000_000, 20], 1).expect_err("too many").to_string();
        let free = text(Most::default());
        assert!(
            free.starts_with("the peer has 5000000 different keys and this party 20, and where nothing is agreed on it may have 1048576,"),
            "{free}"
        );
        assert!(
            free.ends_with("; agree on `most-items` (--most-items) if a set is meant to be so large"),
            "{free}"
        );
        let agreed = text(Most([Some(1000), None]));
        assert!(agreed.contains("this party 20, and 1000 are agreed on for it at most; "), "{agreed}");
    }
}
