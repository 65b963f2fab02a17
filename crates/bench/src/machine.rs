//! The machine on which a report was measured: its processor, memory, software and date. Facts that
//! cannot be found are `null`.

use std::{fs, path::Path, process::Command, thread};

use serde::{Deserialize, Serialize};

use crate::date;

/// The CPU features that the kernels can use, with their names in Linux.
const FEATURES: &str = "aes vaes gfni pclmulqdq vpclmulqdq ssse3 sse4_1 avx avx2 bmi2 avx512f avx512bw avx512dq avx512vl asimd pmull";

/// A machine and its software. Unknown facts are `null`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostMachine {
    /// The CPU's model.
    pub cpu: Option<String>,
    /// The CPU's vendor.
    pub vendor: Option<String>,
    /// The instruction set.
    pub arch: String,
    /// The logical cores of the machine.
    pub logical_cores: Option<u64>,
    /// The logical cores that this process may use.
    pub usable_cores: Option<u64>,
    /// Main memory.
    pub memory_bytes: Option<u64>,
    /// The operating system.
    pub os: String,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The CPU features that the kernels can use.
    pub features: Vec<String>,
    /// The compiler that built this program.
    pub rustc: Option<String>,
    /// Hushwire's version.
    pub hushwire: String,
    /// The commit of the source tree that contains the working directory, with `-dirty` if tracked
    /// files were changed.
    pub commit: Option<String>,
    /// The time at which the run began, in UTC.
    pub date: String,
}

impl HostMachine {
    /// Returns this machine, at the current time.
    #[must_use]
    pub fn this() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let mut machine = Self::from_cpuinfo(&read("/proc/cpuinfo"));
        machine.arch = std::env::consts::ARCH.to_owned();
        machine.usable_cores = thread::available_parallelism().ok().and_then(|n| u64::try_from(n.get()).ok());
        machine.memory_bytes = kib_field(&read("/proc/meminfo"), "MemTotal");
        machine.os = read("/etc/os-release")
            .lines()
            .find_map(|line| line.strip_prefix("PRETTY_NAME="))
            .map_or(std::env::consts::OS.to_owned(), |name| name.trim_matches('"').to_owned());
        let kernel = read("/proc/sys/kernel/osrelease").trim().to_owned();
        machine.kernel = Some(kernel).filter(|kernel| !kernel.is_empty());
        machine.rustc = option_env!("HUSHWIRE_RUSTC").map(str::to_owned);
        machine.hushwire = env!("CARGO_PKG_VERSION").to_owned();
        machine.commit = commit();
        machine.date = date::now();
        machine
    }

    fn from_cpuinfo(text: &str) -> Self {
        let fields = || text.lines().filter_map(|line| line.split_once(':'));
        let first = |name: &str| {
            let found = fields().find(|(key, _)| key.trim() == name);
            found.map(|(_, value)| value.trim().to_owned())
        };
        let cores = fields().filter(|(key, _)| key.trim() == "processor").count();
        let flags = first("flags").or_else(|| first("Features")).unwrap_or_default();
        let has = |feature: &&str| flags.split_whitespace().any(|flag| flag == *feature);
        Self {
            cpu: first("model name"),
            vendor: first("vendor_id").or_else(|| first("CPU implementer")),
            logical_cores: u64::try_from(cores).ok().filter(|cores| *cores > 0),
            features: FEATURES.split(' ').filter(has).map(str::to_owned).collect(),
            ..Self::default()
        }
    }

    /// Returns the machine in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let cpu = self.cpu.as_deref().unwrap_or(&self.arch);
        let mut parts = vec![cpu.to_owned()];
        let cores = self.usable_cores.or(self.logical_cores);
        parts.extend(cores.map(|cores| format!("{cores} logical cores")));
        parts.extend(self.memory_bytes.map(crate::human::memory));
        parts.extend([self.os.clone(), format!("hushwire {}", self.hushwire), self.date.clone()]);
        parts.retain(|part| !part.trim().is_empty());
        parts.join(", ")
    }
}

/// A field of `/proc/meminfo` or `/proc/self/status` in KiB.
pub(crate) fn kib_field(text: &str, name: &str) -> Option<u64> {
    let (_, value) = text.lines().filter_map(|line| line.split_once(':')).find(|f| f.0 == name)?;
    value.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// The checked-out commit, if this is Hushwire's source tree.
fn commit() -> Option<String> {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let ours = fs::read_to_string(Path::new(&top).join("crates/bench/Cargo.toml")).ok()?;
    if !ours.contains("name = \"hushwire-bench\"") {
        return None;
    }
    let commit = git(&["rev-parse", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { commit } else { commit + "-dirty" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpuinfo() {
        let text = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Some CPU @ 2 GHz\n\
                    flags\t\t: fpu aes vaes avx512f\n\nprocessor\t: 1\nflags\t\t: fpu aes\n";
        let machine = HostMachine::from_cpuinfo(text);
        assert_eq!(machine.cpu.as_deref(), Some("Some CPU @ 2 GHz"));
        assert_eq!(machine.vendor.as_deref(), Some("GenuineIntel"));
        assert_eq!(machine.logical_cores, Some(2));
        assert_eq!(machine.features, ["aes", "vaes", "avx512f"]);
        assert_eq!(HostMachine::from_cpuinfo(""), HostMachine::default());
    }

    #[test]
    fn kib_fields() {
        assert_eq!(kib_field("VmPeak:\t 9 kB\nVmHWM:\t  12 kB\n", "VmHWM"), Some(12 * 1024));
        assert_eq!(kib_field("VmPeak:\t 9 kB\n", "VmHWM"), None);
    }
}
