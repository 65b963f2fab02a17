"""A hospital has ages, a clinic has blood pressures of the same patients: moments of each, and how
they go together."""

import hushwire as hw
import numpy as np

REAL = hw.fixed(64, 32)


def describe(age, pressure):
    centred = (age - np.mean(age)) / np.std(age)
    return {
        "mean_age": np.mean(age),
        "spread": np.std(pressure, ddof=1),
        "skewness": np.mean(centred**3),
        "correlation": np.corrcoef(np.stack([age, pressure]))[0, 1],
        "covariance": np.cov(np.stack([age, pressure]))[0, 1],
        "greatest": np.max(pressure),
    }


@hw.computation
def statistics(age: REAL["n"] @ "hospital", pressure: REAL["n"] @ "clinic") -> hw.out(
    "hospital", "clinic"
):
    return describe(age, pressure)


PROGRAM = statistics
TOLERANCE = 1e-6


def data(rng):
    age = rng.uniform(20, 80, 30)
    return {"age": age, "pressure": 100 + 0.5 * age + rng.normal(0, 8, 30)}


plain = describe

if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(statistics(session, **data(np.random.default_rng(1))))
