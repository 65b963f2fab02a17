//! Whole sessions over every transport: fresh keys, several lanes in flight, openings, measured
//! cost.

use hushwire_aes::{Aes128, Backend};
use hushwire_machine::drive::{Driver, Lane, Work, pipeline};
use hushwire_machine::{Channel, Meter, Net, NetError, SessionId};
use hushwire_prg::Seed;
use hushwire_rep3::{
    Addition, AesBlocks, Batch, ExpandedKeys, KeyExpansion, KeySize, Output, Rep3Party, Role, Sbox, Shares,
    Workspace, cost, expansion_cost, open, share,
};
use hushwire_testkit::{Transport, noise, prg, run_three};
use std::sync::Arc;

/// The channel of the ring that runs against the direction of products.
fn back(role: Role, net: &mut Net) -> Channel {
    net.channel(0, Some(role.right().id()), Some(role.left().id())).unwrap()
}

fn party(role: Role, back: &mut Channel) -> Rep3Party {
    Rep3Party::open(role, Backend::best(), SessionId([9; 16]), Seed::random(), back).unwrap()
}

/// The bytes that this party learns when a value is opened to some parties.
fn revealed(batch: &Batch, back: &mut Channel, learns: [bool; 3], shares: &Shares) -> Vec<u8> {
    let mut reveal = batch.reveal(&[Output { learns, bytes: shares.len(), addition: Addition::Xor }], shares);
    Driver::new().run(back, &mut reveal).unwrap();
    reveal.finish().to_vec()
}

/// The channel of lane `lane` in the direction of products.
fn ring(role: Role, net: &mut Net, lane: u16) -> Channel {
    net.channel(lane, Some(role.left().id()), Some(role.right().id())).unwrap()
}

/// `chunks` batches of `blocks` blocks.
struct Batches {
    party: Rep3Party,
    sbox: Sbox,
    keys: Arc<ExpandedKeys>,
    input: Shares,
    blocks: usize,
    chunks: usize,
    begun: usize,
    own: Vec<u8>,
    spare: Vec<Workspace>,
}

impl Work<AesBlocks> for Batches {
    type Error = NetError;

    fn next(&mut self) -> Result<Option<AesBlocks>, NetError> {
        if self.begun == self.chunks {
            return Ok(None);
        }
        let range = 16 * self.blocks * self.begun..16 * self.blocks * (self.begun + 1);
        let input =
            Shares { own: self.input.own[range.clone()].to_vec(), next: self.input.next[range].to_vec() };
        let cx = self.party.next_batch().unwrap().context();
        self.begun += 1;
        let ws = self.spare.pop().unwrap_or_default();
        Ok(Some(AesBlocks::new(self.sbox, cx, self.keys.clone(), &input, ws)))
    }

    fn done(&mut self, run: AesBlocks) -> Result<(), NetError> {
        self.own.extend_from_slice(run.own());
        self.spare.push(run.into_workspace());
        Ok(())
    }
}

