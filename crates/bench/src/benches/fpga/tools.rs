//! Finds the hardware's sources and simulators, and the programs for them.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::BoxError;

/// The variable that names the simulators' directory, in addition to the usual places.
const VARIABLE: &str = "HUSHWIRE_HDL";

/// The tools that make simulators and figures.
pub(super) const SIMULATION: [(&str, &str); 3] = [
    ("verilator", "cycles are counted by simulation"),
    ("g++", "simulators are compiled with it"),
    ("make", "simulators are built with it"),
];
pub(super) const SYNTHESIS: (&str, &str) = ("yosys", "area is counted by synthesis");

/// The two directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HdlPlaces {
    /// `hdl` of the repository.
    pub sources: PathBuf,
    /// The directory for built programs and results: `target/hdl`.
    pub out: PathBuf,
}

impl HdlPlaces {
    /// Finds both directories.
    pub(super) fn find() -> Result<Self, BoxError> {
        let beside = env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_owned));
        let variable = |name| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let current = env::current_dir().unwrap_or_default();
        Self::among(&current, beside.as_deref(), variable(VARIABLE), variable("CARGO_TARGET_DIR"))
    }

    /// `current` is the current directory, and `beside` that of the program.
    pub(super) fn among(
        current: &Path,
        beside: Option<&Path>,
        named: Option<PathBuf>,
        target: Option<PathBuf>,
    ) -> Result<Self, BoxError> {
        let here = current.join("hdl");
        let near = beside.map(|b| b.join("../../hdl"));
        let mut sources = [Some(here), near].into_iter().flatten();
        let sources = sources.find(|dir| dir.join("rtl/and_lane.sv").is_file()).ok_or(
            "the sources of the hardware (hdl/rtl) are neither in ./hdl nor beside this program; run it from the repository",
        )?;
        // An existing directory, or else the one where hdl/setup would put it.
        let first = current.join(target.unwrap_or_else(|| "target".into())).join("hdl");
        let built = beside.map(|b| b.join("../hdl"));
        let found = [Some(first.clone()), built].into_iter().flatten().find(|dir| dir.is_dir());
        Ok(Self { sources, out: named.map(|n| current.join(n)).or(found).unwrap_or(first) })
    }

    /// The program `name` for this many lanes.
    pub(super) fn program(&self, name: &str, lanes: u32) -> PathBuf {
        let dir = if lanes == 1 { self.out.clone() } else { self.out.join(format!("lanes-{lanes}")) };
        dir.join(name)
    }

    /// Builds a simulator with `script` of `hdl/sim`. It returns at once if the simulator is built.
    pub(super) fn build(&self, script: &str, name: &str, lanes: u32) -> Result<PathBuf, BoxError> {
        let program = self.program(name, lanes);
        // The script builds into a directory `hdl`. Any other directory was filled by other means.
        let target = self.out.parent().filter(|_| self.out.file_name().is_some_and(|n| n == "hdl"));
        let Some(target) = target.filter(|_| missing(&SIMULATION).is_none()) else {
            return match (program.is_file(), missing(&SIMULATION)) {
                (true, _) => Ok(program),
                (false, Some(error)) => Err(error),
                (false, None) => {
                    let problem = format!("it is not in {}", self.out.display());
                    Err(unusable(name, &problem))
                }
            };
        };
        let mut command = Command::new(self.sources.join("sim").join(script));
        command.arg(lanes.to_string()).env("CARGO_TARGET_DIR", target);
        output(command)?;
        Ok(program)
    }
}

/// The error of a program with invalid output.
pub(super) fn unusable(program: &str, problem: &str) -> BoxError {
    format!("{program} gave no usable figures: {problem}; run hdl/setup to have it built again").into()
}

/// The error of `action`, a participle such as "writing", for a file.
pub(super) fn on_file(action: &str, path: &Path) -> impl Fn(std::io::Error) -> BoxError + use<> {
    let what = format!("{action} {}", path.display());
    move |source| format!("{what}: {source}; free the place or choose another with HUSHWIRE_HDL").into()
}

/// The first of these tools that is not installed.
pub(super) fn missing(tools: &[(&'static str, &'static str)]) -> Option<BoxError> {
    let absent = tools.iter().find(|(tool, _)| !installed(tool, env::var_os("PATH").as_deref()));
    absent.map(|(tool, need)| {
        format!("{tool} is not installed, and {need}; run hdl/setup, which installs it or says how").into()
    })
}

/// Whether a directory of `path` has the command.
pub(super) fn installed(tool: &str, path: Option<&std::ffi::OsStr>) -> bool {
    path.is_some_and(|path| env::split_paths(path).any(|dir| dir.join(tool).is_file()))
}

/// The standard output of a program that succeeds, else an error with the end of its messages.
pub(super) fn output(mut command: Command) -> Result<String, BoxError> {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let program = program.to_string_lossy().into_owned();
    let ran = command.stdin(Stdio::null()).output();
    let ran =
        ran.map_err(|e| format!("{program} cannot be started: {e}; run hdl/setup to have it built again"))?;
    if ran.status.success() {
        return Ok(String::from_utf8_lossy(&ran.stdout).into_owned());
    }
    // Its last messages, on either stream.
    let said = String::from_utf8_lossy(if ran.stderr.is_empty() { &ran.stdout } else { &ran.stderr });
    let mut words: Vec<_> = said.lines().map(str::trim).filter(|l| !l.is_empty()).rev().take(3).collect();
    words.reverse();
    let clean: String = words.join(" / ").chars().filter(|c| !c.is_control()).take(400).collect();
    let cause = if clean.is_empty() { ran.status.to_string() } else { clean };
    Err(format!("{program} failed: {cause}; if the tools are incomplete, hdl/setup puts them right").into())
}
