//! The protocols by name: the number of parties that each has, and its options.
//!
//! A [`Chosen`] is a protocol with its options: the garbling scheme, the extension of oblivious
//! transfer, the means of linear layers, and whether OTs are made ahead. Its text is part of the
//! agreement. All protocols but authenticated garbling are semi-honest.

use crate::{Fault, Link, Member, suggest::Unknown};
use hushwire_authgarble::Form;
use hushwire_fault::code;
use hushwire_garble::Scheme;
use hushwire_ot::{Level, Protocol as Extension};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The largest number of parties of any protocol.
pub const MOST_PARTIES: u8 = 8;

/// The protocol between computing parties. All but [`Protocol::Authgarble`] and [`Protocol::Ywz20`]
/// are semi-honest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Three parties on replicated shares, one of which may be corrupted.
    Rep3,
    /// Two parties: party 0 garbles, party 1 evaluates.
    Yao,
    /// Two parties on XOR shares. ANDs use triples from oblivious transfer.
    Gmw,
    /// Two parties on numbers. For computations only, in builds with the feature `two`.
    Two,
    /// This many parties, all but one of which may be corrupted and deviate.
    Authgarble(u8),
    /// The same among three or more parties, with half gates: fewer bytes and one more round.
    Ywz20(u8),
}

impl Protocol {
    /// The protocols with a fixed number of parties, in the order of [`Self::NAMES`].
    pub const ALL: [Self; 3] = [Self::Rep3, Self::Yao, Self::Gmw];
    /// The names in job files and in `--protocol`, in the order of [`Self::ALL`]. A number of
    /// parties may follow, as in `authgarble:5`.
    pub const NAMES: &[&str] = if cfg!(feature = "two") {
        &["rep3", "yao", "gmw", "authgarble", "two"]
    } else {
        &["rep3", "yao", "gmw", "authgarble"]
    };
    /// All texts that are valid for `--protocol`.
    pub const WRITTEN: [&str; 17] = [
        "rep3",
        "yao",
        "gmw",
        "authgarble",
        "authgarble:2",
        "authgarble:3",
        "authgarble:4",
        "authgarble:5",
        "authgarble:6",
        "authgarble:7",
        "authgarble:8",
        "authgarble:3:ywz20",
        "authgarble:4:ywz20",
        "authgarble:5:ywz20",
        "authgarble:6:ywz20",
        "authgarble:7:ywz20",
        "authgarble:8:ywz20",
    ];
    /// The default number of parties of `authgarble`.
    pub const FEW: u8 = 3;