/// Encrypts `chunks × blocks` blocks on `lanes` lanes of one thread per party, and compares the
/// result with plain AES.
fn encrypt_over(
    transport: Transport,
    sbox: Sbox,
    lanes: u16,
    blocks: usize,
    chunks: usize,
    buffer: Option<usize>,
) {
    let (key, input) = (noise(1, 16), noise(2, 16 * blocks * chunks));
    let key_shares = share(&mut prg(1, "key"), &key);
    let input_shares = share(&mut prg(2, "input"), &input);
    let own = run_three(transport, lanes, buffer, |role, mut net| {
        let mut party = party(role, &mut back(role, &mut net));
        let meter = Meter::new();
        let mut first = ring(role, &mut net, 0);
        first.tap(meter.tap());
        let mut first = Lane::new(first);
        let key = key_shares[role.index()].clone();
        let expansion = KeyExpansion::new(
            KeySize::Aes128,
            sbox,
            party.next_batch().unwrap().context(),
            &key,
            Workspace::default(),
        )
        .unwrap();
        let (keys, ws) = first.run(expansion).unwrap().into_keys();
        assert_eq!(
            meter.take().cost(),
            expansion_cost(KeySize::Aes128, sbox, 1),
            "{role}: declared and measured key expansion"
        );
        let mut work = Batches {
            party,
            sbox,
            keys: Arc::new(keys),
            input: input_shares[role.index()].clone(),
            blocks,
            chunks,
            begun: 0,
            own: Vec::new(),
            spare: vec![ws],
        };
        let mut lanes = vec![Lane::over(first.into_channels())];
        for lane in 1..net.lanes() {
            let mut channel = ring(role, &mut net, lane);
            channel.tap(meter.tap());
            lanes.push(Lane::new(channel));
        }
        pipeline(&mut lanes, &mut work).unwrap();
        let reading = meter.reading();
        let declared = cost(KeySize::Aes128, sbox, blocks);
        assert_eq!(
            reading.bytes_sent(),
            chunks as u64 * declared.bytes_sent,
            "{role}: declared and measured bytes"
        );
        assert_eq!(reading.bytes_received(), reading.bytes_sent(), "{role}");
        let per_lane = chunks.div_ceil(lanes.len()) as u64;
        assert_eq!(reading.rounds(), per_lane * declared.rounds, "{role}: declared and measured rounds");
        work.own
    });
    let out = open([&own[0], &own[1], &own[2]]).unwrap();
    let mut want = input;
    let cipher = Aes128::new(key[..].try_into().unwrap());
    let mut blocks: Vec<hushwire_block::Block> =
        want.chunks_exact(16).map(|b| hushwire_block::Block(b.try_into().unwrap())).collect();
    Backend::best().ecb_encrypt(&cipher, &mut blocks);
    want.copy_from_slice(hushwire_block::as_bytes(&blocks));
    assert!(out == want, "{transport:?} {sbox}");
}

#[test]
fn every_transport_and_sbox_with_lanes_in_flight() {
    for transport in Transport::ALL {
        for sbox in Sbox::ALL {
            encrypt_over(transport, sbox, 3, 70, 7, None);
        }
    }
}

#[test]
fn one_block_and_ten_thousand() {
    for transport in Transport::ALL {
        encrypt_over(transport, Sbox::Tower, 1, 1, 1, None);
        encrypt_over(transport, Sbox::Tower, 4, 2500, 4, None);
    }
}

#[test]
fn messages_far_longer_than_socket_buffers_do_not_hang() {
    // Two lanes of 1 MiB messages over 4 KiB buffers.
    for transport in [Transport::TcpTls, Transport::TcpInsecure] {
        encrypt_over(transport, Sbox::Gf256, 2, 32_768, 2, Some(4096));
    }
}

#[test]
fn openings_reach_only_those_who_are_named() {
    let value = noise(5, 1000);
    let shares = share(&mut prg(3, "value"), &value);
    for transport in Transport::ALL {
        let opened = run_three(transport, 1, None, |role, mut net| {
            let mut back = back(role, &mut net);
            let mut batch = party(role, &mut back).next_batch().unwrap();
            let meter = Meter::new();
            back.tap(meter.tap());
            let mine = &shares[role.index()];
            assert!(revealed(&batch, &mut back, [true; 3], mine) == value);
            for to in Role::ALL {
                let came = revealed(&batch, &mut back, Role::ALL.map(|role| role == to), mine);
                assert!(if to == role { came == value } else { came.is_empty() });
            }
            // One opening to all parties, and one that this party sends as a left neighbour.
            assert_eq!(meter.reading().bytes_sent(), 2 * value.len() as u64);
            let random = batch.random(64);
            revealed(&batch, &mut back, [true; 3], &random)
        });
        assert!(opened[0] == opened[1] && opened[1] == opened[2], "random values are shared consistently");
        assert!(opened[0] != vec![0; 64]);
    }
}

#[test]
fn sessions_draw_fresh_keys() {
    let draws: Vec<Vec<u8>> = (0..2)
        .map(|_| {
            let [a, ..] = run_three(Transport::Inproc, 1, None, |role, mut net| {
                let mut back = back(role, &mut net);
                let mut batch = party(role, &mut back).next_batch().unwrap();
                let random = batch.random(32);
                revealed(&batch, &mut back, [true; 3], &random)
            });
            a
        })
        .collect();
    assert!(draws[0] != draws[1]);
}
