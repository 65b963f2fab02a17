"""A layer of a graph network: banks' secret transfers between accounts, and PageRank of these."""

import hushwire as hw
import numpy as np

REAL = hw.fixed(64, 32)


def layer(links, features, weights):
    degree = np.maximum(links.sum(axis=1), 1)
    around = links / degree[:, None]
    rank = np.ones(6) / 6
    for _ in range(8):
        rank = 0.15 / 6 + 0.85 * (around.T @ rank)
    return {"features": np.maximum(around @ features @ weights, 0.0), "rank": rank}


@hw.computation
def graph_layer(
    links_ann: REAL[6, 6] @ "ann",
    links_bob: REAL[6, 6] @ "bob",
    features: REAL[6, 3] @ "ann",
    weights: REAL[3, 2] @ "bob",
) -> hw.out("ann", "bob"):
    return layer(np.maximum(links_ann, links_bob), features, weights)


PROGRAM = graph_layer
TOLERANCE = 1e-7


def data(rng):
    one, other = ((rng.uniform(size=(6, 6)) < 0.3).astype(float) for _ in range(2))
    return {
        "links_ann": one,
        "links_bob": other,
        "features": rng.normal(size=(6, 3)),
        "weights": rng.normal(size=(3, 2)),
    }


def plain(links_ann, links_bob, features, weights):
    return layer(np.maximum(links_ann, links_bob), features, weights)


if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(graph_layer(session, **data(np.random.default_rng(1))))
