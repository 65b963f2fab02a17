//! Macros for implementations of [`Machine`] that types share: behind the gate, or delegated to a
//! field.

use crate::machine::{Machine, With};

/// Implements [`Machine`](crate::drive::Machine) for a type that holds one, by delegating every
/// call to it.
///
/// ```
/// use hushwire_machine::{NetError, drive::{Line, Machine}, passed_on};
///
/// struct Shown<'a>(Line<'a, u8, NetError>);
/// passed_on!(['a] Shown<'a>, NetError, self => self.0);
///
/// let one = Shown(Line::new(|talk| async move { Ok(talk.exchange("one", vec![7], 1).await[0]) }));
/// assert_eq!(one.round(0).map(|round| round.out), Some(1));
/// ```
#[macro_export]
macro_rules! passed_on {
    ([$($parameters:tt)*] $holder:ty, $error:ty, $self:ident => $machine:expr) => {
        impl<$($parameters)*> $crate::drive::Machine for $holder {
            type Error = $error;
            fn slots(&$self) -> usize {
                $crate::drive::Machine::slots(&$machine)
            }
            fn round(&$self, slot: usize) -> Option<$crate::drive::Round> {
                $crate::drive::Machine::round(&$machine, slot)
            }
            fn write(&mut $self, slot: usize, out: &mut [u8]) -> Result<(), $error> {
                $crate::drive::Machine::write(&mut $machine, slot, out)
            }
            fn hand(
                &mut $self,
                slot: usize,
                out: &mut $crate::drive::Buffer,
                bytes: usize,
            ) -> Result<(), $error> {
                $crate::drive::Machine::hand(&mut $machine, slot, out, bytes)
            }
            fn read(&mut $self, messages: &[$crate::drive::Exchanged<'_>]) -> Result<(), $error> {
                $crate::drive::Machine::read(&mut $machine, messages)
            }
            fn take(
                &mut $self,
                own: &mut [$crate::drive::Message],
                heard: &mut [$crate::drive::Buffer],
            ) -> Result<(), $error> {
                $crate::drive::Machine::take(&mut $machine, own, heard)
            }
            fn upcoming(&$self) -> Option<$crate::drive::Round> {
                $crate::drive::Machine::upcoming(&$machine)
            }
            fn turn(
                &mut $self,
                messages: &[$crate::drive::Exchanged<'_>],
                out: &mut [u8],
            ) -> Result<(), $error> {
                $crate::drive::Machine::turn(&mut $machine, messages, out)
            }
            fn cost(&$self) -> Option<$crate::Cost> {
                $crate::drive::Machine::cost(&$machine)
            }
        }
    };
}

/// Implements [`Machine`](crate::drive::Machine) for a type with one slot, behind the gate. All
/// calls of the protocol pass through the gate.
///
/// The type has these private functions, of its own or of a private trait:
///
/// ```text
/// latch(&self) -> &Latch                         its field
/// exchange(&self) -> Option<Round>               the next round; None when the protocol is done
/// say(&mut self, &mut [u8]) -> Result            writes this round's message
/// hear(&mut self, Exchanged) -> Result           takes the round's messages, and goes on to the
///                                                next
///
/// and with `fused`, if `exchange` gives the next round as soon as a message is made
/// answer(&mut self, Exchanged, &mut [u8]) -> Result    receives, and writes the next message
/// ```
///
/// Other functions of the trait may follow:
///
/// ```
/// use hushwire_machine::{Cost, NetError, gated};
/// use hushwire_machine::drive::{Exchanged, Latch, Machine, Misstep, Round};
///
/// struct Greeting { heard: Option<u8>, latch: Latch }
///
/// impl Greeting {
///     fn latch(&self) -> &Latch {
///         &self.latch
///     }
///     fn exchange(&self) -> Option<Round> {
///         self.heard.is_none().then_some(Round::even("greeting", 1))
///     }
///     fn say(&mut self, out: &mut [u8]) -> Result<(), NetError> {
///         out[0] = 7;
///         Ok(())
///     }
///     fn hear(&mut self, message: Exchanged<'_>) -> Result<(), NetError> {
///         self.heard = Some(message.heard[0]);
///         Ok(())
///     }
/// }
///
/// gated!([] Greeting, NetError;
///     fn cost(&self) -> Option<Cost> {
///         Some(Cost { rounds: 1, bytes_sent: 1 })
///     }
/// );
///
/// let mut greeting = Greeting { heard: None, latch: Latch::new() };
/// greeting.write(0, &mut [0])?;
/// assert!(greeting.read(&[Exchanged::heard(&[])]).is_err() && greeting.heard.is_none());
/// let again = greeting.read(&[Exchanged::heard(&[7])]);
/// assert!(matches!(again, Err(NetError::Misstep(Misstep::Lost { step: "greeting" }))));
/// # Ok::<(), NetError>(())
/// ```
#[macro_export]
macro_rules! gated {
    (fused [$($parameters:tt)*] $type:ty, $error:ty; $($more:tt)*) => {
        $crate::gated!([$($parameters)*] $type, $error;
            fn upcoming(&self) -> Option<$crate::drive::Round> {
                self.exchange()
            }
            fn turn(
                &mut self,
                messages: &[$crate::drive::Exchanged<'_>],
                out: &mut [u8],
            ) -> Result<(), $error> {
                if self.latch().silent(|| self.exchange())? {
                    $crate::drive::Machine::write(self, 0, &mut [])?;
                }
                let Some(next) = self.exchange() else {
                    $crate::drive::Machine::read(self, messages)?;
                    return $crate::drive::Machine::write(self, 0, out);
                };
                let Some(message) = self.latch().hear(messages)? else { return Ok(()) };
                self.latch().buffer(next.name, out.len(), next.out)?;
                self.answer(message, out)?;
                self.latch().spoken(next);
                Ok(())
            }
            $($more)*
        );
    };
    ([$($parameters:tt)*] $type:ty, $error:ty; $($more:tt)*) => {
        impl<$($parameters)*> $crate::drive::Machine for $type {
            type Error = $error;

            fn round(&self, _slot: usize) -> Option<$crate::drive::Round> {
                self.latch().round(|| self.exchange())
            }
            fn write(&mut self, _slot: usize, out: &mut [u8]) -> Result<(), $error> {
                let Some(round) = self.latch().speak(|| self.exchange(), out.len())? else { return Ok(()) };
                self.say(out)?;
                self.latch().spoken(round);
                Ok(())
            }
            fn read(&mut self, messages: &[$crate::drive::Exchanged<'_>]) -> Result<(), $error> {
                if self.latch().silent(|| self.exchange())? {
                    $crate::drive::Machine::write(self, 0, &mut [])?;
                }
                let Some(message) = self.latch().hear(messages)? else { return Ok(()) };
                self.hear(message)?;
                self.latch().heard();
                Ok(())
            }
            $($more)*
        }
    };
}

passed_on!([M: Machine + ?Sized] &mut M, M::Error, self => (**self));
passed_on!([M: Machine + ?Sized] Box<M>, M::Error, self => (**self));
passed_on!([M: Machine, T] With<M, T>, M::Error, self => self.machine);
