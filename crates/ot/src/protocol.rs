//! Extensions by name, and the drivers of their set-ups.

use core::{fmt, str::FromStr};

use hushwire_prg::Seed;
use hushwire_wire::Channel;

use crate::{
    Context, Driver, Extension, Level, OtError, Receiver, Security, Sender,
    ferret::{self, Set},
    rows::{self, Kind},
};

/// An OT extension.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Protocol {
    /// IKNP as ALSZ13 has it; semi-honest.
    Iknp,
    /// ALSZ15; malicious.
    Alsz,
    /// IKNP with the corrected KOS check; malicious.
    Kos,
    /// SoftSpoken with trees of 4 leaves.
    SoftSpoken2,
    /// SoftSpoken with trees of 16 leaves.
    SoftSpoken4,
    /// SoftSpoken with trees of 256 leaves.
    SoftSpoken8,
    /// Ferret with its smallest set.
    FerretB10,
    /// Ferret with set b11.
    FerretB11,
    /// Ferret with set b12.
    FerretB12,
    /// Ferret with its largest set: the fewest bytes.
    FerretB13,
}

/// The core that a protocol stands on.
pub(crate) enum Core {
    Rows(Kind),
    /// A set, over rows of this kind.
    Ferret(Set, Kind),
}

/// AGREEMENT: the rows that Ferret starts from.
const FERRET_ROWS: Kind = Kind::SoftSpoken4;

impl Protocol {
    /// All, in the order of the seed's table and of their age.
    pub const ALL: [Protocol; 10] = [
        Protocol::Iknp,
        Protocol::Alsz,
        Protocol::Kos,
        Protocol::SoftSpoken2,
        Protocol::SoftSpoken4,
        Protocol::SoftSpoken8,
        Protocol::FerretB10,
        Protocol::FerretB11,
        Protocol::FerretB12,
        Protocol::FerretB13,
    ];

    /// As users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Protocol::FerretB10 => "ferret-b10",
            Protocol::FerretB11 => "ferret-b11",
            Protocol::FerretB12 => "ferret-b12",
            Protocol::FerretB13 => "ferret-b13",
            Protocol::Iknp => Kind::Iknp.name(),
            Protocol::Alsz => Kind::Alsz.name(),
            Protocol::Kos => Kind::Kos.name(),
            Protocol::SoftSpoken2 => Kind::SoftSpoken2.name(),
            Protocol::SoftSpoken4 => Kind::SoftSpoken4.name(),
            Protocol::SoftSpoken8 => Kind::SoftSpoken8.name(),
        }
    }

    /// Whether it exists at this level.
    #[must_use]
    pub fn supports(self, level: Level) -> bool {
        match self.core() {
            Core::Rows(kind) | Core::Ferret(_, kind) => kind.supports(level).is_ok(),
        }
    }

    pub(crate) fn core(self) -> Core {
        match self {
            Protocol::Iknp => Core::Rows(Kind::Iknp),
            Protocol::Alsz => Core::Rows(Kind::Alsz),
            Protocol::Kos => Core::Rows(Kind::Kos),
            Protocol::SoftSpoken2 => Core::Rows(Kind::SoftSpoken2),
            Protocol::SoftSpoken4 => Core::Rows(Kind::SoftSpoken4),
            Protocol::SoftSpoken8 => Core::Rows(Kind::SoftSpoken8),
            Protocol::FerretB10 => Core::Ferret(ferret::B10, FERRET_ROWS),
            Protocol::FerretB11 => Core::Ferret(ferret::B11, FERRET_ROWS),
            Protocol::FerretB12 => Core::Ferret(ferret::B12, FERRET_ROWS),
            Protocol::FerretB13 => Core::Ferret(ferret::B13, FERRET_ROWS),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Protocol {
    type Err = OtError;

    fn from_str(name: &str) -> Result<Self, OtError> {
        Protocol::ALL.into_iter().find(|protocol| protocol.name() == name).ok_or_else(|| OtError::Unknown {
            name: name.to_owned(),
            known: Protocol::ALL.map(Protocol::name).join(", "),
        })
    }
}

/// Sets up the sender's end: base OTs of the level's default protocol, trees, and Ferret's bootstrap. `seed` is this
/// party's secret randomness, for this end alone.
///
/// `context` is agreed and of no other set-up: where both parties are senders, each direction has a child of its own,
/// or a corrupt party could send an honest one its own messages back.
///
/// # Errors
/// The protocol does not exist at this level, a check failed, or the channel did.
pub fn open_sender<S: Security>(
    driver: &mut Driver,
    channel: &mut Channel,
    context: &Context,
    protocol: Protocol,
    seed: &Seed,
) -> Result<Sender<S>, OtError> {
    let core = protocol.core();
    let (Core::Rows(kind) | Core::Ferret(_, kind)) = core;
    let part = context.child("rows", 0);
    let mut setup = rows::SetupSender::<S>::new::<S::DefaultBase>(&part, kind, &seed.derive("ot rows", &[]))?;
    driver.run(channel, &mut setup)?;
    let rows = setup.finish().fork(0);
    let extension: Box<dyn Extension<S>> = match core {
        Core::Rows(_) => rows,
        Core::Ferret(set, _) => {
            let part = context.child("ferret", 0);
            let mut boot =
                ferret::SenderBoot::new(&part, set, rows, &seed.derive("ot ferret", &context.sid.0));
            driver.run(channel, &mut boot)?;
            Box::new(boot.finish())
        }
    };
    Ok(Sender::new(context, extension))
}

/// Sets up the receiver's end; see [`open_sender`].
///
/// # Errors
/// As there.
pub fn open_receiver<S: Security>(
    driver: &mut Driver,
    channel: &mut Channel,
    context: &Context,
    protocol: Protocol,
    seed: &Seed,
) -> Result<Receiver<S>, OtError> {
    let core = protocol.core();
    let (Core::Rows(kind) | Core::Ferret(_, kind)) = core;
    let part = context.child("rows", 0);
    let mut setup =
        rows::SetupReceiver::<S>::new::<S::DefaultBase>(&part, kind, &seed.derive("ot rows", &[]))?;
    driver.run(channel, &mut setup)?;
    let rows = setup.finish().fork(0);
    let extension: Box<dyn Extension<S>> = match core {
        Core::Rows(_) => rows,
        Core::Ferret(set, _) => {
            let mut boot = ferret::ReceiverBoot::new(&context.child("ferret", 0), set, rows);
            driver.run(channel, &mut boot)?;
            Box::new(boot.finish())
        }
    };
    Ok(Receiver::new(context, extension))
}
