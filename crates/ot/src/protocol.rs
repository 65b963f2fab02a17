//! Extensions by name, and the drivers of their set-ups. An [`Opening`] runs base OTs of the
//! level's default protocol, then the trees of the rows, and for Ferret its bootstrap.

use core::{fmt, str::FromStr};

use hushwire_block::Block;
use hushwire_machine::{Channel, drive::Line, passed_on};
use hushwire_prg::Seed;

use crate::{
    AtLeast, Context, Driver, Extension, Level, OtError, Receiver, Security, Sender,
    base::BaseProtocol,
    ferret::{self, Set},
    rows::{self, RowKind},
};

/// An OT extension.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Protocol {
    /// IKNP in the form of ALSZ13; semi-honest.
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
    /// Ferret with its smallest set, b9.
    FerretB9,
    /// Ferret with set b10.
    FerretB10,
    /// Ferret with set b11.
    FerretB11,
    /// Ferret with set b12.
    FerretB12,
    /// Ferret with its largest set: the fewest bytes.
    FerretB13,
}

/// The core of a protocol: its rows, and the set if it is Ferret.
#[derive(Clone, Copy)]
pub(crate) enum Core {
    Rows(RowKind),
    /// A set of Ferret, over rows of this kind.
    Ferret(Set, RowKind),
}

impl Core {
    /// The rows of the protocol, or those below it.
    fn rows(&self) -> RowKind {
        let (Core::Rows(kind) | Core::Ferret(_, kind)) = *self;
        kind
    }
}

/// AGREEMENT: the rows from which Ferret starts.
const FERRET_ROWS: RowKind = RowKind::SoftSpoken4;

impl Protocol {
    /// All protocols, the oldest first.
    pub const ALL: [Protocol; 11] = [
        Protocol::Iknp,
        Protocol::Alsz,
        Protocol::Kos,
        Protocol::SoftSpoken2,
        Protocol::SoftSpoken4,
        Protocol::SoftSpoken8,
        Protocol::FerretB9,
        Protocol::FerretB10,
        Protocol::FerretB11,
        Protocol::FerretB12,
        Protocol::FerretB13,
    ];

