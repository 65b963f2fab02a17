"""One round of gradient boosting: the best split of a column by gradients, and both new leaves."""

import hushwire as hw
import numpy as np

REAL = hw.fixed(64, 32)
BUCKETS = 8


def split(bucket, score, label, sigmoid):
    chance = sigmoid(score)
    slope, curve = chance - label, chance * (1 - chance)
    inside = bucket[:, None] == np.arange(BUCKETS)
    g = np.cumsum(np.where(inside, slope[:, None], 0.0).sum(axis=0))
    h = np.cumsum(np.where(inside, curve[:, None], 0.0).sum(axis=0))
    rest_g, rest_h = g[-1] - g[:-1], h[-1] - h[:-1]
    gain = g[:-1] ** 2 / (h[:-1] + 1) + rest_g**2 / (rest_h + 1)
    best = np.argmax(gain)
    here = best == np.arange(BUCKETS - 1)
    left = -np.where(here, g[:-1] / (h[:-1] + 1), 0.0).sum()
    right = -np.where(here, rest_g / (rest_h + 1), 0.0).sum()
    return {"split": best, "below": left, "above": right, "gain": np.max(gain)}


@hw.computation
def boosting(
    bucket: hw.i64[50] @ "shop", score: REAL[50] @ "bank", label: REAL[50] @ "bank"
) -> hw.out("bank"):
    import hushwire.numpy as hnp

    return split(bucket, score, label, hnp.sigmoid)


PROGRAM = boosting
TOLERANCE = 1e-6


def data(rng):
    bucket = rng.integers(0, BUCKETS, 50)
    return {"bucket": bucket, "score": rng.normal(size=50) / 3, "label": (bucket > 4).astype(float)}


def plain(bucket, score, label):
    return split(bucket, score, label, lambda z: 1 / (1 + np.exp(-z)))


if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(boosting(session, **data(np.random.default_rng(1))))
