//! Cards: small public files that members exchange before their first job. A code over all cards
//! lets members check that they hold the same ones.

use crate::{Fault, Member, Peer, address, toml_file::Source};
use hushwire_fault::code;
use hushwire_wire::Pin;
use std::path::Path;

/// A member, the address at which it is reached, and its pin. A card holds no secret. An attacker
/// who changes a card in transit can pose as its member; [`group_code`] reveals this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberCard {
    /// The member.
    pub member: Member,
    /// The address at which the others reach a party; `None` for a client, which dials.
    pub address: Option<String>,
    /// The fingerprint of its certificate.
    pub pin: Pin,
}

/// SECURITY: the context of [`group_code`]. No other use of the hash has it.
const CONTEXT: &str = "hushwire 2026-11 code of a group of members, version 1";

/// SECURITY: the number of times that the hash is repeated. An attacker who wants to show one of
/// two groups to each side needs two groups with one code. That takes 2^66 attempts (40 digits are
/// 132.8 bits), each at this cost.
const REPEATED: u32 = 1 << 16;

impl MemberCard {
    /// Reads the file of a card.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it is invalid; the message names the line.
    pub fn read(path: &Path) -> Result<Self, Fault> {
        let source = Source::read(path)?;
        let mut top = source.sections()?;
        if top.has("key") || top.has("peers") {
            let remedy = "name the card, which ends in .card; a member's own file is for nobody else";
            return Err(top.error("this is a member's own file", remedy));
        }
        let member = top.need("member", "member = \"party0\"")?;
        let member: Member = member.parsed(str::parse, "write \"party0\", or \"client:alice\"")?;
        let at = top.take("address");
        let address = at.as_ref().map(|value| value.parsed(address, "write host:port, as \"10.0.0.2:7000\""));
        let address = address.transpose()?;
        match (&member, &at) {
            (Member::Party(_), None) => return Err(top.lacks("address", "address = \"10.0.0.2:7000\"")),
            (Member::Client(_), Some(value)) => {
                return Err(value.error("is not used: clients dial", "leave it out"));
            }
            (Member::Party(_), _) | (Member::Client(_), None) => {}
            (Member::Data(_) | Member::Recipient(_), _) => {
                let remedy = "ask a party or a client for its card";
                return Err(top.error("a card is of a party or a client", remedy));
            }
        }
        let pin = top.need("pin", "pin = \"sha256:…\", as `hushwire keys pin` prints it")?;
        let read = |text: &str| text.parse().map_err(|e: hushwire_wire::IdentityError| e.cause());
        let pin = pin.parsed(read, "ask the member for its card again")?;
        top.finish()?;
        Ok(Self { member, address, pin })
    }

    /// The card as the text of its file.
    #[must_use]
    pub fn text(&self) -> String {
        let address = self.address.as_ref().map(|address| format!("address = \"{address}\"\n"));
        format!(
            "# For the other members: beside their cards, `hushwire init` makes files of it.\n\
             # It is public. Compare the code that `hushwire init` shows, by voice.\n\
             member = \"{}\"\n{}pin = \"{}\"\n",
            self.member.key(),
            address.unwrap_or_default(),
            self.pin
        )
    }

    /// The name of the member's files, without an extension: `party0`, `alice`.
    #[must_use]
    pub fn name(&self) -> String {
        file_name(&self.member)
    }

    /// The member as a peer of other members.
    #[must_use]
    pub fn peer(&self) -> Peer {
        Peer { member: self.member.clone(), address: self.address.clone(), pin: self.pin }
    }
}

/// The name of a member's files, without an extension.
#[must_use]
pub fn file_name(member: &Member) -> String {
    match member {
        Member::Party(index) => format!("party{index}"),
        other => other.name().unwrap_or_default().to_owned(),
    }
}

