//! Plain private set intersection: the receiver learns which items both have, and nothing else of the sender's.
//!
//! **Functionality.** Receiver and sender bring sets of items as digests ([`Digester`]) → the numbers of the receiver's items
//! that the sender has too ([`Receiver::finish`]); where both learn, the sender gets the numbers of its own
//! ([`Sender::finish`]). Items that come twice count once in the protocol and are given with both numbers. Where it is agreed, the sender
//! brings a payload with each item ([`Sender::with_payloads`]), and the receiver learns those of the common ones ([`Receiver::open`]).
//!
//! **Paper.** Raghuraman and Rindal, "Blazing Fast PSI from Improved OKVS and Subfield VOLE" (ePrint 2022/320), Fig. 4: an
//! oblivious PRF from a store (`okvs`) and subfield VOLE ([`hushwire_ot::vole`]).
//!
//! ```text
//! both      sid from both parties' fresh bytes, after the sets are fixed; d(x) = BLAKE3 keyed by it
//! VOLE      S: Δ, q    R: u, t = q + uΔ, one entry for each of the store
//! R ──► S   A' = u + P, bin by bin; P is the store of d(x) → h(x)   S: q' = q + A'Δ = t + PΔ
//! S ──► R   f(y) = H(Decode(q', y) + h(y)Δ), all in order of size
//! R         x is common iff H(Decode(t, x)) is among them
//! S ──► R   where payloads go with items: each sealed under a key that comes from its item's PRF,
//!           in the same order
//! R ──► S   where both learn: a bit for each of S's values
//!
//! malicious: S ──► R a commitment to w_S first; R ──► S w_R, S ──► R w_S between A' and the values;
//!            at last both a digest
//! ```
//!
//! **Deviations.** Values are sent as Elias and Fano code sorted lists, not as Rice does: the same bits but for half of one, and
//! a length that depends on nothing but sizes. There is one list, for a list a bin would tell how many items a bin has.
//! A store that has no solution (below 2^−40) ends the run: a new one has a new sid.
//!
//! **Security.** Semi-honest, one corrupted party. R's message is masked by u, which S knows nothing of. For an item y that R
//! has not, Decode(q', y) + h(y)Δ = Decode(t, y) + (Decode(P, y) + h(y))Δ; but for a chance of |Y| · 2^−64 the factor of Δ is
//! not zero, and H is correlation robust for it: fixed-key AES with σ, a public key for each bin. T calls of AES find Δ with
//! probability T · n / 2^127, n being the sender's items of a bin. Above 2^24 items of the sender B is GF(2^128), and h(x) 128 bits of BLAKE3 of the digest. Values are cut to 40 + ⌈log |X|⌉ + ⌈log |Y|⌉
//! bits: one that R takes for common wrongly has probability 2^−40 over all. VOLE rests on Ferret's assumptions.
//!
//! Malicious (Rindal and Schoppmann, "VOLE-PSI", EUROCRYPT 2021, Fig. 5): B = F = GF(2^128); h(x) is 128 bits of BLAKE3 of the
//! digest; before the VOLE S commits to a mask w_S, after A' R says w_R and S opens; f(y) = BLAKE3(Decode + h(y)Δ + w_R + w_S ‖
//! d(y)), 128 bits, a random oracle. The masks keep S from fixing values before it knows A'. The VOLE's OTs are checked. A
//! corrupt R may bring as many items as the store has entries: n_R where these are below 192, and up to 1.3 n_R otherwise; P needs not come from n_R items. [`tries`] has the numbers, and a
//! bound without assumptions. A corrupt S
//! may send values of no item. Where both learn, R proves each of S's items with 64 more bits of BLAKE3, which only who has the
//! item knows: it may leave out, not add. At the end both compare digests of all that was said after the VOLE.
//!
//! **Payloads** ([`payload`](Payloads)). The same oblivious PRF gives a second value, under another hash of the same input: the key of the
//! item's payload. It is of this project, as is the proof by the one above: value and key are both random oracles' (semi-honest: a correlation robust hash's and a
//! random oracle's) on an input that holds Δ as long as R has not the item. A corrupt R opens the payloads of as many items as it may
//! bring; a corrupt S may send any, and damaged ones for items of its choice: R counts these when all is said ([`Opened::damaged`]), and S
//! does not learn of it, or it would learn whether R has those items.
//!
//! Both learn both sizes; whoever has fewer different items than the size says is not found out.
//!
//! **Notation.** x, X, n_R: receiver's; y, Y, n_S: sender's; B, F: fields of the VOLE; P, A', u: elements of B; q, t, Δ: of F.
//!
//! **Rounds and bytes** beside the set-up of OTs ([`cost`]): the VOLE's; payloads and 8 bytes with each, in messages of 2^20 bytes; a message a bin from R, 8 bytes an entry and about
//! 1.25 entries an item (one where there are fewer than 192, up to 1.3 where there are few), of a [band store](crate::Store::Band) 1.06; from S (2 + r) bits an item in messages of 2^16 items, r = 40 + ⌈log n_R⌉ (+ 1); one bit for each of
//! S's items where both learn. Malicious: 16 bytes an entry, 130 − log n_S bits an item, 8 bytes for each of S's items where
//! both learn, 144 bytes more.
//!
//! **Time.** Work that no number of items changes: base OTs, rows of SoftSpoken, and the OTs of 2338 packed entries, from which a VOLE of any size grows
//! ([`hushwire_ot::vole`]): as much as ten thousand items take. So the rate is flat from some 2^16 items on (docs/benchmarks.md has the parts).
//!
//! **Constant time.** Products and hashes are. Memory is read at places that depend on digests, and sorts take the time that
//! values make them take; digests and values are hashes under keys of this session. Whoever watches the caches of a
//! party's machine learns about its items.

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
