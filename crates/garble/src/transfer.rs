//! The OTs that bring the evaluator's inputs. Families with free XOR use correlated OTs, whose Δ is
//! the scheme's; PRF garbling uses random OTs.

use hushwire_block::Block;
use hushwire_ot::{Functionality, Receiving, SemiHonest, Sender, Sending};
use zeroize::Zeroize;

/// A kind of OT, as a scheme uses it. The receiver gets a block for each of its choices.
pub trait Transfer {
    /// The garbler's result of one OT.
    type Sent: Copy + Default + Zeroize + Send;

    /// The functionality under which its cost is declared.
    const FUNCTIONALITY: Functionality;

    /// The sender's call.
    fn send(sent: &mut [Self::Sent]) -> Sending<'_>;

    /// The results of [`Transfer::send`], taken back from a finished call.
    fn sent(call: Sending<'_>) -> &mut [Self::Sent];

    /// The receiver's call.
    fn receive<'w>(choices: &'w [u8], received: &'w mut [Block]) -> Receiving<'w>;

    /// The results of [`Transfer::receive`], taken back from a finished call.
    fn received(call: Receiving<'_>) -> &mut [Block];

    /// The scheme's Δ, if it is that of the OTs.
    fn delta(sender: &Sender<SemiHonest>) -> Option<Block>;
}

/// Correlated OTs: the garbler holds q, the evaluator t = q ⊕ bΔ, with the Δ of the scheme.
pub enum Correlated {}

/// Random OTs: the garbler holds two messages, the evaluator the one of its choice.
pub enum Pairs {}

impl Transfer for Correlated {
    type Sent = Block;
    const FUNCTIONALITY: Functionality = Functionality::Cot;

    fn send(sent: &mut [Block]) -> Sending<'_> {
        Sending::Cot(sent)
    }

    fn sent(call: Sending<'_>) -> &mut [Block] {
        if let Sending::Cot(sent) = call { sent } else { &mut [] }
    }

    fn receive<'w>(choices: &'w [u8], received: &'w mut [Block]) -> Receiving<'w> {
        Receiving::Cot { choices, t: received }
    }

    fn received(call: Receiving<'_>) -> &mut [Block] {
        if let Receiving::Cot { t, .. } = call { t } else { &mut [] }
    }

    fn delta(sender: &Sender<SemiHonest>) -> Option<Block> {
        Some(sender.delta())
    }
}

impl Transfer for Pairs {
    type Sent = [Block; 2];
    const FUNCTIONALITY: Functionality = Functionality::RotChosen;

    fn send(sent: &mut [[Block; 2]]) -> Sending<'_> {
        Sending::Rot { pairs: sent, chosen: true }
    }

    fn sent(call: Sending<'_>) -> &mut [[Block; 2]] {
        if let Sending::Rot { pairs, .. } = call { pairs } else { &mut [] }
    }

    fn receive<'w>(choices: &'w [u8], received: &'w mut [Block]) -> Receiving<'w> {
        Receiving::RotChosen { choices, messages: received }
    }

    fn received(call: Receiving<'_>) -> &mut [Block] {
        if let Receiving::RotChosen { messages, .. } = call { messages } else { &mut [] }
    }

    fn delta(_: &Sender<SemiHonest>) -> Option<Block> {
        None
    }
}
