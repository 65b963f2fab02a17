"""A linear support vector machine by subgradients of the hinge loss, on rows of two owners."""

import hushwire as hw
import numpy as np

REAL = hw.fixed(64, 32)


def descend(x, y):
    weights, level = np.zeros(2), 0.0
    for k in range(20):
        inside = y * (x @ weights + level) < 1
        pull = np.where(inside, y, 0.0)
        rate = 0.5 / (1 + k)
        weights = weights - rate * (0.05 * weights - (x.T @ pull) / 40)
        level = level + rate * pull.mean()
    return {"weights": weights, "level": level}


@hw.computation
def svm(
    x_ann: REAL[20, 2] @ "ann",
    y_ann: REAL[20] @ "ann",
    x_bob: REAL[20, 2] @ "bob",
    y_bob: REAL[20] @ "bob",
) -> hw.out("ann", "bob"):
    return descend(np.concatenate([x_ann, x_bob]), np.concatenate([y_ann, y_bob]))


PROGRAM = svm
TOLERANCE = 1e-6


def data(rng):
    x = rng.normal(size=(40, 2)) * 2
    y = np.where(x @ [1.0, -0.7] + 0.3 > 0, 1.0, -1.0)
    return {"x_ann": x[:20], "y_ann": y[:20], "x_bob": x[20:], "y_bob": y[20:]}


def plain(x_ann, y_ann, x_bob, y_bob):
    return descend(np.concatenate([x_ann, x_bob]), np.concatenate([y_ann, y_bob]))


if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(svm(session, **data(np.random.default_rng(1))))
