//! The points of the grid, and the sets to which they belong.

use hushwire_ot::Protocol;
use hushwire_two::Products;
use hushwire_wire::Shape;

use crate::{
    Params,
    axes::{every, params},
    implementation::Implementation,
    net::Transport,
};

/// The networks, and the layers that are measured alone.
const NETWORKS: [&str; 8] = [
    "squeezenet-cifar",
    "squeezenet-cifar-8",
    "squeezenet",
    "resnet50",
    "densenet121",
    "trees",
    "logistic",
    "bert-tiny",
];
pub(super) const LAYERS: [&str; 6] = ["conv", "relu", "trunc", "maxpool", "batchnorm", "matmul"];

/// The protocol of the parties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum InferProtocol {
    Three,
    Two { products: Products, ot: Protocol, implementation: Implementation },
}

/// The OT extensions between two parties: one for a fast link, one for a slower one, and a silent
/// one.
const OTS: [Protocol; 3] = [Protocol::SoftSpoken2, Protocol::SoftSpoken4, Protocol::FerretB11];

impl InferProtocol {
    /// Three parties, then two parties in every way.
    fn all() -> Vec<Self> {
        let two = [Products::He, Products::Ot].into_iter().flat_map(Self::between_two);
        std::iter::once(InferProtocol::Three).chain(two).collect()
    }

    /// Two parties with these products.
    pub(super) fn between_two(products: Products) -> Vec<Self> {
        let of = |ot| {
            Implementation::ALL.map(|implementation| InferProtocol::Two { products, ot, implementation })
        };
        OTS.into_iter().flat_map(of).collect()
    }

    const fn rings(self) -> [u8; 3] {
        match self {
            InferProtocol::Three => [32, 40, 64],
            InferProtocol::Two { .. } => [32, 37, 41],
        }
    }

    pub(super) fn implementation(self) -> Implementation {
        match self {
            InferProtocol::Three => Implementation::Batched,
            InferProtocol::Two { implementation, .. } => implementation,
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
    pub(super) way: InferProtocol,
    pub(super) bits: u8,
    pub(super) transport: Transport,
    pub(super) net: Shape,
    pub(super) threads: usize,
}

impl Point {
    pub(super) fn all(threads: &[usize], links: &[(Transport, Shape)]) -> Vec<Self> {
        let networks = NETWORKS.iter().map(|network| (*network, "all"));
        let what = networks.chain(LAYERS.iter().map(|op| ("layer", *op)));
        let grid = every!((network, op) in what, way in InferProtocol::all() => Self::of(network, op, way, threads, links));
        grid.concat()
    }

    /// A network computed in one way, over every ring and link for which that is useful.
    pub(super) fn of(
        network: &'static str,
        op: &'static str,
        way: InferProtocol,
        threads: &[usize],
        links: &[(Transport, Shape)],
    ) -> Vec<Self> {
        let mut points = every!(bits in way.rings(), &(transport, net) in links, &threads in threads =>
            Self { network, op, way, bits, transport, net, threads });
        points.retain(Point::says_something);
        points
    }

    /// Whether no other point measures the same. Narrower AES is for one ring over one link, and a
    /// layer without products has one way to multiply.
    fn says_something(&self) -> bool {
        let InferProtocol::Two { products, implementation, .. } = self.way else { return true };
        let multiplies = matches!(self.op, "all" | "conv" | "matmul");
        let is_widest = implementation == Implementation::Batched;
        (self.is_plain() || is_widest) && (multiplies || products == Products::He)
    }

    /// Whether two parties have the ring and the extension of the paper's tables, over plain TCP.
    pub(super) fn is_plain(&self) -> bool {
        let ot = match self.way {
            InferProtocol::Three => return false,
            InferProtocol::Two { ot, .. } => ot,
        };
        self.bits == 32 && self.transport == Transport::TcpInsecure && ot == OTS[0]
    }

    /// The parameters, without threads, of a network, of several, or of a part of one.
    pub(super) fn params(&self, key: &str, name: &str, op: &str) -> Params {
        let (protocol, products, extension) = match self.way {
            InferProtocol::Three => ("rep3", "none", "none"),
            InferProtocol::Two { products, ot, .. } => ("two", linear(products), ot.name()),
        };
        let rest = params!(self; op = op, protocol = protocol, linear = products, ot = extension, ring = self.bits,
            implementation = self.way.implementation(), transport, net);
        Params::new().with(key, name).and(rest)
    }
}
