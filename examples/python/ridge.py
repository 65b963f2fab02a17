"""Ridge regression by the inverse of a matrix: (X^T X + a I)^-1 X^T y, with columns of two owners."""

import hushwire as hw
import numpy as np

REAL = hw.fixed(64, 32)


def solve(left, right, y):
    x = np.concatenate([left, right], axis=1)
    gram = x.T @ x + 0.5 * np.eye(4)
    return np.linalg.inv(gram) @ (x.T @ y)


@hw.computation
def ridge(left: REAL[50, 2] @ "bank", right: REAL[50, 2] @ "shop", y: REAL[50] @ "bank") -> hw.out(
    "bank"
):
    return solve(left, right, y)


PROGRAM = ridge
TOLERANCE = 1e-6


def data(rng):
    x = rng.normal(size=(50, 4))
    return {
        "left": x[:, :2],
        "right": x[:, 2:],
        "y": x @ [1.0, 2.0, -1.0, 0.5] + rng.normal(0, 0.2, 50),
    }


plain = solve

if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(ridge(session, **data(np.random.default_rng(1))))
