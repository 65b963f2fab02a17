"""k-means: three centres of points, half of which are in one shop and half in another."""

import hushwire as hw
import numpy as np

REAL = hw.fixed(64, 32)


def lloyd(x):
    centres = x[[0, 13, 26]]
    for _ in range(4):
        distance = ((x[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        near = np.argmin(distance, axis=1)[:, None] == np.arange(3)
        size = np.maximum(near.sum(axis=0), 1)
        centres = np.where(near[:, :, None], x[:, None, :], 0.0).sum(axis=0) / size[:, None]
    return {"centres": centres, "sizes": near.sum(axis=0)}


@hw.computation
def kmeans(north: REAL[20, 2] @ "north", south: REAL[20, 2] @ "south") -> hw.out("north", "south"):
    return lloyd(np.concatenate([north, south]))


PROGRAM = kmeans
TOLERANCE = 1e-6


def data(rng):
    middle = np.array([[0.0, 0.0], [5.0, 5.0], [0.0, 6.0]])
    x = middle[np.arange(40) // 13 % 3] + rng.normal(0, 0.7, (40, 2))
    return {"north": x[:20], "south": x[20:]}


def plain(north, south):
    return lloyd(np.concatenate([north, south]))


if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(kmeans(session, **data(np.random.default_rng(1))))
