//! Threads that compute for all three parties in lockstep.

use std::sync::Arc;

use hushwire_aes::Backend;
use hushwire_prg::{PrssKeys, Seed};
use hushwire_rep3::{AesBlocks, KeyExpansion, Role, Sbox, Session, Shares, Workspace};
use hushwire_wire::{SessionId, drive::Lockstep};

use super::{
    crew::{Encrypts, Serial, Shared, bytes_of, expansion, scatter},
    deal::{Deal, Keys, counter},
    grid::Cut,
    supply::{Expander, Source, Supply},
};
use crate::{BoxError, crew::Worker};

type Three<T> = [T; 3];

/// All parties expand the key in lockstep.
struct Together {
    sessions: Three<Session>,
    sbox: Sbox,
    keys: Three<Shares>,
    lockstep: Lockstep,
}

impl Expander<Three<Shared>> for Together {
    fn expand(&mut self, serial: u32) -> Result<Three<Shared>, BoxError> {
        let each = self.sessions.iter().zip(&self.keys);
        let runs: Result<Vec<_>, _> =
            each.map(|(session, key)| expansion(session, self.sbox, key, serial)).collect();
        let mut runs: Three<KeyExpansion> = runs?.try_into().map_err(|_| "not three parties")?;
        self.lockstep.run(&mut runs)?;
        Ok(runs.map(|run| Arc::new(run.into_keys().0)))
    }
}

/// One thread that computes for all three parties.
struct World {
    sessions: Three<Session>,
    sbox: Sbox,
    cut: Cut,
    supply: Supply<Three<Shared>, Together>,
    serial: Serial,
    thread: usize,
    lockstep: Lockstep,
    own: Three<Vec<u8>>,
    spare: Three<Workspace>,
}

impl Worker for World {
    fn repeat(&mut self) -> Result<(), BoxError> {
        self.supply.begin()?;
        let mut filled = 0;
        for c in self.cut.of_thread(self.thread) {
            let keys = self.supply.of(c).ok_or("a chunk has no keys")?;
            let ((shard, lane), range) = (self.serial.take(), self.cut.range(c));
            let (first, blocks) = (counter(range.start), range.len());
            let mut runs = Role::ALL.map(|role| {
                let p = role.index();
                let (cx, ws) = (self.sessions[p].context(shard, lane), std::mem::take(&mut self.spare[p]));
                AesBlocks::counter(role, self.sbox, cx, keys[p].clone(), first, blocks, ws)
            });
            self.lockstep.run(&mut runs)?;
            for ((own, spare), run) in self.own.iter_mut().zip(&mut self.spare).zip(runs) {
                own[filled..][..16 * blocks].copy_from_slice(run.own());
                *spare = run.into_workspace();
            }
            filled += 16 * blocks;
        }
        Ok(())
    }

    fn abandon(&mut self) {
        self.supply.abandon();
    }
}

impl Encrypts for World {
    fn collect(&self, own: &mut [Vec<u8>; 3]) {
        for (whole, own) in own.iter_mut().zip(&self.own) {
            scatter(&self.cut, self.thread, own, whole);
        }
    }
}

/// Threads that share the three parties' keys and divide the chunks.
pub(super) fn worlds(
    backend: Backend,
    sbox: Sbox,
    cut: &Cut,
    deal: &Deal,
) -> Result<Vec<Box<dyn Encrypts>>, BoxError> {
    let (id, seeds) = (SessionId::fresh()?, [(); 3].map(|()| Seed::random()));
    let sessions = Role::ALL.map(|role| {
        let (own, prev) = (seeds[role.index()].clone(), seeds[role.left().index()].clone());
        Session::from_keys(role, backend, id, &PrssKeys { own, prev })
    });
    let supplies = match &deal.parties {
        [Keys::One(a), Keys::One(b), Keys::One(c)] => {
            let keys = || [a.clone(), b.clone(), c.clone()];
            (0..cut.threads).map(|_| Supply::new(Source::One(keys()))).collect()
        }
        [Keys::PerChunk(a), Keys::PerChunk(b), Keys::PerChunk(c)] => {
            let chunk = |i: usize| [a[i].clone(), b[i].clone(), c[i].clone()];
            let keys: Vec<_> = (0..cut.chunks()).map(chunk).collect();
            (0..cut.threads).map(|_| Supply::new(Source::PerChunk(keys.clone()))).collect()
        }
        [Keys::Expand(a), Keys::Expand(b), Keys::Expand(c)] => {
            let (sessions, keys) = (sessions.clone(), [a.clone(), b.clone(), c.clone()]);
            Supply::expanding(Together { sessions, sbox, keys, lockstep: Lockstep::new() }, cut.threads)
        }
        _ => return Err("the parties have keys of different kinds".into()),
    };
    let mut workers: Vec<Box<dyn Encrypts>> = Vec::new();
    for (thread, supply) in supplies.into_iter().enumerate() {
        workers.push(Box::new(World {
            sessions: sessions.clone(),
            sbox,
            cut: *cut,
            supply,
            serial: Serial::new(thread)?,
            thread,
            lockstep: Lockstep::new(),
            own: [(); 3].map(|()| vec![0; bytes_of(cut, thread)]),
            spare: Default::default(),
        }));
    }
    Ok(workers)
}
