//! The readable form, `.hwc`: one statement a line.
//!
//! ```text
//! computation bill                        # a comment runs to the end of the line
//! members shop, client
//! symbols n                               # lengths that are bound before a run
//!
//! input price: u64[n] from shop           # or: public, secret
//! input amount: u64[n] in 0..1000 from client      # a promise: at least 0, below 1000
//!
//! paid = sum(price * amount)
//! output total = paid to client      # or: to client, shop
//!                                    # `output paid to client` for a value's own name
//! ```
//!
//! The signs between values are, weakest first, `|`, `^`, `&`, `== != < <= > >=`, `<< >>`, `+ -`,
//! `* / %`, then `-x` and `!x`. A bare number has the type of its neighbour; `const(u64, 3)` and
//! `const(u64[2], [1, 2])` give it explicitly. `docs/reference/operations.md` lists all calls and
//! what they compute, among them:
//!
//! ```text
//! abs(x) min(x, y) max(x, y) select(c, x, y) cast(x, i32) rescale(x, 16)
//! reveal(x) reveal(x, to=client) wrapping(x)
//! sum(x) min_of(x) max_of(x) all(c) any(c) count(c) mean(x) argmin(x) argmax(x) prefix_sum(x)
//!                                                                      axis=1 where it is not 0
//! matmul(x, y) broadcast(x, [n]) reshape(x, [2, n]) transpose(x, [1, 0])
//! slice(x, 0..5) concat(x, y) gather(x, places) order(key, desc key) permute(x, p) invert(p)
//! compact(flags, x, rows=10) meet(key, key, first=10)
//! scan_sum(starts, x) scan_min(starts, x) scan_max(starts, x) copy_down(starts, x)
//! conv2d(x, kernels, stride=[1, 1], pad=[0, 0, 0, 0], groups=1)            these are the defaults
//! pool_max(x, [2, 2], stride=[1, 1], pad=[0, 0, 0, 0])                     these are the defaults
//! pool_min(…) pool_sum(…) pool_mean(…) part(s, 0..8) join(s, t) circuit(name, s, t)
//! ```
//!
//! Derived forms, which expand to several of these; `key` may be several keys:
//!
//! ```text
//! clamp(x, 0, 9) variance(x) median(x) histogram(x, edges) top_k(x, rows=3)
//! shift_left(x, y) shift_right(x, y)
//! multiply(x, y) divide(x, y) reciprocal(x) sqrt(x) exp(x) log(x) sigmoid(x) tanh(x) softmax(x)
//! log_softmax(x) log_sum_exp(x) erf(x) gelu(x) softplus(x) sin(x) cos(x)
//! round(x) round_even(x) floor(x) ceil(x) truncate(x) sign(x)
//!                                                 for fixed numbers, with documented errors
//! group_end(key) group_count(key) group_last(x, key) group_sum(x, key) group_min(x, key)
//! group_max(x, key) group_mean(x, key)
//! ```
//!
//! Rows of `group_*` come in ascending order of the keys, whatever order the keys had. The last row
//! of each group has its value, the other rows have 0. They line up with each other, but not with
//! columns in another order; `group_last(key, key)` gives the keys:
//!
//! ```text
//! k                    3  1  3  2
//! x                   30 10 31 20
//! group_last(k, k)     1  2  0  3
//! group_sum(x, k)     10 20  0 61
//! group_count(k)       1  1  0  2
//! ```
//!
//! `median` of no rows, `top_k` of too few rows, and falling edges of `histogram` are refused.
//!
//! A circuit is written as a Bristol Fashion file: `circuit name [`, its lines, `]`.
//!
//! The formatter writes the canonical text: values in the order in which they are computed; a value
//! without a name and with one reader is written in its reader's expression. Reading the text gives
//! the same computation.

pub(crate) mod arguments;
mod format;
mod lex;
pub(crate) mod literal;
mod lower;
pub(crate) mod parse;
pub(crate) mod print;

use crate::{Computation, ComputeError};
use core::fmt;
pub(crate) use format::promise;

impl core::str::FromStr for Computation {
    type Err = ComputeError;

    /// Reads the text form.
    ///
    /// # Errors
    /// A text that cannot be read, or a computation that the checker refuses, with line and column.
    fn from_str(text: &str) -> Result<Self, ComputeError> {
        lower::computation(text)
    }
}

impl fmt::Display for Computation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format::text(self))
    }
}
