//! A circuit, its shares, and devices that run it.

use hushwire_aes::Backend;
use hushwire_circuit::{Layered, Planes, Program, eval, named, planes};
use hushwire_hdl::{Device, HdlBatch, Hello, Microcode, model};
use hushwire_machine::Cost;
use hushwire_machine::drive::{Exchanged, Machine, Round};
use hushwire_rep3::{CircuitBatch, CircuitWorkspace, Shares, open, share, test_support::context};
use hushwire_testkit::{noise, prg, world};
use std::{os::unix::net::UnixStream, sync::Arc, thread, time::Duration};

/// A small device with room for AES.
pub(crate) const HELLO: Hello = Hello {
    lanes: 1,
    cores: 5,
    contexts: 4,
    slots: 2048,
    instructions: 1 << 15,
    scalars: 1 << 12,
    flight: 512,
};

/// The time that tests wait for a device that works.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A device that is the model on a thread.
pub(crate) fn modelled(hello: Hello) -> Device {
    let (ours, theirs) = UnixStream::pair().unwrap();
    thread::spawn(move || model::serve(theirs, hello));
    Device::over("the model", ours, PATIENCE).unwrap()
}

/// A circuit that all parties have, and the values of its batches.
pub(crate) struct Case {
    pub(crate) program: Arc<Program>,
    pub(crate) code: Microcode,
    pub(crate) world: [hushwire_rep3::Rep3Party; 3],
    pub(crate) instances: usize,
    /// The shares of the common bits, packed.
    common: [Shares; 3],
    common_bits: usize,
}

impl Case {
    /// The circuit `name`; its input 0 is common if `common`.
    pub(crate) fn new(name: &str, common: bool, instances: usize) -> Case {
        let circuit = named::make(name).unwrap();
        let block = Arc::new(Layered::new(&circuit));
        let code = Microcode::compile(name, &block, if common { &[0] } else { &[] }).unwrap();
        let program = Arc::new(Program::of_block(name, block));
        let bits = if common { program.inputs()[0] } else { 0 };
        let value = noise(77, planes::value_bytes(bits));
        Case {
            program,
            code,
            world: world(9, Backend::best()),
            instances,
            common: share(&mut prg(5, "common"), &value),
            common_bits: bits,
        }
    }

    fn rest(&self) -> usize {
        self.program.input_bits() - self.common_bits
    }

    /// The planes of batch `b`'s other inputs.
    pub(crate) fn rows(&self, b: u32) -> Vec<u8> {
        noise(u64::from(b), self.rest() * self.instances / 8)
    }

    fn shared_rows(&self, b: u32) -> [Shares; 3] {
        share(&mut prg(100 + u64::from(b), "rows"), &self.rows(b))
    }

    /// Loads the circuit into party `i`'s device.
    pub(crate) fn load(&self, i: usize, device: &Device) -> Result<(), hushwire_hdl::HdlError> {
        device.load(&self.world[i], &self.code, &self.common[i])
    }

    /// Batch `b` of party `i` on a device.
    pub(crate) fn hard(
        &self,
        i: usize,
        device: &Device,
        number: usize,
        b: u32,
    ) -> Result<HdlBatch, hushwire_hdl::HdlError> {
        device.batch(number, context(&self.world[i], b, 0), &self.shared_rows(b)[i])
    }

    /// Batch `b` of party `i` in software; every instance has the common bits.
    pub(crate) fn soft(&self, i: usize, b: u32) -> CircuitBatch {
        let (plane, rows) = (self.instances / 8, &self.shared_rows(b)[i]);
        let spread = |share: &[u8], rows: &[u8]| -> Vec<u8> {
            let bit = |k: usize| 0u8.wrapping_sub(share[k / 8] >> (k % 8) & 1);
            (0..self.common_bits).flat_map(|k| vec![bit(k); plane]).chain(rows.iter().copied()).collect()
        };
        let common = &self.common[i];
        let inputs = Shares { own: spread(&common.own, &rows.own), next: spread(&common.next, &rows.next) };
        let cx = context(&self.world[i], b, 0);
        let ws = CircuitWorkspace::default();
        CircuitBatch::new(self.program.clone(), cx, &inputs, self.instances, ws).unwrap()
    }

    /// The output planes of batch `b`, computed in the clear.
    pub(crate) fn plain(&self, b: u32) -> Vec<u8> {
        let (bits, n) = (self.common_bits, self.instances);
        let common = open([&self.common[0].own, &self.common[1].own, &self.common[2].own]).unwrap();
        let common = (bits > 0).then(|| Planes::pack(&common.repeat(n), bits, n));
        let rows = Planes::new(self.rest(), n, self.rows(b)).unwrap();
        eval::eval(&self.program, &Planes::join(n, common.into_iter().chain([rows]))).unwrap().to_vec()
    }
}

/// A party of either kind.
pub(crate) enum Party {
    Soft(Box<CircuitBatch>),
    Hard(HdlBatch),
}

impl Party {
    pub(crate) fn output(self) -> Shares {
        match self {
            Party::Soft(batch) => batch.output(),
            Party::Hard(batch) => batch.output().unwrap_or_else(|e| panic!("{e}")),
        }
    }
}

/// Calls a method of either kind of party.
macro_rules! each {
    ($self:ident, $batch:ident => $of:expr) => {
        match $self {
            Party::Soft($batch) => $of,
            Party::Hard($batch) => $of,
        }
    };
}

impl Machine for Party {
    type Error = String;

    fn round(&self, slot: usize) -> Option<Round> {
        each!(self, batch => batch.round(slot))
    }
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), String> {
        each!(self, batch => batch.write(slot, out).map_err(|e| e.to_string()))
    }
    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), String> {
        each!(self, batch => batch.read(messages).map_err(|e| e.to_string()))
    }
    fn upcoming(&self) -> Option<Round> {
        each!(self, batch => batch.upcoming())
    }
    fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), String> {
        each!(self, batch => batch.turn(messages, out).map_err(|e| e.to_string()))
    }
    fn cost(&self) -> Option<Cost> {
        each!(self, batch => batch.cost())
    }
}
