//! The file with which a person reaches a group: its parties in order, with pins and tokens.
//!
//! The file is TOML. It is refused if other users may read it, since it holds tokens.

use hushwire_fault::{Fault, code};
use hushwire_files::NewFile;
use hushwire_session::toml_file::Source;
use hushwire_wire::Pin;
use std::{fmt::Write as _, fs, os::unix::fs::PermissionsExt, path::Path};
use zeroize::Zeroizing;

/// A group as one person reaches it. No `Debug`: it holds tokens.
pub struct ServiceFile {
    /// The group's name.
    pub group: String,
    /// The parties, party 0 first.
    pub parties: Vec<PartyPlace>,
}

/// A party of a group.
pub struct PartyPlace {
    /// `https://host:port`.
    pub url: String,
    /// The pin of its certificate.
    pub pin: Pin,
    /// The pin of its next certificate, while its key is rotated.
    pub next_pin: Option<Pin>,
    /// The token that the party issued to this person; empty if there is none.
    pub token: Zeroizing<String>,
}

impl ServiceFile {
    /// Reads a file that no other user may read.
    ///
    /// # Errors
    /// The file cannot be read, other users may read it, or a line is invalid.
    pub fn read(path: &Path) -> Result<Self, Fault> {
        let io = |e: std::io::Error| Fault::io("read", path, &e);
        let mode = fs::metadata(path).map_err(io)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let shown = path.display();
            let cause = format!("its permissions {mode:04o} let other users at the tokens in it");
            let remedy =
                format!("run `chmod 600 {shown}`, and have tokens revoked that somebody may have read");
            return Err(Fault::file("read", path, cause, remedy).coded(code::PRIVATE));
        }
        let text = Zeroizing::new(fs::read_to_string(path).map_err(io)?);
        Self::parse(path, &text)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// A key is unknown or missing, or a value is invalid; the error names the line.
    pub fn parse(path: &Path, text: &str) -> Result<Self, Fault> {
        let source = Source::new(path, text);
        let mut top = source.sections()?;
        let group = top.need("group", "`group = \"demo\"`")?.text()?.to_owned();
        let mut parties = vec![];
        for mut party in top.need("parties", "`[[parties]]`")?.sections()? {
            let url = party.need("url", "`url = \"https://party0.example:7443\"`")?;
            let https = |text: &str| {
                let host = text.strip_prefix("https://").ok_or("it is no https:// address")?;
                let host = host.strip_suffix('/').unwrap_or(host);
                let odd = host.is_empty()
                    || host.contains(['/', '?', '#', '@'])
                    || host.contains(char::is_whitespace);
                if odd { Err("it has more than a host and a port") } else { Ok(format!("https://{host}")) }
            };
            let url = url.parsed(https, "write it as \"https://party0.example:7443\"")?;
            let pin = party.need("pin", "`pin = \"sha256:…\"`")?;
            let parse = |text: &str| text.parse::<Pin>().map_err(|e| e.cause());
            let remedy = "copy what `hushwire keys pin` prints at the party";
            let pin = pin.parsed(parse, remedy)?;
            let next_pin = party.parsed("next-pin", parse, remedy)?;
            let token = party.take("token").map(|token| token.text().map(str::to_owned)).transpose()?;
            let token = Zeroizing::new(token.unwrap_or_default());
            party.finish()?;
            parties.push(PartyPlace { url, pin, next_pin, token });
        }
        top.finish()?;
        Ok(Self { group, parties })
    }

    /// Writes a file that only its owner may read.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Fault> {
        let mut text = Zeroizing::new(format!("group = {:?}\n", self.group));
        for PartyPlace { url, pin, next_pin, token } in &self.parties {
            // Writing to a string cannot fail.
            let _ =
                write!(text, "\n[[parties]]\nurl = {url:?}\npin = \"{pin}\"\ntoken = {:?}\n", token.as_str());
            if let Some(next) = next_pin {
                let _ = writeln!(text, "next-pin = \"{next}\"");
            }
        }
        NewFile::create(path, 0o600)?.write(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_was_written_and_by_its_owner_alone() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("owner.toml");
        let party = |i: u8| PartyPlace {
            url: format!("https://127.0.0.1:{}", 7443 + u16::from(i)),
            pin: Pin([i; 32]),
            next_pin: (i == 1).then_some(Pin([7; 32])),
            token: format!("hw_{i}").into(),
        };
        let file = ServiceFile { group: "demo".to_owned(), parties: vec![party(0), party(1), party(2)] };
        file.write(&path).unwrap_or_else(|e| panic!("{e}"));
        let read = ServiceFile::read(&path).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(read.group, "demo");
        for (i, party) in read.parties.iter().enumerate() {
            assert_eq!(party.next_pin, (i == 1).then_some(Pin([7; 32])));
            assert_eq!((party.pin, party.token.as_str()), (Pin([i as u8; 32]), format!("hw_{i}").as_str()));
            assert_eq!(party.url, file.parties[i].url);
        }
        let text = fs::read_to_string(&path).expect("a file");
        for (from, to, says) in [
            ("https://127.0.0.1:7443", "http://127.0.0.1:7443", "https://"),
            ("https://127.0.0.1:7443", "https://127.0.0.1:7443/v1", "host and a port"),
            ("token = ", "tokens = ", "`token`"),
            ("group = ", "name = ", "`group`"),
            ("sha256:00", "sha256:0", "pin"),
        ] {
            let error = ServiceFile::parse(&path, &text.replacen(from, to, 1)).err();
            let error = error.map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains("line ") && error.contains(says), "{to}: {error}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
        assert_eq!(ServiceFile::read(&path).err().map(|e| e.code()), Some(code::PRIVATE));
    }
}
