//! A failure: which member failed, during which step, why, and what the remedy is.
//!
//! A [`Fault`] has a code, whose texts are those of the table with placeholders filled in. Its
//! methods add the member that failed, the step, and the member to blame. It is written as `party 1
//! failed during STEP: CAUSE; REMEDY`.

use crate::{Code, Excuse, IntoText, Kind, PartyId, Text, TextPlace, Who, code};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt, io, path::Path};

/// A failure: something could not be read, or did not end well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fault(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Parts {
    code: Code,
    /// The member that failed. `None` if it is this program, and no other member takes part yet.
    who: Option<Who>,
    step: Step,
    cause: Text,
    remedy: Text,
    /// The values of the placeholders in the table's texts, by their names. A whole cause or remedy
    /// is not among them.
    fields: Vec<(Cow<'static, str>, Text)>,
    /// The member to blame, if it is known.
    peer: Option<Who>,
    consequence: bool,
    /// The only part of the failure that other members may be told.
    #[serde(skip)]
    tells: Excuse,
}

/// The step in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Step {
    text: Text,
    /// The place of the fault in a user's text, such as a query.
    place: Option<TextPlace>,
    /// Whether the text is a complete statement, such as "cannot write x". If so, "failed during"
    /// is not added.
    whole: bool,
}

