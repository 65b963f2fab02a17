"""Poisson regression: an insurer's counts of claims explained by columns of a garage."""

import hushwire as hw
import numpy as np

REAL = hw.fixed(64, 32)


def newton(x, counts):
    weights = np.zeros(3)
    for _ in range(5):
        mean = np.exp(x @ weights)
        slope = x.T @ (counts - mean) / 50
        curve = (x.T * mean) @ x / 50 + 0.001 * np.eye(3)
        weights = weights + np.linalg.solve(curve, slope)
    return weights


@hw.computation
def poisson_regression(x: REAL[50, 3] @ "garage", counts: REAL[50] @ "insurer") -> hw.out(
    "insurer"
):
    return newton(x, counts)


PROGRAM = poisson_regression
TOLERANCE = 1e-5


def data(rng):
    x = np.column_stack([rng.normal(size=(50, 2)) / 2, np.ones(50)])
    return {"x": x, "counts": rng.poisson(np.exp(x @ [0.6, -0.4, 0.3])).astype(float)}


plain = newton

if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(poisson_regression(session, **data(np.random.default_rng(1))))
