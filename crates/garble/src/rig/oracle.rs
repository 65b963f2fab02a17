//! AES-128 of another crate, with which tests compare our kernels' hashes.

use aes::{
    Aes128,
    cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit},
};
use hushwire_block::Block;

/// AES_key(x).
pub(crate) fn aes(key: Block, x: Block) -> Block {
    let mut block = x.0.into();
    Aes128::new(&key.0.into()).encrypt_block(&mut block);
    Block(block.into())
}

/// AES_key⁻¹(y).
pub(crate) fn aes_inverse(key: Block, y: Block) -> Block {
    let mut block = y.0.into();
    Aes128::new(&key.0.into()).decrypt_block(&mut block);
    Block(block.into())
}
