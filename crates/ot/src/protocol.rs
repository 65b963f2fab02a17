//! Extensions by name, and the drivers of their set-ups.

use core::{fmt, str::FromStr};

use hushwire_block::Block;
use hushwire_machine::Channel;
use hushwire_prg::Seed;

use crate::{
    AtLeast, Context, Driver, Exchanged, Extension, Level, Machine, OtError, Receiver, Round, Security,
    Sender,
    base::BaseProtocol,
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

/// The core that a protocol stands on.
#[derive(Clone, Copy)]
pub(crate) enum Core {
    Rows(Kind),
    /// A set, over rows of this kind.
    Ferret(Set, Kind),
}

impl Core {
    /// The rows that it is, or stands on.
    fn rows(&self) -> Kind {
        let (Core::Rows(kind) | Core::Ferret(_, kind)) = *self;
        kind
    }
}

/// AGREEMENT: the rows that Ferret starts from.
const FERRET_ROWS: Kind = Kind::SoftSpoken4;

impl Protocol {
    /// All, in the order of the seed's table and of their age.
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

    /// As users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Protocol::FerretB9 => "ferret-b9",
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
        self.core().rows().supports(level).is_ok()
    }

    pub(crate) fn core(self) -> Core {
        match self {
            Protocol::Iknp => Core::Rows(Kind::Iknp),
            Protocol::Alsz => Core::Rows(Kind::Alsz),
            Protocol::Kos => Core::Rows(Kind::Kos),
            Protocol::SoftSpoken2 => Core::Rows(Kind::SoftSpoken2),
            Protocol::SoftSpoken4 => Core::Rows(Kind::SoftSpoken4),
            Protocol::SoftSpoken8 => Core::Rows(Kind::SoftSpoken8),
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

/// The set-up of one end, a [`Machine`]: base OTs of the level's default protocol and trees, then Ferret's bootstrap where
/// there is one.
///
/// `context` is agreed and of no other set-up: where both parties are senders, each direction has a child of its own,
/// or a corrupt party could send an honest one its own messages back. `seed` is this party's secret randomness, for this
/// end alone.
#[must_use = "run its steps, then finish"]
pub struct Opening<S: Security> {
    context: Context,
    stage: Option<Box<dyn Stage<S>>>,
    /// Makes what stands on the rows, if anything does.
    boot: Option<Boot<S>>,
}

type Boot<S> = Box<dyn FnOnce(Box<dyn Extension<S>>) -> Box<dyn Stage<S>> + Send>;

/// A part of a set-up, which ends in an extension.
trait Stage<S: Security>: Machine<Error = OtError> + Send {
    fn extension(self: Box<Self>) -> Box<dyn Extension<S>>;
}

impl<S: Security> Stage<S> for rows::SetupSender<S> {
    fn extension(self: Box<Self>) -> Box<dyn Extension<S>> {
        self.finish().fork(0)
    }
}

impl<S: Security> Stage<S> for rows::SetupReceiver<S> {
    fn extension(self: Box<Self>) -> Box<dyn Extension<S>> {
        self.finish().fork(0)
    }
}

impl<S: Security> Stage<S> for ferret::SenderBoot<S> {
    fn extension(self: Box<Self>) -> Box<dyn Extension<S>> {
        Box::new(self.finish())
    }
}

impl<S: Security> Stage<S> for ferret::ReceiverBoot<S> {
    fn extension(self: Box<Self>) -> Box<dyn Extension<S>> {
        Box::new(self.finish())
    }
}

impl<S: Security> Opening<S> {
    /// The sender's.
    ///
    /// # Errors
    /// The protocol does not exist at this level.
    pub fn sender(context: &Context, protocol: Protocol, seed: &Seed) -> Result<Self, OtError> {
        Self::sender_of::<S::DefaultBase>(context, protocol.core(), seed)
    }

    /// The same over base OTs `B`.
    pub(crate) fn sender_of<B>(context: &Context, core: Core, seed: &Seed) -> Result<Self, OtError>
    where
        B: BaseProtocol<Level: AtLeast<S::Base>>,
    {
        let (part, kind) = (context.child("rows", 0), core.rows());
        let rows = rows::SetupSender::<S>::new::<B>(&part, kind, &seed.derive("ot rows", &[]))?;
        Ok(Self::sender_on(rows, context, core, seed))
    }

    /// The sender's, with a Δ of the caller's, of which bit 0 is taken as 1: one towards several peers.
    ///
    /// # Errors
    /// As [`Opening::sender`]; ALSZ takes no Δ.
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

    fn sender_on(rows: rows::SetupSender<S>, context: &Context, core: Core, seed: &Seed) -> Self {
        let seed = seed.derive("ot ferret", &context.sid.0);
        Self::on(Box::new(rows), context, core, move |part, set, rows| {
            Box::new(ferret::SenderBoot::new(part, set, rows, &seed))
        })
    }

    /// The receiver's.
    ///
    /// # Errors
    /// As [`Opening::sender`].
    pub fn receiver(context: &Context, protocol: Protocol, seed: &Seed) -> Result<Self, OtError> {
        Self::receiver_of::<S::DefaultBase>(context, protocol.core(), seed)
    }

    /// The same over base OTs `B`.
    pub(crate) fn receiver_of<B>(context: &Context, core: Core, seed: &Seed) -> Result<Self, OtError>
    where
        B: BaseProtocol<Level: AtLeast<S::Base>>,
    {
        let (part, kind) = (context.child("rows", 0), core.rows());
        let rows = rows::SetupReceiver::<S>::new::<B>(&part, kind, &seed.derive("ot rows", &[]))?;
        Ok(Self::on(Box::new(rows), context, core, |part, set, rows| {
            Box::new(ferret::ReceiverBoot::new(part, set, rows))
        }))
    }

    fn on(
        rows: Box<dyn Stage<S>>,
        context: &Context,
        core: Core,
        boot: impl FnOnce(&Context, Set, Box<dyn Extension<S>>) -> Box<dyn Stage<S>> + Send + 'static,
    ) -> Self {
        let part = context.child("ferret", 0);
        let boot: Option<Boot<S>> = match core {
            Core::Rows(_) => None,
            Core::Ferret(set, _) => Some(Box::new(move |rows| boot(&part, set, rows))),
        };
        Opening { context: *context, stage: Some(rows), boot }
    }

    pub(crate) fn extension(self) -> Box<dyn Extension<S>> {
        assert!(self.round(0).is_none(), "finish comes after the last round");
        self.stage.expect("one stage follows the other").extension()
    }

    /// The sender's end, when there is no round any more.
    ///
    /// # Panics
    /// If rounds are left, or it is the receiver's (the caller's bug).
    #[must_use]
    pub fn into_sender(self) -> Sender<S> {
        Sender::new(&self.context.clone(), self.extension())
    }

    /// The receiver's end, when there is no round any more.
    ///
    /// # Panics
    /// If rounds are left, or it is the sender's (the caller's bug).
    #[must_use]
    pub fn into_receiver(self) -> Receiver<S> {
        Receiver::new(&self.context.clone(), self.extension())
    }
}

impl<S: Security> Machine for Opening<S> {
    type Error = OtError;

    fn round(&self, slot: usize) -> Option<Round> {
        self.stage.as_ref().and_then(|stage| stage.round(slot))
    }

    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), OtError> {
        self.stage.iter_mut().try_for_each(|stage| stage.write(slot, out))
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), OtError> {
        self.stage.iter_mut().try_for_each(|stage| stage.read(messages))?;
        if self.round(0).is_none()
            && let Some(boot) = self.boot.take()
        {
            self.stage = self.stage.take().map(|rows| boot(rows.extension()));
        }
        Ok(())
    }
}

/// [`Opening::sender`] over a channel.
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
    let mut opening = Opening::sender(context, protocol, seed)?;
    driver.run(channel, &mut opening)?;
    Ok(opening.into_sender())
}

/// [`Opening::receiver`] over a channel.
///
/// # Errors
/// As [`open_sender`].
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
