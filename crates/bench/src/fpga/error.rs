//! Errors of tools and files around the hardware, with their remedies.

use std::path::PathBuf;

/// The reason why the hardware cannot be simulated or synthesised. Each message ends with what can be done.
#[derive(Debug, thiserror::Error)]
pub(super) enum FpgaError {
    /// There are no sources.
    #[error(
        "the sources of the hardware (hdl/rtl) are neither in ./hdl nor beside this program; run it from the repository"
    )]
    Sources,
    /// A tool is not installed.
    #[error("{tool} is not installed, and {need}; run hdl/setup, which installs it or says how")]
    Tool {
        /// The tool's command.
        tool: &'static str,
        /// The purpose, as a clause.
        need: &'static str,
    },
    /// A program cannot be started.
    #[error("{program} cannot be started: {source}; run hdl/setup to have it built again")]
    Start {
        /// The program's name.
        program: String,
        /// The cause.
        source: std::io::Error,
    },
    /// A program failed.
    #[error("{program} failed: {cause}; if the tools are incomplete, hdl/setup puts them right")]
    Failed {
        /// The program's name.
        program: String,
        /// The end of what it said.
        cause: String,
    },
    /// A program said something that is not understood.
    #[error("{program} gave no usable figures: {problem}; run hdl/setup to have it built again")]
    Output {
        /// The program's name.
        program: String,
        /// The fault of its figures.
        problem: String,
    },
    /// A cell whose size is not known.
    #[error(
        "synthesis left cells of a kind whose size is not known, {cell}; hdl/setup names the yosys that was tried (0.23)"
    )]
    Cell {
        /// The cell's name.
        cell: String,
    },
    /// A file.
    #[error("{action} {}: {source}; free the place or choose another with HUSHWIRE_HDL", path.display())]
    File {
        /// The attempt, as a participle: "writing", for example.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The circuit's microcode.
    #[error("microcode of AES-128: {0}")]
    Microcode(String),
}
