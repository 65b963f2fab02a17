//! Foreign or damaged files are read, or refused with the line; nothing else happens.

use crate::files;

use hushwire_testkit::mutated;

const GOOD: [&[u8]; 8] = [
    include_bytes!("../../../../examples/jobs/millionaires.toml"),
    include_bytes!("../../../../examples/jobs/aes.toml"),
    include_bytes!("../../../../examples/jobs/aes-yao.toml"),
    include_bytes!("../../../../examples/jobs/sums.toml"),
    include_bytes!("../../../../examples/jobs/party0.toml"),
    include_bytes!("../../../../examples/jobs/party1.toml"),
    include_bytes!("../../../../examples/jobs/alice.toml"),
    b"protocol = \"rep3\"\ncircuit = \"less:32\"\ninstances = 1000\n[[inputs]]\nname = \"a\"\nfrom = \"client:alice\"\n\
      [[inputs]]\nfrom = \"party1\"\n[[outputs]]\nto = [\"party1\", \"client:bob\"]\n[parameters]\nbatch = 256\n\
      threads = 3\nlanes = 4\n",
];

#[test]
fn files_of_any_bytes_are_read_or_refused_with_the_line() {
    mutated(2, &GOOD, 6000).for_each(|bytes| files::fed(&bytes));
    // Words of the files in any order. Flipped bits mostly end in TOML's own errors.
    let words: Vec<&str> = GOOD
        .iter()
        .flat_map(|file| std::str::from_utf8(file))
        .flat_map(|text| text.split_inclusive('\n'))
        .collect();
    let bytes: Vec<u8> = (0..words.len()).map(|i| i as u8).collect();
    for order in mutated(3, &[&bytes], 3000) {
        let text: String = order.iter().map(|b| words[usize::from(*b) % words.len()]).collect();
        files::fed(text.as_bytes());
    }
}
