"""Logistic regression by Newton's method: a bank has two columns, a shop another and the labels."""

import hushwire as hw
import hushwire.numpy as hnp
import numpy as np

REAL = hw.fixed(64, 32)


def newton(x, y, sigmoid, solve):
    weights = np.zeros(4)
    for _ in range(5):
        chance = sigmoid(x @ weights)
        slope = x.T @ (y - chance) / 60 - 0.02 * weights
        curve = (x.T * (chance * (1 - chance))) @ x / 60 + 0.02 * np.eye(4)
        weights = weights + solve(curve, slope)
    return weights


@hw.computation
def logistic_regression(
    bank: REAL[60, 2] @ "bank", shop: REAL[60, 1] @ "shop", y: REAL[60] @ "shop"
) -> hw.out("bank", "shop"):
    x = hnp.concatenate([bank, shop, hnp.ones((60, 1))], axis=1)
    return newton(x, y, hnp.sigmoid, hnp.linalg.solve)


PROGRAM = logistic_regression
TOLERANCE = 1e-5


def data(rng):
    x = rng.normal(size=(60, 3))
    y = (x @ [2.0, -1.0, 1.0] + 0.5 + rng.normal(0, 1, 60) > 0).astype(float)
    return {"bank": x[:, :2], "shop": x[:, 2:], "y": y}


def plain(bank, shop, y):
    x = np.concatenate([bank, shop, np.ones((60, 1))], axis=1)
    return newton(x, y, lambda z: 1 / (1 + np.exp(-z)), np.linalg.solve)


if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(logistic_regression(session, **data(np.random.default_rng(1))))