    /// The name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rep3 => "rep3",
            Self::Yao => "yao",
            Self::Gmw => "gmw",
            Self::Two => "two",
            Self::Authgarble(_) | Self::Ywz20(_) => "authgarble",
        }
    }

    /// The same protocol among `n` parties, if its number of parties can change.
    #[must_use]
    pub const fn among(self, n: u8) -> Self {
        match self {
            Self::Ywz20(_) if n > 2 => Self::Ywz20(n),
            // Between two parties, both protocols are the same.
            Self::Authgarble(_) | Self::Ywz20(_) => Self::Authgarble(n),
            fixed => fixed,
        }
    }

    /// The variant of authenticated garbling with this name.
    ///
    /// # Errors
    /// The protocol has no such variant.
    pub fn variant(self, name: &str) -> Result<Self, String> {
        let Some((n, _)) = self.authenticated() else {
            return Err(format!("protocol {self} has no variants"));
        };
        let one = |form: Form| form.name(n.into()) == name;
        match Form::ALL.into_iter().find(|form| one(*form)) {
            Some(form) if form == Form::best(n.into()) => Ok(Self::Authgarble(n)),
            Some(Form::HalfGates) => Ok(Self::Ywz20(n)),
            _ if n == 2 => Err(format!("no variant {name:?} for two parties: krrw18 is theirs")),
            _ => Err(format!("no variant {name:?} among {n} parties: they have wrk17 and ywz20")),
        }
    }

    /// The number of parties and the form of authenticated garbling, if this is its protocol.
    #[must_use]
    pub fn authenticated(self) -> Option<(u8, Form)> {
        match self {
            Self::Authgarble(n) => Some((n, Form::best(n.into()))),
            Self::Ywz20(n) => Some((n, Form::HalfGates)),
            _ => None,
        }
    }

    /// The number of computing parties.
    #[must_use]
    pub const fn parties(self) -> u8 {
        match self {
            Self::Rep3 => 3,
            Self::Yao | Self::Gmw | Self::Two => 2,
            Self::Authgarble(n) | Self::Ywz20(n) => n,
        }
    }

    /// Whether members who do not compute may bring inputs and learn outputs.
    #[must_use]
    pub const fn has_clients(self) -> bool {
        matches!(self, Self::Rep3)
    }

    /// The garbling scheme, if the protocol has one: `given`, or the default.
    ///
    /// # Errors
    /// A scheme is given to a protocol that has none, or the given scheme hides nothing.
    pub fn scheme(self, given: Option<Scheme>) -> Result<Option<Scheme>, Fault> {
        match (self, given) {
            (Self::Yao, Some(Scheme::PrivacyFree)) => {
                Err(Fault::new(code::REVEALS, "planning the job", REVEALS, take_private()))
            }
            (Self::Yao, given) => Ok(Some(given.unwrap_or_default())),
            (_, Some(_)) => Err(self.has_no("scheme", "no garbling scheme")),
            (_, None) => Ok(None),
        }
    }

    /// The extension of oblivious transfer, if the protocol uses one: `given`, or the default.
    ///
    /// # Errors
    /// An extension is given to a protocol that uses none.
    pub fn extension(self, given: Option<Extension>) -> Result<Option<Extension>, Fault> {
        match (self, given) {
            (Self::Rep3, Some(_)) => Err(self.has_no("ot", "no oblivious transfer")),
            (Self::Rep3, None) => Ok(None),
            (Self::Authgarble(_) | Self::Ywz20(_), Some(given)) if !given.supports(Level::Malicious) => {
                let cause = format!("protocol {self} is malicious, and {given} is not");
                Err(Fault::new(
                    code::JOB,
                    "planning the job",
                    cause,
                    "take one of the softspoken or ferret extensions",
                ))
            }
            (_, given) => Ok(Some(given.unwrap_or(Extension::SoftSpoken4))),
        }
    }

    fn has_no(self, key: &str, what: &str) -> Fault {
        let remedy = format!("leave out `{key}`, or take another protocol");
        Fault::new(code::JOB, "planning the job", format!("protocol {self} has {what}"), remedy)
    }

    /// Checks that the protocol has a place for `member`, which need not be connected. Three
    /// parties keep shares of a data set's values, and of a recipient's results.
    ///
    /// # Errors
    /// The protocol has no place for the member. The texts are the cause and the remedy.
    pub fn keeps(self, member: &Member) -> Result<(), (String, String)> {
        match member {
            Member::Data(_) | Member::Recipient(_) if self == Self::Rep3 => Ok(()),
            Member::Data(_) | Member::Recipient(_) => Err((
                format!(
                    "{}: protocol {self} keeps no shares of members that are not connected",
                    member.key()
                ),
                "let a party bring its inputs and learn its outputs, or take protocol rep3".to_owned(),
            )),
            _ => self.admits(member),
        }
    }

    /// Checks that the protocol has a place for `member`, which is connected.
    ///
    /// # Errors
    /// The protocol has no place for the member. The texts are the cause and the remedy.
    pub fn admits(self, member: &Member) -> Result<(), (String, String)> {
        match member {
            Member::Party(index) if *index < self.parties() => Ok(()),
            Member::Party(_) => {
                let all: Vec<_> = (0..self.parties()).map(|i| format!("party{i}")).collect();
                let numbers = match self.parties() {
                    2 => "0 and 1".to_owned(),
                    3 => "0, 1 and 2".to_owned(),
                    n => format!("0 to {}", n - 1),
                };
                let cause = format!("{}: protocol {self} has parties {numbers}", member.key());
                Err((cause, format!("name one of {}, or take protocol rep3", all.join(", "))))
            }
            Member::Client(_) if self.has_clients() => Ok(()),
            Member::Client(_) => Err((
                format!("{}: protocol {self} has no clients", member.key()),
                "let a party bring its inputs and learn its outputs, or take protocol rep3".to_owned(),
            )),
            Member::Data(_) | Member::Recipient(_) => Err((
                format!(
                    "{} is not connected, and jobs of this kind have connected members alone",
                    member.key()
                ),
                "let a party or a client bring its inputs and learn its outputs".to_owned(),
            )),
        }
    }
}

/// The means by which two parties on numbers multiply by matrices that only one of them has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Linear {
    /// Oblivious transfer.
    #[default]
    Ot,
    /// Encryption, or oblivious transfer in layers that have no room for its noise.
    He,
}

