"""A drug trial of two hospitals: does the treated group differ? Welch's statistic, its degrees of
freedom and a p-value by the normal distribution."""

import math

import hushwire as hw
import hushwire.numpy as hnp
import numpy as np

REAL = hw.fixed(64, 32)


def welch(a, b, erf):
    va, vb = np.var(a, ddof=1) / a.shape[0], np.var(b, ddof=1) / b.shape[0]
    t = (np.mean(a) - np.mean(b)) / np.sqrt(va + vb)
    freedom = (va + vb) ** 2 / (va**2 / (a.shape[0] - 1) + vb**2 / (b.shape[0] - 1))
    return {"t": t, "freedom": freedom, "p": 1 - erf(np.abs(t) / math.sqrt(2))}


@hw.computation
def trial(
    treated_north: REAL[15] @ "north",
    treated_south: REAL[10] @ "south",
    others_north: REAL[12] @ "north",
    others_south: REAL[14] @ "south",
) -> hw.out("north", "south"):
    a = np.concatenate([treated_north, treated_south])
    b = np.concatenate([others_north, others_south])
    return welch(a, b, hnp.erf)


PROGRAM = trial
TOLERANCE = 1e-5


def data(rng):
    return {
        "treated_north": rng.normal(5.6, 1, 15),
        "treated_south": rng.normal(5.6, 1, 10),
        "others_north": rng.normal(5, 1.2, 12),
        "others_south": rng.normal(5, 1.2, 14),
    }


def plain(treated_north, treated_south, others_north, others_south):
    a = np.concatenate([treated_north, treated_south])
    b = np.concatenate([others_north, others_south])
    return welch(a, b, math.erf)


if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(trial(session, **data(np.random.default_rng(1))))
