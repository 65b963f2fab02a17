"""Three firms learn the mean, the median and the upper quarter of all their salaries together."""

import hushwire as hw
import numpy as np

FIRMS = ("ada", "bob", "cleo")


@hw.computation
def salaries(ada: hw.u32[5] @ "ada", bob: hw.u32[4] @ "bob", cleo: hw.u32[6] @ "cleo") -> hw.out(
    *FIRMS
):
    pay = np.concatenate([ada, bob, cleo])
    return {
        "mean": pay.mean(),
        "middle": np.median(pay),
        "upper_quarter": np.quantile(pay, 0.75),
        "above_mean": (pay > pay.mean()).sum(),
    }


PROGRAM = salaries


def data(rng):
    return {
        name: rng.integers(2000, 9000, n).astype(np.uint32) for name, n in zip(FIRMS, (5, 4, 6))
    }


def plain(ada, bob, cleo):
    pay = np.concatenate([ada, bob, cleo])
    return {
        "mean": pay.mean(),
        "middle": np.median(pay),
        "upper_quarter": np.quantile(pay, 0.75),
        "above_mean": (pay > pay.mean()).sum(),
    }


if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(salaries(session, **data(np.random.default_rng(1))))
