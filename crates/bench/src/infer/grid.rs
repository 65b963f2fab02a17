//! The points of the grid, and which sets they belong to.

use hushwire_wire::Shape;

use crate::{Params, net::Transport};

/// Networks, and the layers that are measured alone.
const NETWORKS: [&str; 4] = ["squeezenet-cifar", "squeezenet", "resnet50", "densenet121"];
pub(super) const LAYERS: [&str; 6] = ["conv", "relu", "trunc", "maxpool", "batchnorm", "matmul"];

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) network: &'static str,
    pub(super) op: &'static str,
    pub(super) bits: u8,
    pub(super) transport: Transport,
    pub(super) net: Shape,
    pub(super) threads: usize,
}

impl Point {
    pub(super) fn all(threads: &[usize], nets: &[Shape]) -> Vec<Self> {
        let networks = NETWORKS.iter().map(|network| (*network, "all"));
        let what: Vec<_> = networks.chain(LAYERS.iter().map(|op| ("layer", *op))).collect();
        let mut points = vec![];
        for (network, op) in what {
            for bits in [32, 40, 64] {
                for transport in Transport::ALL {
                    // Queues in memory are no link that could be shaped.
                    let far = |net: &Shape| transport != Transport::Inproc || *net == Shape::NONE;
                    for net in nets.iter().copied().filter(far) {
                        points.extend(threads.iter().map(|&threads| Self {
                            network,
                            op,
                            bits,
                            transport,
                            net,
                            threads,
                        }));
                    }
                }
            }
        }
        points
    }

    pub(super) fn params(&self) -> Params {
        Params::new()
            .with("network", self.network)
            .with("op", self.op)
            .with("protocol", "rep3")
            .with("linear", "none")
            .with("ot", "none")
            .with("ring", u64::from(self.bits))
            .with("implementation", "hushwire")
            .with("transport", self.transport.name())
            .with("net", self.net.to_string())
            .with("threads", self.threads)
    }

    /// Whether a run without options measures it: rings of 32 bits over plain TCP, over networks the smaller ones.
    pub(super) fn is_core(&self, least_threads: usize, given: bool) -> bool {
        let near = self.net == Shape::NONE;
        let small = self.network.starts_with("squeezenet");
        self.threads == least_threads
            && self.transport == Transport::TcpInsecure
            && self.bits == 32
            && (near || given || small)
    }

    /// Whether `--quick` measures it.
    pub(super) fn is_quick(&self, least_threads: usize) -> bool {
        self.threads == least_threads
            && self.bits == 32
            && self.net == Shape::NONE
            && self.transport == Transport::Inproc
            && (self.network == "squeezenet-cifar" || self.op == "relu")
    }
}