impl Linear {
    /// The name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ot => "ot",
            Self::He => "he",
        }
    }
}

impl FromStr for Linear {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = [Self::He, Self::Ot].into_iter().find(|linear| linear.name() == name);
        found.ok_or_else(|| format!("no linear layers are called {name:?}; take he or ot"))
    }
}

/// A protocol with its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The protocol of the parties.
    pub protocol: Protocol,
    /// The scheme of garbled gates, if the protocol garbles.
    pub scheme: Option<Scheme>,
    /// The extension of oblivious transfer, if the protocol uses one.
    pub ot: Option<Extension>,
    /// The means of linear layers, if the protocol has a choice.
    pub linear: Linear,
    /// The link that chose the extension, if none was named.
    pub link: Option<Link>,
    /// Whether two parties on numbers make OTs ahead of their use. With `None`, their distance
    /// decides.
    pub ahead: Option<bool>,
}

impl Chosen {
    /// The given choices, or the defaults.
    ///
    /// # Errors
    /// The protocol has no such choice, or the scheme hides nothing.
    pub fn new(protocol: Protocol, scheme: Option<Scheme>, ot: Option<Extension>) -> Result<Self, Fault> {
        let (scheme, ot, linear) = (protocol.scheme(scheme)?, protocol.extension(ot)?, Linear::Ot);
        Ok(Self { protocol, scheme, ot, linear, link: None, ahead: None })
    }

    /// Sets the means of linear layers; `None` changes nothing.
    ///
    /// # Errors
    /// The protocol has no such choice.
    pub fn with_linear(self, given: Option<Linear>) -> Result<Self, Fault> {
        match (self.protocol, given) {
            (_, None) => Ok(self),
            (Protocol::Two, Some(linear)) => Ok(Self { linear, ..self }),
            (protocol, Some(_)) => Err(protocol.has_no("linear", "one kind of linear layers")),
        }
    }

    /// Sets whether OTs are made ahead of their use or in turn; `None` changes nothing.
    ///
    /// # Errors
    /// The protocol has no such choice.
    pub fn with_ahead(self, given: Option<bool>) -> Result<Self, Fault> {
        match (self.protocol, given) {
            (_, None) => Ok(self),
            (Protocol::Two, ahead) => Ok(Self { ahead, ..self }),
            (protocol, Some(_)) => Err(protocol.has_no("ahead", "no OTs that are made ahead of their use")),
        }
    }

    /// The text on which members agree.
    pub fn agreed(self) -> String {
        let text = self.text(Scheme::agreed);
        // Five revisions of authenticated garbling do not interoperate. In the first, the evaluator
        // of two parties did not prove its statements about ANDs. More than two parties did not
        // compare what they were told of preprocessing. In the second, no party offered garbled
        // circuits. In the third, two parties compared hashes of MACs. In the fourth, computations
        // took nothing from disk.
        let name = self.protocol.to_string();
        if self.protocol.authenticated().is_some() {
            text.replacen(&name, &format!("{name} revision 5"), 1)
        } else {
            text
        }
    }

    fn text(self, scheme: impl Fn(Scheme) -> &'static str) -> String {
        let scheme = self.scheme.map(|s| format!(", scheme {}", scheme(s))).unwrap_or_default();
        let ot = self.ot.map(|ot| format!(", ot {ot}")).unwrap_or_default();
        let link = self.link.map(|link| format!(" by link {link}")).unwrap_or_default();
        let linear = if self.linear == Linear::He { ", linear he" } else { "" };
        let ahead = self.ahead.map(|ahead| if ahead { ", OTs ahead" } else { ", OTs in turn" });
        format!("{}{scheme}{ot}{link}{linear}{}", self.protocol, ahead.unwrap_or_default())
    }
}

/// The text is `yao, scheme mi, ot softspoken4`, for example.
impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Scheme::name))
    }
}

/// The reason why Yao's protocol cannot use the privacy-free scheme.
const REVEALS: &str = "scheme privacy-free hides nothing: its evaluator knows every wire's value";

fn take_private() -> String {
    format!("take one of {}", Scheme::PRIVATE.map(Scheme::name).join(", "))
}

/// Parses the name of a garbling scheme that hides inputs.
///
/// # Errors
/// The scheme hides none, or no scheme has this name.
pub fn private_scheme(name: &str) -> Result<Scheme, Unknown> {
    if name == Scheme::PrivacyFree.name() {
        return Err(Unknown::with(REVEALS, take_private()));
    }
    let known = Scheme::PRIVATE.map(Scheme::name);
    let found = Scheme::PRIVATE.into_iter().find(|scheme| scheme.name() == name);
    found.ok_or_else(|| Unknown::among(format!("no garbling scheme is called {name:?}"), name, &known))
}