impl Fault {
    /// A failure whose cause and remedy are those of the table, with these values for the
    /// placeholders. It has no step yet.
    #[must_use]
    pub fn of(code: Code, places: &[(&'static str, Text)]) -> Self {
        let entry = code.entry();
        let tells = match entry.kind {
            Kind::Usage => Excuse::Inputs,
            Kind::File => Excuse::Reading,
            Kind::Refused => Excuse::Unsafe,
            Kind::Internal | Kind::Network => Excuse::Other,
        };
        Self(Box::new(Parts {
            code,
            who: None,
            step: Step::default(),
            cause: Text::filled(entry.text, places),
            remedy: Text::filled(entry.remedy, places),
            fields: places
                .iter()
                .filter(|(name, _)| !matches!(*name, "cause" | "remedy"))
                .map(|(name, text)| (Cow::Borrowed(*name), text.clone()))
                .collect(),
            peer: None,
            consequence: false,
            tells,
        }))
    }

    /// [`Fault::of`] with words for all placeholders.
    #[must_use]
    pub fn filled(code: Code, places: &[(&'static str, &dyn fmt::Display)]) -> Self {
        let places: Vec<_> = places.iter().map(|(name, words)| (*name, words.into_text())).collect();
        Self::of(code, &places)
    }

    /// A failure with a code that covers many cases: its text is `{cause}`, and its remedy
    /// `{remedy}`.
    pub fn new(code: Code, step: impl IntoText, cause: impl IntoText, remedy: impl IntoText) -> Self {
        let places = [("cause", cause.into_text()), ("remedy", remedy.into_text())];
        Self::of(code, &places).at(step)
    }

    /// An invalid request.
    pub fn usage(step: impl IntoText, cause: impl IntoText, remedy: impl IntoText) -> Self {
        Self::new(code::REQUEST, step, cause, remedy)
    }

    /// A bug in Hushwire.
    pub fn internal(step: impl IntoText, cause: impl IntoText) -> Self {
        Self::new(code::BUG, step, cause, "please report this with the job")
    }

    /// A file that is invalid or cannot be used. `doing` is `read`, `write`, ….
    pub fn file(doing: &str, path: &Path, cause: impl IntoText, remedy: impl IntoText) -> Self {
        let (code, tells) = match doing {
            "write" => (code::WRITE, Excuse::Writing),
            "read" => (code::READ, Excuse::Reading),
            _ => (code::FILE, Excuse::Reading),
        };
        Self::new(code, format_args!("cannot {doing} {}", path.display()), cause, remedy)
            .whole()
            .telling(tells)
    }

    /// The operating system's refusal, with its remedy.
    #[must_use]
    pub fn io(doing: &str, path: &Path, source: &io::Error) -> Self {
        Self::file(doing, path, source, io_remedy(source))
    }

    /// Marks the step as a complete statement: "party 1 cannot write x" needs no "failed during".
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.0.step.whole = true;
        self
    }

    /// Changes the code, and so perhaps the kind. The texts stay the same, and so does the part
    /// that other members may be told.
    #[must_use]
    pub fn coded(mut self, code: Code) -> Self {
        self.0.code = code;
        self
    }

    /// Sets the part that other members may be told.
    #[must_use]
    pub fn telling(mut self, tells: Excuse) -> Self {
        self.0.tells = tells;
        self
    }

    /// Sets the peer to blame.
    #[must_use]
    pub fn blaming(mut self, peer: Option<PartyId>) -> Self {
        self.0.peer = peer.map(Who::from);
        self
    }

    /// Marks the failure as probably a consequence of another member's failure, whose error is more
    /// informative.
    #[must_use]
    pub fn following(mut self) -> Self {
        self.0.consequence = true;
        self
    }

    /// Names the member that failed, unless it is already known.
    #[must_use]
    pub fn by(mut self, who: impl Into<Who>) -> Self {
        self.0.who.get_or_insert_with(|| who.into());
        self
    }

    /// Removes the member that failed: the failure is this program's own.
    #[must_use]
    pub fn anonymous(mut self) -> Self {
        self.0.who = None;
        self
    }

    /// Sets the step, if there is none yet.
    #[must_use]
    pub fn during(mut self, step: impl IntoText) -> Self {
        if self.0.step.text.is_empty() {
            self.0.step.text = step.into_text();
        }
        self
    }

    /// Sets the place in a user's text, if there is none yet.
    #[must_use]
    pub fn placed(mut self, place: Option<TextPlace>) -> Self {
        self.0.step.place = self.0.step.place.or(place);
        self
    }

    /// Replaces the step.
    #[must_use]
    pub fn at(mut self, step: impl IntoText) -> Self {
        self.0.step.text = step.into_text();
        self
    }

    /// Adds words before the step, such as a file's name.
    #[must_use]
    pub fn within(mut self, words: impl fmt::Display) -> Self {
        let before = Text::new().words(words).words(", ");
        self.0.step.text = before.text(self.0.step.text);
        self
    }

    /// Adds words after the step.
    #[must_use]
    pub fn step_and(mut self, words: impl fmt::Display) -> Self {
        self.0.step.text = self.0.step.text.words(words);
        self
    }

    /// Replaces the cause.
    #[must_use]
    pub fn because(mut self, cause: impl IntoText) -> Self {
        self.0.cause = cause.into_text();
        self
    }

    /// Replaces the remedy.
    #[must_use]
    pub fn remedied(mut self, remedy: impl IntoText) -> Self {
        self.0.remedy = remedy.into_text();
        self
    }

    /// Gives members the names that `names` knows for their numbers. Only members change, never
    /// words.
    #[must_use]
    pub fn with_names(self, names: &dyn Fn(PartyId) -> Option<String>) -> Self {
        let Parts { code, who, step, cause, remedy, fields, peer, consequence, tells } = *self.0;
        let named = |(name, text): (_, Text)| (name, text.with_names(names));
        Self(Box::new(Parts {
            code,
            who: who.map(|who| who.with_names(names)),
            step: Step { text: step.text.with_names(names), ..step },
            cause: cause.with_names(names),
            remedy: remedy.with_names(names),
            fields: fields.into_iter().map(named).collect(),
            peer: peer.map(|peer| peer.with_names(names)),
            consequence,
            tells,
        }))
    }

    /// The code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.0.code.kind()
    }

    /// The member that failed.
    #[must_use]
    pub fn who(&self) -> Option<&Who> {
        self.0.who.as_ref()
    }

    /// The member to blame, if it is known.
    #[must_use]
    pub fn peer(&self) -> Option<&Who> {
        self.0.peer.as_ref()
    }

    /// The step in progress, with the place in a user's text if there is one.
    #[must_use]
    pub fn step(&self) -> String {
        let step = self.0.step.text.written();
        match self.0.step.place {
            None => step,
            Some(place) if step.is_empty() => place.to_string(),
            Some(place) => format!("{step}, {place}"),
        }
    }

    /// The place of the fault in a user's text, such as a query.
    #[must_use]
    pub fn place(&self) -> Option<TextPlace> {
        self.0.step.place
    }

    /// The values of the placeholders in the table's texts, by their names.
    pub fn fields(&self) -> impl Iterator<Item = (&str, String)> {
        self.0.fields.iter().map(|(name, text)| (&**name, text.written()))
    }

    /// The value of a placeholder in the table's texts: the column's name for `{column}`, for
    /// example.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<String> {
        let found = self.0.fields.iter().find(|(known, _)| known == name);
        found.map(|(_, text)| text.written())
    }

    /// The cause, as a clause.
    #[must_use]
    pub fn cause(&self) -> String {
        self.0.cause.written()
    }

    /// The cause, in which members are typed.
    #[must_use]
    pub fn cause_text(&self) -> Text {
        self.0.cause.clone()
    }

    /// The remedy, as a clause; empty if there is none.
    #[must_use]
    pub fn remedy(&self) -> String {
        self.0.remedy.written()
    }

    /// The remedy, in which members are typed.
    #[must_use]
    pub fn remedy_text(&self) -> Text {
        self.0.remedy.clone()
    }

    /// Whether the failure is probably a consequence of another member's failure, whose error is
    /// more informative.
    #[must_use]
    pub fn is_consequence(&self) -> bool {
        self.0.consequence
    }

    /// The only part of the failure that other members may be told.
    #[must_use]
    pub fn tells(&self) -> Excuse {
        self.0.tells
    }

    /// The cause, then the remedy, in which members are typed.
    #[must_use]
    pub fn clauses_text(&self) -> Text {
        let between = if self.0.remedy.is_empty() { "" } else { "; " };
        self.0.cause.clone().words(between).text(self.0.remedy.clone())
    }

    /// The cause, then the remedy, without the member and the step.
    #[must_use]
    pub fn clauses(&self) -> String {
        self.clauses_text().written()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = self.step();
        if let Some(who) = &self.0.who {
            let failed = if self.0.step.whole || step.is_empty() { "" } else { "failed during " };
            write!(f, "{who} {failed}")?;
        }
        let between = if step.is_empty() { "" } else { ": " };
        write!(f, "{step}{between}{}", self.clauses())
    }
}

impl std::error::Error for Fault {}

/// Whether this process, or the host, has run out of descriptors.
#[must_use]
pub fn out_of_descriptors(e: &io::Error) -> bool {
    // The errors EMFILE and ENFILE have these numbers on every system that has them.
    matches!(e.raw_os_error(), Some(24 | 23))
}

/// The remedy for a file that the operating system refused.
#[must_use]
pub fn io_remedy(source: &io::Error) -> &'static str {
    use io::ErrorKind as K;
    if out_of_descriptors(source) {
        return "allow this process more open files (`ulimit -n`), or take fewer threads";
    }
    match source.kind() {
        K::NotFound => "check the spelling and that its directory exists",
        K::PermissionDenied | K::ReadOnlyFilesystem => "check the permissions of it and of its directory",
        K::StorageFull | K::QuotaExceeded => {
            "free space on that disk, or name a file on another one; no part of it was kept"
        }
        K::FileTooLarge => {
            "allow larger files (`ulimit -f`), or name one on another disk; no part of it was kept"
        }
        K::IsADirectory => "name a file in it",
        K::NotADirectory => "name a directory, or move that file away",
        K::BrokenPipe => "the program that should read it has ended: look at its error, or name a file",
        _ => "see the system's log about that file or device",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_step_needs_no_failed_during() {
        let path = Path::new("x");
        let cannot = Fault::file("write", path, "it is full", "empty it").by(PartyId(1));
        assert_eq!(cannot.to_string(), "party 1 cannot write x: it is full; empty it");
        assert_eq!(
            (cannot.code(), cannot.kind(), cannot.tells()),
            (code::WRITE, Kind::File, Excuse::Writing)
        );
        // A step that merely begins with such words is not a complete statement.
        let step = Fault::new(code::READ, "cannot-do.toml, line 3", "it is odd", "").by(PartyId(1));
        assert_eq!(step.to_string(), "party 1 failed during cannot-do.toml, line 3: it is odd");
    }

    #[test]
    fn the_first_who_and_the_first_step_stay() {
        let fault = Fault::of(code::BUG, &[]).by(PartyId(0)).by(PartyId(1)).during("a").during("b");
        assert_eq!((fault.who().and_then(Who::id), fault.step()), (Some(PartyId(0)), "a".to_owned()));
    }

    #[test]
    fn names_reach_every_member_in_it() {
        let text = || Text::new().words("of ").who(PartyId(129));
        let fault =
            Fault::new(code::REQUEST, text(), text(), text()).by(PartyId(129)).blaming(Some(PartyId(129)));
        let named = fault.with_names(&|id| (id.0 == 129).then(|| "client 130".to_owned()));
        assert_eq!(named.to_string(), "client 130 failed during of client 130: of client 130; of client 130");
        assert_eq!(named.peer().map(ToString::to_string).as_deref(), Some("client 130"));
    }

    /// Members survive JSON between processes of one run.
    #[test]
    fn members_survive_a_trip_as_json() {
        let fault = Fault::of(code::STALLED, &[("peer", PartyId(129).into())]).by(Who::named("client bob"));
        let json = serde_json::to_string(&fault).unwrap_or_default();
        assert_eq!(serde_json::from_str::<Fault>(&json).ok(), Some(fault), "{json}");
        assert!(serde_json::from_str::<Fault>(&json.replace("HW0115", "HW9999")).is_err());
    }
}
