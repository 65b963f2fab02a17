"""A decision stump: which column at which threshold tells best whether a loan fails. The bank has
the labels, two others have columns; nobody learns how a row falls."""

import hushwire as hw
import numpy as np

THRESHOLDS = [20, 40, 60, 80]


def best(x, bad):
    # Rows by columns by thresholds.
    below = x[:, :, None] < np.array(THRESHOLDS)
    total, failed = below.sum(axis=0), (below & bad[:, None, None]).sum(axis=0)
    rest, rest_failed = 40 - total, bad.sum() - failed
    # The impurity of both sides, as Gini has it, without a quotient of 0.
    side = failed * (total - failed) / np.maximum(total, 1)
    other = rest_failed * (rest - rest_failed) / np.maximum(rest, 1)
    score = (side + other).reshape(12)
    place = np.argmin(score)
    return {"column": place // 4, "threshold": place % 4, "impurity": np.min(score)}


@hw.computation
def decision_stump(
    shop: hw.i32[40, 2] @ "shop", phone: hw.i32[40, 1] @ "phone", bad: hw.bool_[40] @ "bank"
) -> hw.out("bank"):
    return best(np.concatenate([shop, phone], axis=1), bad)


PROGRAM = decision_stump
TOLERANCE = 1e-6


def data(rng):
    x = rng.integers(0, 100, (40, 3)).astype(np.int32)
    return {
        "shop": x[:, :2],
        "phone": x[:, 2:],
        "bad": (x[:, 1] > 57) ^ (rng.uniform(size=40) < 0.1),
    }


def plain(shop, phone, bad):
    return best(np.concatenate([shop, phone], axis=1), bad)


if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(decision_stump(session, **data(np.random.default_rng(1))))