/// The extensions of oblivious transfer for semi-honest protocols.
pub fn extensions() -> impl Iterator<Item = Extension> {
    Extension::ALL.into_iter().filter(|extension| extension.supports(Level::SemiHonest))
}

/// Parses the name of one of [`extensions`].
///
/// # Errors
/// No extension has this name.
pub fn extension(name: &str) -> Result<Extension, Unknown> {
    let known: Vec<_> = extensions().map(Extension::name).collect();
    extensions()
        .find(|e| e.name() == name)
        .ok_or_else(|| Unknown::among(format!("no semi-honest OT is called {name:?}"), name, &known))
}

/// Parses the name of one of [`extensions`]. `auto` gives `None`: the link decides.
///
/// # Errors
/// No extension has this name.
pub fn extension_or_auto(name: &str) -> Result<Option<Extension>, Unknown> {
    if name == "auto" { Ok(None) } else { extension(name).map(Some) }
}

/// Parses whether OTs are made ahead of their use: `yes` or `no`. `auto` gives `None`: the parties'
/// distance decides.
///
/// # Errors
/// The text is something else.
pub fn ahead_or_auto(name: &str) -> Result<Option<bool>, String> {
    match name {
        "auto" => Ok(None),
        "yes" => Ok(Some(true)),
        "no" => Ok(Some(false)),
        _ => Err(format!("{name:?} does not say when OTs are made ahead; take auto, yes or no")),
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Authgarble(n) => f.pad(&format!("authgarble:{n}")),
            Self::Ywz20(n) => f.pad(&format!("authgarble:{n}:ywz20")),
            _ => f.pad(self.name()),
        }
    }
}

/// The number of parties in words.
pub fn words(parties: u8) -> String {
    match parties {
        2 => "two".to_owned(),
        3 => "three".to_owned(),
        n => n.to_string(),
    }
}

impl FromStr for Protocol {
    type Err = Unknown;

    fn from_str(name: &str) -> Result<Self, Unknown> {
        if let Some(rest) = name.strip_prefix("authgarble") {
            let mut words = rest.split(':');
            let parties = match [words.next(), words.next()] {
                [Some(""), None] => Some(Self::FEW),
                [Some(""), Some(n)] => n.parse().ok().filter(|n| (2..=MOST_PARTIES).contains(n)),
                _ => None,
            };
            let variant = words.next();
            let Some(parties) = parties.filter(|_| words.next().is_none()) else {
                let remedy =
                    format!("write authgarble:N for N parties, 2 to {MOST_PARTIES}, or authgarble:N:ywz20");
                return Err(Unknown::with(format!("no protocol is called {name:?}"), remedy));
            };
            let protocol = Self::Authgarble(parties);
            return variant.map_or(Ok(protocol), |variant| Ok(protocol.variant(variant)?));
        }
        let two = cfg!(feature = "two").then_some(Self::Two);
        Self::ALL
            .into_iter()
            .chain(two)
            .find(|p| p.name() == name)
            .ok_or_else(|| Unknown::among(format!("no protocol is called {name:?}"), name, Self::NAMES))
    }
}

/// Serialization of schemes and extensions by name, in messages between processes of one member.
#[allow(missing_docs, reason = "serde's `with` calls them")]
pub mod by_name {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::{fmt::Display, str::FromStr};

    /// The same for a value that is not optional.
    pub mod one {
        use serde::{Deserializer, Serializer, de::Error};
        use std::{fmt::Display, str::FromStr};

        pub fn serialize<T: Display, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
            to.collect_str(value)
        }

