"""Linear regression by gradient descent: a lab has the columns, a clinic has what they explain."""

import hushwire as hw
import numpy as np

REAL = hw.fixed(64, 32)
STEPS, RATE = 25, 0.2


def descend(x, y):
    weights, level = np.zeros(3), 0.0
    for _ in range(STEPS):
        off = x @ weights + level - y
        weights = weights - RATE * (x.T @ off) / 40
        level = level - RATE * off.mean()
    return {"weights": weights, "level": level}


@hw.computation
def linear_regression(x: REAL[40, 3] @ "lab", y: REAL[40] @ "clinic") -> hw.out("lab", "clinic"):
    return descend(x, y)


PROGRAM = linear_regression
TOLERANCE = 1e-6


def data(rng):
    x = rng.normal(size=(40, 3))
    return {"x": x, "y": x @ [1.5, -2.0, 0.5] + 1 + rng.normal(0, 0.1, 40)}


plain = descend

if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(linear_regression(session, **data(np.random.default_rng(1))))
