//! The files and command lines of a cell.

use crate::{
    common::{children, cmdline, noise},
    fault_table::cell::{Cell, Fault, Protocol, SUPERVISOR},
    rehearsal::{Rehearsal, Running},
};
use hushwire_wire::Identity;
use std::{
    fmt::Write as _,
    fs::File,
    process::{Command, Stdio},
    time::Duration,
};

/// The time for which all members wait for missing ones, if a member will be missing.
pub(crate) const JOIN: Duration = Duration::from_secs(8);
/// Like [`JOIN`], if the last member comes later than the others.
pub(crate) const LATE: Duration = Duration::from_secs(15);
/// A disk of 64 KiB without a free block. Only one process sees it, and it vanishes with the
/// process. The files on it at the end are listed in `r/full.left`.
const FULL: &str = "mount -t tmpfs -o size=64k tmpfs r/full || exit 99; cat /dev/zero > r/full/fill 2>/dev/null; \
                    \"$@\"; code=$?; ls r/full > r/full.left; exit $code";

/// Returns a command that runs the rest of its line with mounts of its own.
fn with_mounts() -> Command {
    let mut command = Command::new("unshare");
    command.arg(if rustix::process::geteuid().is_root() { "-m" } else { "-rm" });
    command
}

/// Returns whether this host allows a test to mount a disk.
pub(crate) fn can_fill_a_disk() -> bool {
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let mut mount = with_mounts();
    mount.args(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(dir.path());
    mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The amount of work.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    /// One value.
    Moment,
    /// About a second.
    Short,
    /// Longer than any cell takes.
    Endless,
}

/// The files of a cell.
pub(crate) struct World {
    pub(crate) files: Rehearsal,
    pub(crate) cell: Cell,
    /// The pins of the sender and the receiver.
    pins: [String; 2],
}

impl World {
    /// Writes the files for `times` the usual work.
    pub(crate) fn new(cell: Cell, times: usize) -> Self {
        let work = match cell.fault {
            // A stop of the supervisor has no effect on the parties, so the run goes on.
            Fault::Freeze(_) if cell.protocol == Protocol::LocalPsi && cell.member == SUPERVISOR => {
                Work::Short
            }
            Fault::Kill | Fault::Freeze(_) => Work::Endless,
            Fault::Pause => Work::Short,
            _ => Work::Moment,
        };
        let count = cell.protocol.count(work) * times;
        let files = match cell.protocol {
            Protocol::Rep3 | Protocol::Yao | Protocol::Gmw => circuit(&cell, count),
            Protocol::Psi | Protocol::PsiVole | Protocol::PsiBins => {
                let (method, reveal) = match cell.protocol {
                    Protocol::PsiVole => ("vole", "items"),
                    Protocol::PsiBins => ("circuit", "size"),
                    _ => ("phasing", "size"),
                };
                Rehearsal::new(&format!(
                    "kind = \"psi\"\nmethod = \"{method}\"\ncolumn = \"email\"\nreveal = \"{reveal}\"\n"
                ))
            }
            Protocol::AesCtr => Rehearsal::new("kind = \"aes-ctr\"\nowner = \"client:alice\"\n"),
            _ => Rehearsal::bare(),
        };
        let mut world = Self { files, cell, pins: Default::default() };
        match cell.protocol {
            Protocol::Ot => world.transfer(count),
            Protocol::Psi | Protocol::PsiVole | Protocol::PsiBins => world.lists(["party0", "party1"], count),
            Protocol::LocalPsi => world.lists(["a", "b"], count),
            Protocol::AesCtr => world.sparse("r/data.bin", count as u64),
            Protocol::LocalAesCtr => world.sparse("r/big", count as u64),
            _ => {}
        }
        if cell.protocol.is_job() {
            world.places();
        }
        if cell.fault == Fault::WrongPin {
            world.other_key();
        }
        if cell.fault == Fault::MistakenPin {
            world.other_pin();
        }
        if cell.fault == Fault::FullDisk {
            std::fs::create_dir(world.files.place.at("r/full")).unwrap_or_else(|e| panic!("{e}"));
        }
        world
    }

    fn sparse(&self, name: &str, len: u64) {
        let file = File::create(self.files.place.at(name)).and_then(|file| file.set_len(len));
        file.unwrap_or_else(|e| panic!("{name}: {e}"));
    }

    /// Writes two files with a column of keys, three quarters of which are in both.
    fn lists(&self, names: [&str; 2], count: usize) {
        for (name, first) in names.into_iter().zip([0, count / 4]) {
            let rows = (first..first + count).fold("email\n".to_owned(), |mut text, i| {
                writeln!(text, "user{i}@example.org").unwrap_or_default();
                text
            });
            self.files.place.put(&format!("r/{name}.csv"), rows.as_bytes());
        }
    }

    /// Sets the limits of a job's members, and the places of their outputs. The outputs of a party
    /// of an encryption are the shares of a key.
    fn places(&self) {
        let fault = self.cell.fault;
        let shown = matches!(fault, Fault::ClosedPipe | Fault::FullPipe | Fault::Absent)
            || matches!(fault, Fault::WrongPin | Fault::MistakenPin);
        for name in self.cell.protocol.members() {
            if let Some(limit) = limit(&self.cell) {
                self.files.set(name, &format!("connect-timeout = \"{}s\"", limit.as_secs()));
            }
            let (file, place) = (format!("r/{name}.toml"), self.output(name).1);
            if self.cell.protocol == Protocol::AesCtr {
                let old = if *name == "alice" { "data.bin.enc".to_owned() } else { format!("{name}.share") };
                self.files.edit(&file, |text| text.replace(&old, &place));
            } else if !shown {
                let at = if self.files.place.at("r/a.bin").exists() || self.cell.protocol.is_intersection() {
                    "file"
                } else {
                    "hex-file"
                };
                let table = format!("\n[outputs]\nresult = {{ {at} = \"{place}\" }}\n");
                self.files.edit(&file, |text| text.to_owned() + &table);
            }
        }
    }

    fn key(&self, name: &str) -> String {
        self.files.place.put_key(&format!("r/{name}.pem"), name)
    }

    fn transfer(&mut self, count: usize) {
        self.pins = ["sender", "receiver"].map(|name| self.key(name));
        self.files.place.put("r/pairs.txt", "1 2\n".repeat(count).as_bytes());
        self.files.place.put("r/bits.txt", "1\n".repeat(count).as_bytes());
    }

    /// Gives the member a key that no other member knows.
    fn other_key(&self) {
        self.key(self.cell.member);
    }

    /// Writes a pin that belongs to no key into one file.
    fn other_pin(&mut self) {
        let nobody = format!("sha256:{}", "5".repeat(64));
        if self.cell.protocol == Protocol::Ot {
            self.pins[usize::from(self.cell.member == "receiver")] = nobody;
            return;
        }
        let pem = self.files.place.get(&format!("r/{}.pem", self.cell.member));
        let pem = String::from_utf8_lossy(&pem).into_owned();
        let (pin, _) = Identity::describe(&pem).unwrap_or_else(|e| panic!("{e}"));
        let file = format!("r/{}.toml", self.cell.lister());
        self.files.edit(&file, |text| text.replace(&pin.to_string(), &nobody));
    }

    /// Returns the place of `member`'s output, as seen from the working directory of commands, and
    /// as seen from job files.
    fn output(&self, member: &str) -> (String, String) {
        let faulty = member == self.cell.member;
        match self.cell.fault {
            Fault::FullDisk if faulty => ("r/full/out".into(), "full/out".into()),
            Fault::Unwritable if faulty => (nowhere(&self.files), nowhere(&self.files)),
            _ => (format!("r/{member}.out"), format!("{member}.out")),
        }
    }

    /// Returns the file of `member`'s output, if it can have one.
    pub(crate) fn output_of(&self, member: &str) -> Option<Vec<u8>> {
        std::fs::read(self.files.place.at(&format!("r/{member}.out"))).ok()
    }

    /// Returns the output of a circuit's job with many values.
    pub(crate) fn expected(&self) -> Option<Vec<u8>> {
        let [a, b] = ["a", "b"].map(|name| std::fs::read(self.files.place.at(&format!("r/{name}.bin"))).ok());
        let (a, b) = (a?, b?);
        let word = |bytes: &[u8]| u64::from(u32::from_le_bytes(bytes.try_into().unwrap_or_default()));
        let records = a.chunks(4).zip(b.chunks(4)).map(|(a, b)| (word(a), word(b)));
        Some(match circuit_of(&self.cell) {
            ADD => records.flat_map(|(a, b)| (a + b).to_le_bytes()[..5].to_vec()).collect(),
            _ => records.flat_map(|(a, b)| (a * b).to_le_bytes()).collect(),
        })
    }

    fn line(&self, member: &str) -> String {
        let (out, port) = (self.output(member).0, self.files.port);
        let shown = matches!(self.cell.fault, Fault::ClosedPipe | Fault::FullPipe);
        let json = if shown { "-" } else { out.as_str() };
        match self.cell.protocol {
            // Only the report of the member is printed.
            Protocol::AesCtr if shown => format!("{} --json -", Rehearsal::line(member)),
            Protocol::Ot => {
                let (me, other) = if member == "sender" { (0, 1) } else { (1, 0) };
                let place = if me == 0 {
                    format!("send --messages r/pairs.txt --listen 127.0.0.1:{port} --json {json}")
                } else {
                    let json = if shown { "--json -" } else { "" };
                    format!("recv --choices r/bits.txt --out {out} --connect 127.0.0.1:{port} {json}")
                };
                let wait = limit(&self.cell).unwrap_or(Duration::from_mins(1)).as_secs();
                format!("ot {place} --key r/{member}.pem --pin {} --wait {wait}", self.pins[other])
            }
            Protocol::LocalPsi => {
                let to = if shown { String::new() } else { format!("--out {out}") };
                format!(
                    "-v local psi --a r/a.csv --b r/b.csv --column email --reveal size --method phasing {to}"
                )
            }
            Protocol::LocalAesCtr => {
                let json = if shown { "--json -" } else { "" };
                format!("-v local aes-ctr --in r/big --out {out} --key-shares r/big.keys {json}")
            }
            _ => Rehearsal::line(member),
        }
    }

    pub(crate) fn start(&self, member: &'static str) -> Running {
        let faulty = member == self.cell.member;
        let line = self.line(member);
        match self.cell.fault {
            Fault::FullDisk if faulty => {
                let mut command = with_mounts();
                let inner = self.files.place.hushwire(&line);
                command.args(["sh", "-c", FULL, "sh"]).arg(inner.get_program());
                command.args(inner.get_args()).current_dir(self.files.place.at(""));
                let (set, removed): (Vec<_>, Vec<_>) =
                    inner.get_envs().partition(|(_, value)| value.is_some());
                command.envs(set.into_iter().filter_map(|(key, value)| Some((key, value?))));
                for (key, _) in removed {
                    command.env_remove(key);
                }
                self.files.spawn(member, command)
            }
            Fault::ClosedPipe if faulty => {
                let (reader, writer) = std::io::pipe().unwrap_or_else(|e| panic!("{e}"));
                drop(reader);
                self.files.spawn_to(member, self.files.place.hushwire(&line), writer.into())
            }
            Fault::FullPipe if faulty => {
                let full = File::options().write(true).open("/dev/full").unwrap_or_else(|e| panic!("{e}"));
                self.files.spawn_to(member, self.files.place.hushwire(&line), Stdio::from(full))
            }
            _ => self.files.spawn(member, self.files.place.hushwire(&line)),
        }
    }

    /// Waits until all members are at work. Returns the processes of the parties that a supervisor
    /// started, or `None` if one has ended.
    pub(crate) fn until_at_work(&self, running: &[Running]) -> Option<Vec<u32>> {
        self.files.until_said(self.cell.protocol.started(), "connected\n");
        if !self.cell.protocol.is_supervised() {
            return Some(vec![]);
        }
        let mut pids = children(running[0].pid());
        pids.retain(|pid| cmdline(*pid).contains(" __"));
        pids.sort_by_key(|pid| cmdline(*pid));
        (pids.len() == self.cell.protocol.members().len() - 1).then_some(pids)
    }

    /// Returns the new files, apart from the outputs of members that succeeded.
    pub(crate) fn left(&self, good: &[&str]) -> Vec<String> {
        let mut left = self.files.left();
        let known = [".csv", ".txt"];
        left.retain(|name| {
            !known.iter().any(|end| name.ends_with(end)) && !["big", "full"].contains(&name.as_str())
        });
        left.retain(|name| !good.iter().any(|member| *name == format!("{member}.out")));
        // The key's shares stay once all parties have theirs, and so does the ledger. They are
        // useful and not a result.
        left.retain(|name| !["big.keys", "alice.ledger"].contains(&name.as_str()));
        if self.cell.protocol == Protocol::AesCtr && matches!(self.cell.fault, Fault::Kill | Fault::Freeze(_))
        {
            left.retain(|name| !name.starts_with("party"));
        }
        if let Some(at) = left.iter().position(|name| name == "full.left") {
            left.remove(at);
            let on_it = String::from_utf8_lossy(&self.files.place.get("r/full.left")).into_owned();
            left.extend(on_it.lines().filter(|name| *name != "fill").map(str::to_owned));
        }
        left
    }
}

impl Protocol {
    /// Returns the number of values, lines, keys or bytes that amount to this work.
    fn count(self, work: Work) -> usize {
        match (self, work) {
            (Self::AesCtr | Self::LocalAesCtr, Work::Moment) => 999,
            (Self::AesCtr | Self::LocalAesCtr, Work::Short) => 8 << 20,
            (Self::AesCtr | Self::LocalAesCtr, Work::Endless) => 512 << 20,
            (Self::Psi | Self::PsiVole | Self::PsiBins | Self::LocalPsi, Work::Moment) => 20,
            (Self::Psi | Self::LocalPsi, Work::Short) => 1000,
            (Self::Psi | Self::LocalPsi, Work::Endless) => 20_000,
            (Self::PsiVole, Work::Short) => 150_000,
            (Self::PsiVole, Work::Endless) => 1_200_000,
            (Self::PsiBins, Work::Short) => 30_000,
            (Self::PsiBins, Work::Endless) => 300_000,
            (_, Work::Moment) => 1,
            (Self::Rep3, Work::Short) => 100_000,
            (Self::Rep3, Work::Endless) => 4_000_000,
            (Self::Yao, Work::Short) => 3000,
            (Self::Gmw, Work::Short) => 2000,
            (Self::Yao | Self::Gmw, Work::Endless) => 120_000,
            (Self::Ot, Work::Short) => 200_000,
            (Self::Ot, Work::Endless) => 1_000_000,
        }
    }
}

/// Returns the time for which members wait for each other, if some wait in vain.
fn limit(cell: &Cell) -> Option<Duration> {
    match cell.fault {
        Fault::Absent => Some(JOIN),
        Fault::WrongPin | Fault::MistakenPin => Some(LATE),
        _ => None,
    }
}

/// Returns a place where no user can make a file, not even root.
fn nowhere(files: &Rehearsal) -> String {
    format!("/sys/hushwire.{}.out", files.port)
}

const ADD: &str = "add:32";

/// The absence of a member that only learns is noticed when links are full, and additions fill them
/// soonest.
fn circuit_of(cell: &Cell) -> &'static str {
    if cell.member == "bob" { ADD } else { "mul:32" }
}

/// Writes a circuit's job whose output all members learn.
fn circuit(cell: &Cell, count: usize) -> Rehearsal {
    let members = cell.protocol.members();
    let key =
        |name: &&str| if name.starts_with("party") { (*name).to_owned() } else { format!("client:{name}") };
    let all = members.iter().map(|name| format!("{:?}", key(name))).collect::<Vec<_>>().join(", ");
    let first = if cell.protocol == Protocol::Rep3 { "client:alice" } else { "party0" };
    let circuit = circuit_of(cell);
    let world = Rehearsal::new(&format!(
        "protocol = \"{}\"\ncircuit = \"{circuit}\"\ninstances = {count}\n\
         [[inputs]]\nname = \"a\"\nfrom = \"{first}\"\nsample = \"00000007\"\n\
         [[inputs]]\nname = \"b\"\nfrom = \"party1\"\nsample = \"00000008\"\n\
         [[outputs]]\nname = \"result\"\nto = [{all}]\n",
        cell.protocol.name()
    ));
    if count > 1 {
        for (name, seed) in [("a", 1), ("b", 2)] {
            world.place.put(&format!("r/{name}.bin"), &noise(seed, 4 * count));
        }
    }
    world
}
