//! A job among processes on loopback, with files from `hushwire local files`.

use crate::common::Place;
use hushwire_testkit::Port;
use std::{
    fs::{self, File},
    process::{Child, Command, ExitStatus, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// All members of [`sums`].
pub(crate) const ALL: [&str; 5] = ["party0", "party1", "party2", "alice", "bob"];
/// The time for which a test waits if no other limit applies.
const LONG: Duration = Duration::from_secs(120);

/// Returns a job with a party without values, one that brings a value, one that learns a value, and
/// a client of each kind.
pub(crate) fn sums(circuit: &str, instances: usize) -> String {
    format!(
        "protocol = \"rep3\"\ncircuit = \"{circuit}\"\ninstances = {instances}\n\
         [[inputs]]\nname = \"a\"\nfrom = \"client:alice\"\nsample = \"00000007\"\n\
         [[inputs]]\nname = \"b\"\nfrom = \"party1\"\nsample = \"00000008\"\n\
         [[outputs]]\nname = \"sum\"\nto = [\"party2\", \"client:bob\"]\n"
    )
}

/// Returns a member's name in messages.
pub(crate) fn title(name: &str) -> String {
    name.strip_prefix("party").map_or_else(|| format!("client {name}"), |index| format!("party {index}"))
}

/// The files of all members.
pub(crate) struct Rehearsal {
    pub(crate) place: Place,
    pub(crate) port: u16,
    _ports: [Port; 3],
}

impl Rehearsal {
    /// Writes `job`, and the files with which all members run it.
    pub(crate) fn new(job: &str) -> Self {
        Self::within(Place::new(), job)
    }

    /// Like [`Rehearsal::new`], in a place that already has the files that the job names.
    pub(crate) fn within(place: Place, job: &str) -> Self {
        let ports = Port::row();
        let port = ports[0].number();
        place.put("job.toml", job.as_bytes());
        let ran = place.ran(&format!("local files job.toml --dir r --port {port}"));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        Self { place, port, _ports: ports }
    }

    /// Makes a directory `r` without files, and reserves ports.
    pub(crate) fn bare() -> Self {
        let (place, ports) = (Place::new(), Port::row());
        fs::create_dir(place.at("r")).unwrap_or_else(|e| panic!("{e}"));
        Self { place, port: ports[0].number(), _ports: ports }
    }

    /// Changes an existing file; its permissions stay.
    pub(crate) fn edit(&self, file: &str, change: impl Fn(&str) -> String) {
        let old = String::from_utf8(self.place.get(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        let new = change(&old);
        assert_ne!(old, new, "{file} is as before");
        self.place.put(file, new.as_bytes());
    }

    /// Adds a line to a member's file, before its tables.
    pub(crate) fn set(&self, name: &str, line: &str) {
        self.edit(&format!("r/{name}.toml"), |text| format!("{line}\n{text}"));
    }

    /// Names a file for the output of a recipient.
    pub(crate) fn keep(&self, name: &str, output: &str) {
        let table = format!("\n[outputs]\n{output} = {{ file = \"{name}.out\" }}\n");
        self.edit(&format!("r/{name}.toml"), |text| text.to_owned() + &table);
    }

    /// Returns the output in the file of [`Rehearsal::keep`].
    pub(crate) fn kept(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.place.at(&format!("r/{name}.out"))).ok()
    }

    /// Returns the files that members have left besides their own.
    pub(crate) fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.place.at("r")).unwrap_or_else(|e| panic!("{e}")).flatten();
        let names = entries.map(|e| e.file_name().to_string_lossy().into_owned());
        let expected = |name: &String| [".toml", ".pem", ".bin"].iter().any(|end| name.ends_with(end));
        names.filter(|name| !expected(name)).collect()
    }

    /// Returns the command line of a member.
    pub(crate) fn line(name: &str) -> String {
        let command = if name.starts_with("party") { "party" } else { "client" };
        format!("{command} job.toml --config r/{name}.toml")
    }

    pub(crate) fn start(&self, name: &'static str) -> Running {
        self.spawn(name, self.place.hushwire(&Self::line(name)))
    }

    pub(crate) fn start_all(&self, names: &[&'static str]) -> Vec<Running> {
        names.iter().map(|name| self.start(name)).collect()
    }

    /// Runs `command` as a member. Its output goes to files, which can be read during the run.
    pub(crate) fn spawn(&self, name: &'static str, command: Command) -> Running {
        let stdout = self.log(name, "stdout");
        self.spawn_to(name, command, stdout.into())
    }

    /// Like [`Rehearsal::spawn`], with another standard output.
    pub(crate) fn spawn_to(&self, name: &'static str, mut command: Command, stdout: Stdio) -> Running {
        command.stdin(Stdio::null()).stdout(stdout).stderr(self.log(name, "stderr"));
        Running { name, child: command.spawn().unwrap_or_else(|e| panic!("{name}: {e}")) }
    }

    fn log(&self, name: &str, what: &str) -> File {
        let path = self.place.at(&format!("{name}.{what}"));
        File::create(path).unwrap_or_else(|e| panic!("{name}.{what}: {e}"))
    }

    /// Returns the stderr of a member so far.
    pub(crate) fn said(&self, name: &str) -> String {
        String::from_utf8_lossy(&self.place.get(&format!("{name}.stderr"))).into_owned()
    }

    /// Waits until each of these members has written some text.
    pub(crate) fn until_said(&self, names: &[&str], words: &str) {
        self.until_any_said(names, &[words]);
    }

    /// Waits until each member has written one of several texts.
    pub(crate) fn until_any_said(&self, names: &[&str], words: &[&str]) {
        let begun = Instant::now();
        let says = |name: &str| words.iter().any(|words| self.said(name).contains(words));
        while let Some(name) = names.iter().find(|name| !says(name)) {
            assert!(begun.elapsed() < LONG, "{name} does not say {words:?}, but: {}", self.said(name));
            sleep(Duration::from_millis(10));
        }
    }

    /// Waits for members to end, for at most `within` after `since`. Returns their ends in the
    /// given order.
    pub(crate) fn end_within(
        &self,
        mut running: Vec<Running>,
        since: Instant,
        within: Duration,
    ) -> Vec<Ended> {
        let names: Vec<_> = running.iter().map(|member| member.name).collect();
        let mut ended: Vec<Ended> = vec![];
        loop {
            running.retain_mut(|member| match member.child.try_wait() {
                Ok(Some(status)) => {
                    ended.push(self.ended(member.name, status));
                    false
                }
                Ok(None) => true,
                Err(e) => panic!("{}: {e}", member.name),
            });
            let Some(slow) = running.first() else {
                ended.sort_by_key(|member| names.iter().position(|name| *name == member.name));
                return ended;
            };
            assert!(
                since.elapsed() < within,
                "{} and {} more still run after {within:?}; it says: {}; the others: {ended:?}",
                slow.name,
                running.len() - 1,
                self.said(slow.name)
            );
            sleep(Duration::from_millis(10));
        }
    }

    /// Waits for members to end.
    pub(crate) fn end(&self, running: Vec<Running>) -> Vec<Ended> {
        self.end_within(running, Instant::now(), LONG)
    }

    fn ended(&self, name: &'static str, status: ExitStatus) -> Ended {
        // The file is missing if standard output went elsewhere.
        let out = fs::read(self.place.at(&format!("{name}.stdout"))).unwrap_or_default();
        let out = String::from_utf8_lossy(&out).into_owned();
        Ended { name, code: status.code(), out, err: self.said(name) }
    }
}

/// A running member, which does not outlive the test.
pub(crate) struct Running {
    pub(crate) name: &'static str,
    child: Child,
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.pid().to_string()]).status();
        assert!(status.is_ok_and(|status| status.success()), "{signal} to {}", self.name);
    }

    /// Returns whether the member still runs.
    pub(crate) fn lives(&mut self) -> bool {
        self.child.try_wait().unwrap_or_else(|e| panic!("{}: {e}", self.name)).is_none()
    }

    /// Kills the member with `kill -9`. Returns its exit status if it had ended before.
    pub(crate) fn kill(mut self) -> Option<ExitStatus> {
        let killed = self.child.kill().and_then(|()| self.child.wait());
        let status = killed.unwrap_or_else(|e| panic!("{}: {e}", self.name));
        status.code().map(|_| status)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// The end of a member.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) name: &'static str,
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    /// Checks that the member succeeded.
    pub(crate) fn good(&self) {
        assert_eq!(self.code, Some(0), "{}: {}", self.name, self.err);
    }

    /// Checks that the member failed because of another one, and names it.
    pub(crate) fn blames(&self, culprit: &str) {
        assert_eq!(self.code, Some(3), "{}: {}", self.name, self.err);
        let error = self.error();
        // The name must not only be that of the member from which the failure was heard.
        let blamed = [format!(": {} ", title(culprit)), format!(": {}: ", title(culprit))];
        assert!(blamed.iter().any(|words| error.contains(words)), "{}: {error}", self.name);
        assert!(self.out.is_empty(), "{}: {}", self.name, self.out);
    }

    /// Returns the one line with the error.
    pub(crate) fn error(&self) -> &str {
        let mut errors = self.err.lines().filter(|line| line.starts_with("error: "));
        match (errors.next(), errors.next()) {
            (Some(one), None) => one,
            _ => panic!("{}: not one error, but: {}", self.name, self.err),
        }
    }
}
