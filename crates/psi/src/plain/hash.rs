//! The hash that ends the oblivious PRF.

use hushwire_aes::Aes128;
use hushwire_block::Block;
use hushwire_ot::Context;

/// H under the public key of each bin.
pub(super) struct OutputHash {
    context: Context,
}

impl OutputHash {
    pub(super) fn new(context: &Context) -> Self {
        OutputHash { context: context.child("psi output", 0) }
    }

    /// `out[i]` = H(`x[i]`), all of one bin: fixed-key AES with σ under the bin's key.
    pub(super) fn bin(&self, bin: usize, x: &[Block], out: &mut [Block]) {
        let name = self.context.sid.child("bin", bin as u64);
        let key = Aes128::on(self.context.backend, name.0.first_chunk().expect("32 bytes hold 16"));
        self.context.backend.ccr(&key, x, out);
    }
}
