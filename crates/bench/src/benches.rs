//! The benchmarks. Each is one file or folder, and one line of the table.

/// Declares the files of benchmarks, and their table.
macro_rules! benches {
    ($($file:ident)*) => {
        $(mod $file;)*
        /// All benchmarks, in the order of the help. A file has one benchmark, or several that
        /// share its rows.
        pub static BENCHES: &[&[crate::Bench]] = &[$($file::BENCHES),*];
    };
}

pub use service::{RECEIVES, receive};

benches! {
    aes
    prg
    aes3
    rep3
    compute
    ot
    garble
    table8
    yao
    authgarble
    psi
    infer
    tables
    tpch
    service
    fpga
}
