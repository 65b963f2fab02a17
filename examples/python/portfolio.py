"""The risk of a fund's portfolio by a data house's covariances: neither shows its numbers."""

import hushwire as hw
import numpy as np

REAL = hw.fixed(64, 32)


def measure(weights, covariance):
    spread = np.sqrt(weights @ covariance @ weights)
    part = weights * (covariance @ weights) / spread
    return {"spread": spread, "value_at_risk": 1.6448536269514722 * spread, "parts": part}


@hw.computation
def portfolio(weights: REAL[6] @ "fund", covariance: REAL[6, 6] @ "house") -> hw.out("fund"):
    return measure(weights, covariance)


PROGRAM = portfolio
TOLERANCE = 1e-6


def data(rng):
    root = rng.normal(size=(6, 6)) / 3
    weights = rng.uniform(0.05, 1, 6)
    return {"weights": weights / weights.sum(), "covariance": root @ root.T}


plain = measure

if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(portfolio(session, **data(np.random.default_rng(1))))
