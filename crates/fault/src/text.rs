//! Texts in which members are typed until the text is written.

use crate::{PartyId, Who, printable};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt};

/// Words with members between them. Control characters in the words are escaped, since words may
/// come from files, peers and arguments.
///
/// It has no `Display`, so that a text with members cannot become words of another text by
/// accident.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text(Vec<TextPart>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum TextPart {
    Words(Cow<'static, str>),
    Who(Who),
}

impl Text {
    /// An empty text.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Appends `words`.
    #[must_use]
    pub fn words(mut self, words: impl fmt::Display) -> Self {
        let words = words.to_string();
        self.push(printable(&words).into_owned().into());
        self
    }

    /// Appends a member.
    #[must_use]
    pub fn who(mut self, who: impl Into<Who>) -> Self {
        self.0.push(TextPart::Who(who.into()));
        self
    }

    /// Appends another text.
    #[must_use]
    pub fn text(mut self, other: Text) -> Self {
        for part in other.0 {
            match part {
                TextPart::Words(words) => self.push(words),
                who @ TextPart::Who(_) => self.0.push(who),
            }
        }
        self
    }

    /// The peer, or other words if it is not known.
    #[must_use]
    pub fn peer(peer: Option<PartyId>, otherwise: &'static str) -> Self {
        peer.map_or_else(|| Self::new().words(otherwise), |peer| Self::new().who(peer))
    }

    /// Several members, as "a, b and c".
    #[must_use]
    pub fn all(members: &[PartyId]) -> Self {
        members.iter().enumerate().fold(Self::new(), |text, (i, member)| {
            let before = match i {
                0 => "",
                _ if i + 1 == members.len() => " and ",
                _ => ", ",
            };
            text.words(before).who(*member)
        })
    }

    /// A template of the table with values for its placeholders. A placeholder without a value is
    /// left unchanged.
    pub(crate) fn filled(template: &'static str, places: &[(&'static str, Text)]) -> Self {
        let (mut text, mut rest) = (Self::new(), template);
        while let Some((before, name, after)) = place(rest) {
            text.push(before.into());
            text = match places.iter().find(|(known, _)| *known == name) {
                Some((_, filling)) => text.text(filling.clone()),
                None => text.words(format_args!("{{{name}}}")),
            };
            rest = after;
        }
        text.push(rest.into());
        text
    }

    /// Whether the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members in the text.
    pub fn members(&self) -> impl Iterator<Item = &Who> {
        self.0.iter().filter_map(|part| match part {
            TextPart::Who(who) => Some(who),
            TextPart::Words(_) => None,
        })
    }

    /// Gives members the names that `names` knows for their numbers.
    #[must_use]
    pub fn with_names(self, names: &dyn Fn(PartyId) -> Option<String>) -> Self {
        let named = |part| match part {
            TextPart::Who(who) => TextPart::Who(who.with_names(names)),
            words @ TextPart::Words(_) => words,
        };
        Self(self.0.into_iter().map(named).collect())
    }

    /// The text in the form for people.
    #[must_use]
    pub fn written(&self) -> String {
        self.0.iter().fold(String::new(), |mut text, part| {
            match part {
                TextPart::Words(words) => text += words,
                TextPart::Who(who) => text += &printable(&who.to_string()),
            }
            text
        })
    }

    /// Appends words that are safe to show. Empty words add no part.
    fn push(&mut self, words: Cow<'static, str>) {
        match self.0.last_mut() {
            _ if words.is_empty() => {}
            Some(TextPart::Words(last)) => last.to_mut().push_str(&words),
            _ => self.0.push(TextPart::Words(words)),
        }
    }
}

/// The first placeholder of a template: the text before it, its name, and the text after it.
pub(crate) fn place(template: &'static str) -> Option<(&'static str, &'static str, &'static str)> {
    let (before, rest) = template.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

impl From<&str> for Text {
    fn from(words: &str) -> Self {
        Self::new().words(words)
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        Self::new().words(words)
    }
}

impl From<&String> for Text {
    fn from(words: &String) -> Self {
        Self::new().words(words)
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(words: Cow<'_, str>) -> Self {
        Self::new().words(words)
    }
}

impl From<PartyId> for Text {
    fn from(id: PartyId) -> Self {
        Self::new().who(id)
    }
}

impl From<Who> for Text {
    fn from(who: Who) -> Self {
        Self::new().who(who)
    }
}

/// A [`Text`], or any value that can be displayed as words.
pub trait IntoText {
    /// Converts the value to a text.
    fn into_text(self) -> Text;
}

impl IntoText for Text {
    fn into_text(self) -> Text {
        self
    }
}

impl<T: fmt::Display> IntoText for T {
    fn into_text(self) -> Text {
        Text::new().words(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_once() {
        let places = [("peer", PartyId(1).into()), ("what", "{peer}\n".into())];
        let text = Text::filled("{peer}: {what} of {unknown}", &places);
        assert_eq!(text.written(), "party 1: {peer}\\n of {unknown}");
        assert_eq!(text.members().count(), 1);
    }

    #[test]
    fn several_members_read_as_a_list() {
        let list = |ids: &[u8]| Text::all(&ids.iter().copied().map(PartyId).collect::<Vec<_>>()).written();
        assert_eq!(list(&[0]), "party 0");
        assert_eq!(list(&[0, 1]), "party 0 and party 1");
        assert_eq!(list(&[0, 1, 129]), "party 0, party 1 and client 129");
    }

    /// Some clients look like numbers on the wire: the numbers of `130` and `bob` are 129 and 130.
    #[test]
    fn a_name_that_looks_like_a_number_is_not_taken_for_one() {
        let clients = ["130", "bob", "131x"];
        let name = |id: PartyId| {
            let at = usize::from(id.0.checked_sub(PartyId::FIRST_CLIENT + 1)?);
            clients.get(at).map(|name| format!("client {name}"))
        };
        for (ids, wanted) in [
            (&[129][..], "client 130"),
            (&[130, 129, 131], "client bob, client 130 and client 131x"),
            (&[132, 128, 1], "client 132, owner and party 1"),
        ] {
            let ids: Vec<_> = ids.iter().copied().map(PartyId).collect();
            let named = Text::all(&ids).with_names(&name);
            assert_eq!(named.written(), wanted);
            assert_eq!(named.with_names(&name).written(), wanted, "names are no numbers");
        }
    }
}
