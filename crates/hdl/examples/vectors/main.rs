//! Writes test vectors for the hardware party of `hdl/`, from runs of three software parties:
//! `cargo run -p hushwire-hdl --example vectors -- DIR` writes DIR/and_lane.json,
//! DIR/sequencer.json and the sequencer's microcode in the same directory. Every call writes the
//! same bytes.
//!
//! A number is 32 hexadecimal digits, the most significant first. It has 128 bits, and the wire
//! carries its 16 bytes in little-endian order. `own` and `next` are a party's two shares, `own`
//! and `prev` its two keys.

mod and_lane;
mod sequencer;
mod tap;

use hushwire_rep3::Rep3Party;
use std::{error::Error, fs, path::Path};

/// The number of bytes of a word.
const WORD: usize = 16;

/// The number that 16 bytes on the wire encode.
fn hex(word: &[u8]) -> String {
    let bytes = word.try_into().expect("a word has 16 bytes");
    format!("{:032x}", u128::from_le_bytes(bytes))
}

/// The numbers of consecutive words.
fn hex_words(bytes: &[u8]) -> Vec<String> {
    bytes.chunks_exact(WORD).map(hex).collect()
}

/// A party's AES keys: own and previous.
fn keys(party: &Rep3Party) -> [String; 2] {
    party.device_keys().map(|key| hex(&key))
}

fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args_os().nth(1).ok_or("usage: vectors DIR")?;
    let dir = Path::new(&dir);
    fs::create_dir_all(dir)?;
    fs::write(dir.join("and_lane.json"), and_lane::vectors()?.to_string())?;
    fs::write(dir.join("sequencer.json"), sequencer::vectors(dir)?.to_string())?;
    Ok(())
}
