"""Weights of evidence and the information value of a shop's column for a bank's labels."""

import hushwire as hw
import numpy as np

BINS = 5


def weigh(bin_of, bad):
    inside = bin_of[:, None] == np.arange(BINS)
    failed = (inside & bad[:, None]).sum(axis=0) + 0.5
    paid = (inside & ~bad[:, None]).sum(axis=0) + 0.5
    share_failed, share_paid = failed / failed.sum(), paid / paid.sum()
    weight = np.log(share_failed / share_paid)
    return {"weights": weight, "value": ((share_failed - share_paid) * weight).sum()}


@hw.computation
def weight_of_evidence(bin_of: hw.i64[60] @ "shop", bad: hw.bool_[60] @ "bank") -> hw.out("bank"):
    return weigh(bin_of, bad)


PROGRAM = weight_of_evidence
TOLERANCE = 1e-6


def data(rng):
    bin_of = rng.integers(0, BINS, 60)
    return {"bin_of": bin_of, "bad": rng.uniform(size=60) < bin_of / 6}


plain = weigh

if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(weight_of_evidence(session, **data(np.random.default_rng(1))))