    /// The name that users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Protocol::FerretB9 => "ferret-b9",
            Protocol::FerretB10 => "ferret-b10",
            Protocol::FerretB11 => "ferret-b11",
            Protocol::FerretB12 => "ferret-b12",
            Protocol::FerretB13 => "ferret-b13",
            Protocol::Iknp => RowKind::Iknp.name(),
            Protocol::Alsz => RowKind::Alsz.name(),
            Protocol::Kos => RowKind::Kos.name(),
            Protocol::SoftSpoken2 => RowKind::SoftSpoken2.name(),
            Protocol::SoftSpoken4 => RowKind::SoftSpoken4.name(),
            Protocol::SoftSpoken8 => RowKind::SoftSpoken8.name(),
        }
    }

    /// Whether the protocol exists at this level.
    #[must_use]
    pub fn supports(self, level: Level) -> bool {
        self.core().rows().supports(level).is_ok()
    }

    pub(crate) fn core(self) -> Core {
        match self {
            Protocol::Iknp => Core::Rows(RowKind::Iknp),
            Protocol::Alsz => Core::Rows(RowKind::Alsz),
            Protocol::Kos => Core::Rows(RowKind::Kos),
            Protocol::SoftSpoken2 => Core::Rows(RowKind::SoftSpoken2),
            Protocol::SoftSpoken4 => Core::Rows(RowKind::SoftSpoken4),
            Protocol::SoftSpoken8 => Core::Rows(RowKind::SoftSpoken8),
            Protocol::FerretB9 => Core::Ferret(ferret::B9, FERRET_ROWS),
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

/// The set-up of one endpoint, a [`Machine`](crate::Machine): base OTs of the level's default
/// protocol and trees, then Ferret's bootstrap if there is one.
///
/// `context` is agreed, and no other set-up uses it. If both parties are senders, each direction
/// must have a child context of its own; otherwise a corrupted party could reflect an honest
/// party's messages. `seed` is this party's secret randomness, for this endpoint alone.
#[must_use = "run its steps, then finish"]
pub struct Opening<S: Security> {
    context: Context,
    line: Line<'static, Box<dyn Extension<S>>, OtError>,
}

passed_on!([S: Security] Opening<S>, OtError, self => self.line);

impl<S: Security> Opening<S> {
    /// The sender's set-up.
    ///
    /// # Errors
    /// The protocol does not exist at this level.
    pub fn sender(context: &Context, protocol: Protocol, seed: &Seed) -> Result<Self, OtError> {
        Self::sender_of::<S::DefaultBase>(context, protocol.core(), seed)
    }

    /// The same, over the base OTs `B`.
    pub(crate) fn sender_of<B>(context: &Context, core: Core, seed: &Seed) -> Result<Self, OtError>
    where
        B: BaseProtocol<Level: AtLeast<S::Base>>,
    {
        let (part, kind) = (context.child("rows", 0), core.rows());
        let rows = rows::SetupSender::<S>::new::<B>(&part, kind, &seed.derive("ot rows", &[]))?;
        Ok(Self::sender_on(rows, context, core, seed))
    }

    /// The sender's set-up with the caller's Δ, whose bit 0 is taken as 1, so that one Δ can serve
    /// towards several peers.
    ///
    /// # Errors
    /// The same as for [`Opening::sender`]; ALSZ takes no Δ.
    pub fn sender_with(
        context: &Context,
        protocol: Protocol,
        seed: &Seed,
        delta: Block,
    ) -> Result<Self, OtError> {
        let (part, core) = (context.child("rows", 0), protocol.core());
        let (kind, seed_of_rows) = (core.rows(), seed.derive("ot rows", &[]));
        let rows = rows::SetupSender::<S>::with_delta::<S::DefaultBase>(&part, kind, &seed_of_rows, delta)?;
        Ok(Self::sender_on(rows, context, core, seed))
    }

    fn sender_on(mut rows: rows::SetupSender<S>, context: &Context, core: Core, seed: &Seed) -> Self {
        let (part, seed) = (context.child("ferret", 0), seed.derive("ot ferret", &context.sid.0));
        let line = Line::new(move |talk| async move {
            talk.run(&mut rows).await?;
            let rows = rows.finish().fork(0);
            let Core::Ferret(set, _) = core else { return Ok(rows) };
            let mut boot = ferret::SenderBoot::new(&part, set, rows, &seed);
            talk.run(&mut boot).await?;
            Ok(Box::new(boot.finish()) as Box<dyn Extension<S>>)
        });
        Opening { context: *context, line }
    }

    /// The receiver's set-up.
    ///
    /// # Errors
    /// The same as for [`Opening::sender`].
    pub fn receiver(context: &Context, protocol: Protocol, seed: &Seed) -> Result<Self, OtError> {
        Self::receiver_of::<S::DefaultBase>(context, protocol.core(), seed)
    }

    /// The same, over the base OTs `B`.
    pub(crate) fn receiver_of<B>(context: &Context, core: Core, seed: &Seed) -> Result<Self, OtError>
    where
        B: BaseProtocol<Level: AtLeast<S::Base>>,
    {
        let part = context.child("rows", 0);
        let seed = seed.derive("ot rows", &[]);
        let mut rows = rows::SetupReceiver::<S>::new::<B>(&part, core.rows(), &seed)?;
        let part = context.child("ferret", 0);
        let line = Line::new(move |talk| async move {
            talk.run(&mut rows).await?;
            let rows = rows.finish().fork(0);
            let Core::Ferret(set, _) = core else { return Ok(rows) };
            let mut boot = ferret::ReceiverBoot::new(&part, set, rows);
            talk.run(&mut boot).await?;
            Ok(Box::new(boot.finish()) as Box<dyn Extension<S>>)
        });
        Ok(Opening { context: *context, line })
    }

    pub(crate) fn extension(self) -> Box<dyn Extension<S>> {
        self.line.finish()
    }

    /// The sender's endpoint, after the last round.
    ///
    /// # Panics
    /// If rounds are left, or this is the receiver's set-up (the caller's bug).
    #[must_use]
    pub fn into_sender(self) -> Sender<S> {
        Sender::new(&self.context.clone(), self.extension())
    }

    /// The receiver's endpoint, after the last round.
    ///
    /// # Panics
    /// If rounds are left, or this is the sender's set-up (the caller's bug).
    #[must_use]
    pub fn into_receiver(self) -> Receiver<S> {
        Receiver::new(&self.context.clone(), self.extension())
    }
}

/// Runs [`Opening::sender`] over a channel.
///
/// # Errors
/// The protocol does not exist at this level, or a check or the channel failed.
pub fn open_sender<S: Security>(
    driver: &mut Driver,
    channel: &mut Channel,
    context: &Context,
    protocol: Protocol,
    seed: &Seed,
) -> Result<Sender<S>, OtError> {
    let mut opening = Opening::sender(context, protocol, seed)?;
    driver.run(channel, &mut opening)?;
    Ok(opening.into_sender())
}

/// Runs [`Opening::receiver`] over a channel.
///
/// # Errors
/// The same as for [`open_sender`].
pub fn open_receiver<S: Security>(
    driver: &mut Driver,
    channel: &mut Channel,
    context: &Context,
    protocol: Protocol,
    seed: &Seed,
) -> Result<Receiver<S>, OtError> {
    let mut opening = Opening::receiver(context, protocol, seed)?;
    driver.run(channel, &mut opening)?;
    Ok(opening.into_receiver())
}