        pub fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
            from: D,
        ) -> Result<T, D::Error> {
            super::deserialize(from)?.ok_or_else(|| D::Error::custom("a name is missing"))
        }
    }

    /// The same for several values.
    pub mod all {
        use serde::{Deserialize, Deserializer, Serializer, de::Error};
        use std::{fmt::Display, str::FromStr};

        pub fn serialize<T: Display, S: Serializer>(values: &[T], to: S) -> Result<S::Ok, S::Error> {
            to.collect_seq(values.iter().map(ToString::to_string))
        }

        pub fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
            from: D,
        ) -> Result<Vec<T>, D::Error> {
            let names = Vec::<String>::deserialize(from)?;
            names.iter().map(|name| name.parse().map_err(D::Error::custom)).collect()
        }
    }

    pub fn serialize<T: Display, S: Serializer>(value: &Option<T>, to: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.serialize_some(&value.to_string()),
            None => to.serialize_none(),
        }
    }

    pub fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        let name = Option::<String>::deserialize(from)?;
        name.map(|name| name.parse().map_err(D::Error::custom)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for (protocol, name) in Protocol::ALL.into_iter().zip(Protocol::NAMES) {
            assert_eq!((protocol.name(), name.parse()), (*name, Ok(protocol)));
        }
        for n in 2..=MOST_PARTIES {
            assert_eq!(Protocol::Authgarble(n).to_string().parse(), Ok(Protocol::Authgarble(n)));
        }
        assert!(Protocol::WRITTEN.iter().all(|name| name.parse::<Protocol>().is_ok()));
        for n in 3..=MOST_PARTIES {
            assert_eq!(Protocol::Ywz20(n).to_string().parse(), Ok(Protocol::Ywz20(n)));
            assert_eq!(format!("authgarble:{n}:wrk17").parse(), Ok(Protocol::Authgarble(n)));
        }
        assert_eq!("authgarble:2:krrw18".parse(), Ok(Protocol::Authgarble(2)));
        for bad in [
            "authgarble:",
            "authgarble:1",
            "authgarble:9",
            "authgarbled",
            "authgarble:2:ywz20",
            "authgarble:3:krrw18",
            "authgarble:3:",
            "authgarble:3:ywz20:",
        ] {
            assert!(bad.parse::<Protocol>().is_err(), "{bad}");
        }
        // Parties of different variants do not meet.
        let agreed = |protocol| Chosen::new(protocol, None, None).map(Chosen::agreed).expect("a choice");
        assert_ne!(agreed(Protocol::Authgarble(3)), agreed(Protocol::Ywz20(3)));
        let error = "yoa".parse::<Protocol>().err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("yoa") && error.contains("`yao`"), "{error}");
    }

    #[test]
    fn members_without_a_place_are_named() {
        for (protocol, member, cause) in [
            (Protocol::Yao, Member::Party(2), "party2: protocol yao has parties 0 and 1"),
            (Protocol::Rep3, Member::Party(3), "party3: protocol rep3 has parties 0, 1 and 2"),
            (Protocol::Authgarble(5), Member::Party(5), "party5: protocol authgarble:5 has parties 0 to 4"),
            (Protocol::Gmw, Member::Client("a".into()), "client:a: protocol gmw has no clients"),
        ] {
            assert_eq!(protocol.admits(&member).err().map(|e| e.0).as_deref(), Some(cause));
        }
        for protocol in Protocol::ALL {
            assert!((0..protocol.parties()).all(|i| protocol.admits(&Member::Party(i)).is_ok()));
            assert!(protocol.parties() <= MOST_PARTIES);
        }
        assert!(Protocol::Rep3.admits(&Member::Client("a".into())).is_ok());
    }

    #[test]
    fn what_a_protocol_is_told() {
        assert_eq!(Protocol::Yao.scheme(None).ok(), Some(Some(Scheme::Mi)));
        assert_eq!(Protocol::Yao.scheme(Some(Scheme::Prf)).ok(), Some(Some(Scheme::Prf)));
        assert_eq!(Protocol::Gmw.scheme(None).ok(), Some(None));
        assert!(Protocol::Gmw.scheme(Some(Scheme::Mi)).is_err());
        let error = Protocol::Yao.scheme(Some(Scheme::PrivacyFree)).err().map(|e| e.to_string());
        assert!(error.is_some_and(|e| e.contains("every wire's value") && e.contains("three-halves")));
        assert_eq!(Protocol::Gmw.extension(None).ok(), Some(Some(Extension::SoftSpoken4)));
        assert!(Protocol::Rep3.extension(Some(Extension::Iknp)).is_err());
        assert!(Protocol::Authgarble(3).extension(Some(Extension::Iknp)).is_err());
        assert_eq!(Protocol::Authgarble(3).extension(None).ok(), Some(Some(Extension::SoftSpoken4)));
        assert!(extension("kos").is_err() && extension("ferret-b12") == Ok(Extension::FerretB12));
        let error = private_scheme("privacy-free").err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("hides nothing") && error.contains("prp"), "{error}");
        let error = private_scheme("three-halfs").err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("`three-halves`"), "{error}");
    }
}
