//! Runs the real command in its own directory, and the real openssl for comparison.

use crate::schemas;
pub(crate) use hushwire_testkit::noise;
use hushwire_wire::Identity;
use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

/// The key of the tests that give a key.
pub(crate) const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";

/// A directory for one test, and a directory for the notes of commands about their outputs.
pub(crate) struct Place(tempfile::TempDir, tempfile::TempDir);

impl Drop for Place {
    /// Checks the reports that were written here against their schemas.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            schemas::see_files(self.0.path());
        }
    }
}

impl Place {
    /// Makes an empty directory.
    pub(crate) fn new() -> Self {
        let new = || tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        Self(new(), new())
    }

    /// Returns the path of a file or directory in it.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns whether a command took a note about an output with this in its path.
    pub(crate) fn noted(&self, path: &str) -> bool {
        let records = fs::read_dir(self.1.path().join("hushwire/outputs")).into_iter().flatten().flatten();
        records.filter_map(|entry| fs::read_to_string(entry.path()).ok()).any(|record| record.contains(path))
    }

    /// Writes a file.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.at(name), bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        // Keys must be readable by their owner only, as the command leaves them.
        if name.ends_with(".share") || name.ends_with(".pem") {
            let own = fs::Permissions::from_mode(0o600);
            fs::set_permissions(self.at(name), own).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }

    /// Writes a new key of this member. Returns its pin.
    pub(crate) fn put_key(&self, file: &str, member: &str) -> String {
        let identity = Identity::generate(member).unwrap_or_else(|e| panic!("{e}"));
        self.put(file, identity.to_pem().as_bytes());
        identity.pin().to_string()
    }

    /// Reads a file.
    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The names of all entries.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap_or_else(|e| panic!("{e}"));
        let mut names: Vec<_> =
            entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The permissions of an entry.
    pub(crate) fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.at(name)).unwrap_or_else(|e| panic!("{name}: {e}")).permissions().mode() & 0o777
    }

    /// Returns `hushwire local aes-ctr` with these arguments, in this directory.
    pub(crate) fn command(&self, args: &str) -> Command {
        self.hushwire(&format!("local aes-ctr {args}"))
    }

    /// Returns `hushwire` with these arguments, in this directory.
    pub(crate) fn hushwire(&self, args: &str) -> Command {
        let mut command = self.here(env!("CARGO_BIN_EXE_hushwire"));
        command.args(args.split_whitespace()).stdin(Stdio::null());
        command
    }

    /// Returns another program in this directory, which finds `hushwire` by its name.
    pub(crate) fn beside_hushwire(&self, program: &str) -> Command {
        let own = Path::new(env!("CARGO_BIN_EXE_hushwire")).parent().map(Path::to_owned);
        let others = std::env::var_os("PATH").unwrap_or_default();
        let paths = own.into_iter().chain(std::env::split_paths(&others));
        let mut command = self.here(program);
        command.env("PATH", std::env::join_paths(paths).unwrap_or_else(|e| panic!("{e}")));
        command
    }

    fn here(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.0.path());
        command.env_remove("HUSHWIRE_AES_BACKEND").env("XDG_STATE_HOME", self.1.path());
        command
    }

    /// Runs `hushwire` with these arguments and this standard input. Returns its exit code,
    /// standard output and standard error.
    pub(crate) fn through(&self, args: &str, input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
        let mut command = self.hushwire(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|e| panic!("{args}: {e}"));
        if let Some(mut stdin) = child.stdin.take() {
            // A command that does not read its input makes this write fail.
            let _ = stdin.write_all(input);
        }
        let ended = child.wait_with_output().unwrap_or_else(|e| panic!("{args}: {e}"));
        (ended.status.code(), ended.stdout, String::from_utf8_lossy(&ended.stderr).into_owned())
    }

    /// Starts `hushwire` with these arguments.
    pub(crate) fn start(&self, args: &str) -> Child {
        let mut command = self.hushwire(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap_or_else(|e| panic!("{e}"))
    }

    /// Runs `hushwire` with these arguments.
    pub(crate) fn ran(&self, args: &str) -> Ran {
        Ran::new(self.hushwire(args).output().unwrap_or_else(|e| panic!("{args}: {e}")))
    }

    /// Runs `hushwire local aes-ctr` with these arguments.
    pub(crate) fn run(&self, args: &str) -> Ran {
        Ran::new(self.command(args).output().unwrap_or_else(|e| panic!("{args}: {e}")))
    }

    /// Runs the command and expects success.
    pub(crate) fn good(&self, args: &str) -> Ran {
        self.run(args).good(args)
    }

    /// Runs the command and expects this exit code, and these words in the error.
    pub(crate) fn bad(&self, args: &str, code: i32, words: &[&str]) -> Ran {
        self.run(args).bad(args, code, words)
    }

    /// Returns the output of `openssl enc` for a file with AES in counter mode; `None` if openssl
    /// is missing.
    pub(crate) fn openssl(&self, name: &str, key: &str, iv: &str) -> Option<Vec<u8>> {
        let mut command = Command::new("openssl");
        let cipher = format!("-aes-{}-ctr", 4 * key.len());
        command.args(["enc", &cipher, "-K", key, "-iv", iv, "-in"]).arg(self.at(name));
        match command.output() {
            Ok(output) if output.status.success() => Some(output.stdout),
            Ok(output) => panic!("openssl: {}", String::from_utf8_lossy(&output.stderr)),
            Err(e) => {
                eprintln!("NOT COMPARED with openssl, which is not here: {e}");
                None
            }
        }
    }
}

/// The result of a command.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn new(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let ran = Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
        schemas::see(&ran.out);
        ran
    }

    /// Expects success of a command with these arguments.
    pub(crate) fn good(self, args: &str) -> Self {
        assert_eq!(self.code, Some(0), "{args}: {}", self.err);
        self
    }

    /// Expects this exit code, and these words in the error.
    pub(crate) fn bad(self, args: &str, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{args}: {}{}", self.out, self.err);
        for word in words {
            assert!(self.err.contains(word), "{args}: no {word:?} in: {}", self.err);
        }
        self
    }
}

/// Runs `hushwire` with these arguments, and expects success.
pub(crate) fn good(place: &Place, args: &str) -> Ran {
    place.ran(args).good(args)
}

/// Runs `hushwire` with these arguments, and expects these lines on standard output.
pub(crate) fn prints(place: &Place, args: &str, lines: &[&str]) -> Ran {
    let ran = good(place, args);
    assert_eq!(ran.out.lines().collect::<Vec<_>>(), lines, "{args}: {}", ran.err);
    ran
}

/// Runs `hushwire` with these arguments, and expects this exit code, and these words in the error.
pub(crate) fn bad(place: &Place, args: &str, code: i32, words: &[&str]) -> Ran {
    place.ran(args).bad(args, code, words)
}

/// Returns the running processes whose parent is `parent`.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let pids = fs::read_dir("/proc").unwrap_or_else(|e| panic!("{e}")).flatten();
    let pids = pids.filter_map(|e| e.file_name().to_str()?.parse().ok());
    pids.filter(|pid| parent_of(*pid) == Some(parent)).collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may contain any characters.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Returns the command line of a process, with its arguments joined by spaces. It is empty after
/// the process has ended.
pub(crate) fn cmdline(pid: u32) -> String {
    String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()).replace('\0', " ")
}

/// Returns whether a process still runs; a zombie does not.
pub(crate) fn runs(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists() && !cmdline(pid).is_empty()
}
