"""A training step of a network with one hidden layer: forward, backward, and the new weights."""

import hushwire as hw
import numpy as np

REAL = hw.fixed(64, 32)


def step(x, y, w1, b1, w2, b2):
    hidden = np.maximum(x @ w1 + b1, 0.0)
    off = hidden @ w2 + b2 - y
    back = np.where(hidden > 0, off[:, None] * w2, 0.0)
    rate = 0.1 / 16
    return {
        "loss": (off**2).mean(),
        "w1": w1 - rate * (x.T @ back),
        "b1": b1 - rate * back.sum(axis=0),
        "w2": w2 - rate * (hidden.T @ off),
        "b2": b2 - rate * off.sum(),
    }


@hw.computation
def mlp_step(
    x: REAL[16, 4] @ "ann",
    y: REAL[16] @ "bob",
    w1: REAL[4, 8] @ "firm",
    b1: REAL[8] @ "firm",
    w2: REAL[8] @ "firm",
    b2: REAL @ "firm",
) -> hw.out("firm"):
    return step(x, y, w1, b1, w2, b2)


PROGRAM = mlp_step
TOLERANCE = 1e-7


def data(rng):
    return {
        "x": rng.normal(size=(16, 4)),
        "y": rng.normal(size=16),
        "w1": rng.normal(size=(4, 8)) / 2,
        "b1": np.zeros(8),
        "w2": rng.normal(size=8) / 2,
        "b2": 0.0,
    }


plain = step

if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(mlp_step(session, **data(np.random.default_rng(1)))["loss"])