/// Returns the code of a group's cards: eight groups of five digits. Members with the same cards
/// get the same code, in whatever order the cards are. Members read the code to each other over a
/// channel on which they recognize each other's voices. A card that was changed in transit shows
/// then.
///
/// # Errors
/// Two cards are of the same member.
pub fn group_code(cards: &[MemberCard]) -> Result<String, Fault> {
    let mut cards: Vec<&MemberCard> = cards.iter().collect();
    cards.sort_by(|a, b| a.member.cmp(&b.member));
    if let Some(two) = cards.windows(2).find(|two| two[0].member == two[1].member) {
        let cause = format!("two cards are of {}", two[0].member);
        let remedy = "keep the one whose pin that member reads out by voice (`hushwire keys pin FILE` there)";
        return Err(Fault::new(code::UNSAFE, "comparing cards", cause, remedy));
    }
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    for card in cards {
        for part in [&card.member.key(), card.address.as_deref().unwrap_or(""), &card.pin.to_string()] {
            // The length separates the parts, so that no two lists hash alike.
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
    }
    let mut state = *hasher.finalize().as_bytes();
    for _ in 0..REPEATED {
        state = *blake3::Hasher::new_derive_key(CONTEXT).update(&state).finalize().as_bytes();
    }
    let mut digits = [0; 64];
    blake3::Hasher::new_derive_key(CONTEXT).update(&state).finalize_xof().fill(&mut digits);
    let group = |bytes: &[u8]| {
        let word = bytes.iter().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        format!("{:05}", word % 100_000)
    };
    Ok(digits.chunks(8).map(group).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn card(member: &str, address: Option<&str>, byte: u8) -> MemberCard {
        let member = member.parse().unwrap_or_else(|e| panic!("{member}: {e}"));
        MemberCard { member, address: address.map(str::to_owned), pin: Pin([byte; 32]) }
    }

    #[test]
    fn cards_are_read_as_they_are_written() {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let path = dir.path().join("a.card");
        for own in [card("party1", Some("b.example:7000"), 3), card("client:alice", None, 4)] {
            fs::write(&path, own.text()).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(MemberCard::read(&path).unwrap_or_else(|e| panic!("{e}")), own);
        }
        let pin = Pin([1; 32]);
        for (text, words) in [
            (format!("member = \"party0\"\npin = \"{pin}\"\n"), "address"),
            (format!("member = \"client:a\"\naddress = \"h:1\"\npin = \"{pin}\"\n"), "clients dial"),
            (format!("member = \"party0\"\naddress = \"h\"\npin = \"{pin}\"\n"), "host:port"),
            ("member = \"party0\"\naddress = \"h:1\"\npin = \"sha256:12\"\n".to_owned(), "ask the member"),
            (format!("member = \"party0\"\naddress = \"h:1\"\npin = \"{pin}\"\nx = 1\n"), "x"),
            ("index = 0\nkey = \"party0.pem\"\n".to_owned(), "a member's own file"),
        ] {
            fs::write(&path, &text).unwrap_or_else(|e| panic!("{e}"));
            let e = MemberCard::read(&path).expect_err(&text).to_string();
            assert!(e.contains(words) && e.contains("a.card"), "{e}");
        }
    }

    /// A change of one pin, one address or one member changes the code.
    #[test]
    fn the_code_is_of_all_that_cards_say() {
        let cards = || {
            vec![
                card("party0", Some("a:7000"), 1),
                card("party1", Some("b:7000"), 2),
                card("party2", Some("c:7000"), 3),
                card("client:alice", None, 4),
            ]
        };
        let code = |cards: &[MemberCard]| group_code(cards).unwrap_or_else(|e| panic!("{e}"));
        let own = code(&cards());
        assert!(own.len() == 47 && own.split(' ').all(|group| group.len() == 5), "{own}");
        let mut turned = cards();
        turned.reverse();
        assert_eq!(code(&turned), own);
        for change in 0..4 {
            let mut other = cards();
            match change {
                0 => other[1].pin = Pin([9; 32]),
                1 => other[2].address = Some("c:7001".to_owned()),
                2 => drop(other.pop()),
                _ => other[3].member = "client:alicia".parse().unwrap_or_else(|e| panic!("{e}")),
            }
            assert_ne!(code(&other), own, "{change}");
        }
        let mut twice = cards();
        twice.push(card("party0", Some("evil:7000"), 9));
        assert!(group_code(&twice).is_err_and(|e| e.to_string().contains("two cards are of party 0")));
    }
}
