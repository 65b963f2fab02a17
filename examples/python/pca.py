"""Principal components of columns of two owners, by Jacobi's rotations."""

import hushwire as hw
import numpy as np

REAL = hw.fixed(64, 32)


@hw.computation
def pca(left: REAL[40, 2] @ "lab", right: REAL[40, 2] @ "clinic") -> hw.out("lab", "clinic"):
    x = np.concatenate([left, right], axis=1)
    values, vectors = np.linalg.eigh(np.cov(x, rowvar=False))
    first = vectors[:, 3]
    return {"variances": values, "first": first * np.sign(first[0])}


PROGRAM = pca
TOLERANCE = 1e-5


def data(rng):
    x = rng.normal(size=(40, 4)) @ rng.normal(size=(4, 4))
    return {"left": x[:, :2], "right": x[:, 2:]}


def plain(left, right):
    values, vectors = np.linalg.eigh(np.cov(np.concatenate([left, right], axis=1), rowvar=False))
    first = vectors[:, 3]
    return {"variances": values, "first": first * np.sign(first[0])}


if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(pca(session, **data(np.random.default_rng(1))))
