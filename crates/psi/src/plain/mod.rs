//! Plain private set intersection: the receiver learns which items both parties have, and nothing
//! else about the sender's set.
//!
//! **Functionality.** Receiver and sender bring sets of items as digests ([`Digester`]) → the
//! indices of the receiver's items that the sender has too ([`Receiver::finish`]). If both learn,
//! the sender gets the indices of its own items ([`Sender::finish`]). Repeated items count once in
//! the protocol, and the result has all their indices. If agreed, the sender brings a payload for
//! each item ([`Sender::with_payloads`]), and the receiver learns the payloads of common items
//! ([`Receiver::open`]).
//!
//! **Paper.** Raghuraman and Rindal, "Blazing Fast PSI from Improved OKVS and Subfield VOLE"
//! (ePrint 2022/320), Fig. 4: an oblivious PRF from a store (`okvs`) and subfield VOLE
//! ([`hushwire_ot::vole`]).
//!
//! ```text
//! both      sid from both parties' fresh bytes, after the sets are fixed; d(x) = BLAKE3 under it
//! VOLE      S: Δ, q    R: u, t = q + uΔ, one entry for each entry of the store
//! R ──► S   A' = u + P, bin by bin; P is the store of d(x) → h(x)   S: q' = q + A'Δ = t + PΔ
//! S ──► R   f(y) = H(Decode(q', y) + h(y)Δ), all in order of size
//! R         x is common iff H(Decode(t, x)) is among them
//! S ──► R   with payloads: each is sealed under a key from its item's PRF,
//!           in the same order
//! R ──► S   if both learn: a bit for each of S's values
//!
//! malicious: S ──► R a commitment to w_S first; R ──► S w_R, S ──► R w_S between A' and the
//!            values; at the end both send a digest
//! ```
//!
//! **Deviations.** Values are sent as lists in the code of Elias and Fano, not of Rice. The number
//! of bits is the same up to half a bit, and the length depends on nothing but sizes. There is one
//! list, since a list per bin would reveal the number of items of a bin. A store without a solution
//! (probability below 2^−40) ends the run: a new run has a new sid.
//!
//! **Security.** Semi-honest, one corrupted party. R's message is masked by u, about which S knows
//! nothing. For an item y that R does not have, Decode(q', y) + h(y)Δ = Decode(t, y) + (Decode(P,
//! y) + h(y))Δ. Except with probability |Y| · 2^−64 the factor of Δ is not zero, and H is
//! correlation robust for it: fixed-key AES with σ, a public key for each bin. T calls of AES find
//! Δ with probability T · n / 2^127, where n is the number of the sender's items in a bin. If the
//! sender has more than 2^24 items, B is GF(2^128), and h(x) is 128 bits of BLAKE3 of the digest.
//! Values are cut to 40 + ⌈log |X|⌉ + ⌈log |Y|⌉ bits: the probability that R wrongly takes any
//! value for common is 2^−40. VOLE rests on Ferret's assumptions.
//!
//! Malicious (Rindal and Schoppmann, "VOLE-PSI", EUROCRYPT 2021, Fig. 5): B = F = GF(2^128); h(x)
//! is 128 bits of BLAKE3 of the digest. Before the VOLE, S commits to a mask w_S; after A', R sends
//! w_R and S opens. f(y) = BLAKE3(Decode + h(y)Δ + w_R + w_S ‖ d(y)), 128 bits, a random oracle.
//! The masks keep S from fixing values before it knows A'. The VOLE's OTs are checked. A corrupted
//! R may bring as many items as the store has entries: n_R if these are below 192, and up to 1.3
//! n_R otherwise; P need not come from n_R items. [`tries`] has the numbers, and a bound without
//! assumptions. A corrupted S may send values of no item. If both learn, R proves each of S's items
//! with 64 more bits of BLAKE3, which only a party with the item knows: it may leave out items, not
//! add them. At the end both compare digests of all messages after the VOLE.
//!
//! **Payloads** ([`payload`](Payloads)). The same oblivious PRF gives a second value, under another
//! hash of the same input: the key of the item's payload. This is this project's own design, like
//! the proof by 64 bits above. Value and key are both outputs of random oracles (semi-honest: of a
//! correlation robust hash and a random oracle) on an input that contains Δ as long as R does not
//! have the item. A corrupted R opens the payloads of as many items as it may bring. A corrupted S
//! may send any payloads, and damaged ones for items of its choice. R counts these after all
//! messages ([`Opened::damaged`]). S does not learn the count, since it would learn whether R has
//! those items.
//!
//! Both learn both sizes. A party that has fewer different items than its size is not detected.
//!
//! **Notation.** x, X, n_R: receiver's; y, Y, n_S: sender's; B, F: fields of the VOLE; P, A', u:
//! elements of B; q, t, Δ: of F.
//!
//! **Rounds and bytes** in addition to the set-up of OTs ([`cost`]): those of the VOLE, and
//! - from R a message per bin, with 8 bytes per entry and about 1.25 entries per item (1.06 for a
//!   [band store](crate::Store::Band); one for fewer than 192 items, and up to 1.3 for few);
//! - from S (2 + r) bits per item, in messages of 2^16 items, r = 40 + ⌈log n_R⌉ (+ 1);
//! - from S the payloads, with 8 bytes more for each, in messages of 2^20 bytes;
//! - from R one bit for each of S's items, if both learn.
//!
//! In the malicious mode: 16 bytes per entry, 130 − log n_S bits per item, 8 bytes for each of S's
//! items if both learn, and 144 more bytes.
//!
//! **Time.** Some work does not depend on the number of items: base OTs, rows of SoftSpoken, and
//! the OTs of 2338 packed entries, from which a VOLE of any size grows ([`hushwire_ot::vole`]). It
//! takes as long as ten thousand items, so the rate is constant from about 2^16 items on
//! (docs/measurements has the parts).
//!
//! **Constant time.** Products and hashes take constant time. Memory is read at places that depend
//! on digests, and the time of sorts depends on values. Digests and values are hashes under keys of
//! this session. An observer of the caches of a party's machine learns about its items.

mod close;
mod digest;
mod hash;
mod list;
mod payload;
#[cfg(test)]
mod payload_tests;
mod receiver;
mod sender;
mod sizes;
#[cfg(test)]
mod tests;
mod tried;

pub use digest::{Digester, ItemDigest};
pub use payload::{Opened, Payloads};
pub use receiver::Receiver;
pub use sender::Sender;
pub use sizes::{MOST_ITEMS, Parameters, cost};
pub use tried::{LOG_HASHED, Tries, tries};
