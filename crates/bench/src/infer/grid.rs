//! The points of the grid, and which sets they belong to.

use hushwire_ot::Protocol;
use hushwire_two::Products;
use hushwire_wire::Shape;

use crate::{Params, implementation::Implementation, net::Transport};

/// Networks, and the layers that are measured alone.
const NETWORKS: [&str; 4] = ["squeezenet-cifar", "squeezenet", "resnet50", "densenet121"];
pub(super) const LAYERS: [&str; 6] = ["conv", "relu", "trunc", "maxpool", "batchnorm", "matmul"];

/// The protocol of the parties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Way {
    Three,
    Two { products: Products, ot: Protocol, implementation: Implementation },
}

/// Extensions of OT between two parties: for a fast link, for a slower one, and silent.
const OTS: [Protocol; 3] = [Protocol::SoftSpoken2, Protocol::SoftSpoken4, Protocol::FerretB11];

impl Way {
    /// Three parties, then two in every way.
    fn all() -> Vec<Self> {
        let two = [Products::He, Products::Ot].into_iter().flat_map(Self::between_two);
        std::iter::once(Way::Three).chain(two).collect()
    }

    /// Two parties with such products.
    pub(super) fn between_two(products: Products) -> Vec<Self> {
        let of = |ot| Implementation::ALL.map(|implementation| Way::Two { products, ot, implementation });
        OTS.into_iter().flat_map(of).collect()
    }

    /// The one that has most to say: `products` on the fastest link.
    pub(super) const fn best(products: Products) -> Self {
        Way::Two { products, ot: OTS[0], implementation: Implementation::Batched }
    }

    const fn rings(self) -> [u8; 3] {
        match self {
            Way::Three => [32, 40, 64],
            Way::Two { .. } => [32, 37, 41],
        }
    }

    pub(super) fn implementation(self) -> Implementation {
        match self {
            Way::Three => Implementation::Batched,
            Way::Two { implementation, .. } => implementation,
        }
    }
}

pub(super) const fn linear(products: Products) -> &'static str {
    match products {
        Products::He => "he",
        Products::Ot => "ot",
    }
}

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) network: &'static str,
    pub(super) op: &'static str,
    pub(super) way: Way,
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
            for way in Way::all() {
                points.extend(Self::of(network, op, way, threads, nets));
            }
        }
        points
    }

    /// A network computed in one way, over every ring and link on which that says something.
    pub(super) fn of(
        network: &'static str,
        op: &'static str,
        way: Way,
        threads: &[usize],
        nets: &[Shape],
    ) -> Vec<Self> {
        let mut points = vec![];
        for (bits, transport) in way.rings().into_iter().flat_map(|b| Transport::ALL.map(|t| (b, t))) {
            // Queues in memory are no link that could be shaped.
            let far = |net: &Shape| transport != Transport::Inproc || *net == Shape::NONE;
            for net in nets.iter().copied().filter(far) {
                let point = |&threads: &usize| Self { network, op, way, bits, transport, net, threads };
                points.extend(threads.iter().map(point));
            }
        }
        points.retain(Point::says_something);
        points
    }

    /// Whether another point does not say the same: narrower AES is for one ring over one link, and a layer without products has one way to
    /// multiply.
    fn says_something(&self) -> bool {
        let Way::Two { products, implementation, .. } = self.way else { return true };
        let multiplies = matches!(self.op, "all" | "conv" | "matmul");
        let is_widest = implementation == Implementation::Batched;
        (self.is_plain() || is_widest) && (multiplies || products == Products::He)
    }

    /// Whether two parties have the ring and the extension of the paper's tables, over plain TCP.
    pub(super) fn is_plain(&self) -> bool {
        let ot = match self.way {
            Way::Three => return false,
            Way::Two { ot, .. } => ot,
        };
        self.bits == 32 && self.transport == Transport::TcpInsecure && ot == OTS[0]
    }

    pub(super) fn params(&self) -> Params {
        self.params_as("network", self.network, self.op).with("threads", self.threads)
    }

    /// The same, less threads, of several networks or of a part of one.
    pub(super) fn params_as(&self, key: &str, name: &str, op: &str) -> Params {
        let (protocol, products, ot) = match self.way {
            Way::Three => ("rep3", "none", "none"),
            Way::Two { products, ot, .. } => ("two", linear(products), ot.name()),
        };
        Params::new()
            .with(key, name)
            .with("op", op)
            .with("protocol", protocol)
            .with("linear", products)
            .with("ot", ot)
            .with("ring", u64::from(self.bits))
            .with("implementation", self.way.implementation().name())
            .with("transport", self.transport.name())
            .with("net", self.net.to_string())
    }

    /// Whether a run without options measures it: rings of 32 bits over plain TCP, over networks the smaller ones.
    pub(super) fn is_core(&self, least_threads: usize, given: bool) -> bool {
        let near = self.net == Shape::NONE;
        let small = match self.way {
            Way::Three => self.network.starts_with("squeezenet"),
            way if way == Way::best(Products::He) => self.network == "squeezenet-cifar",
            _ => false,
        };
        // By OT whole networks take from minutes on, all but the smallest.
        let short = match self.way {
            Way::Three => true,
            way if way == Way::best(Products::He) => !matches!(self.network, "resnet50" | "densenet121"),
            way => way == Way::best(Products::Ot) && matches!(self.network, "layer" | "squeezenet-cifar"),
        };
        short
            && self.threads == least_threads
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
            && match self.way {
                Way::Three => self.network == "squeezenet-cifar" || self.op == "relu",
                way => way == Way::best(Products::He) && self.op == "matmul",
            }
    }
}
