"""The five nearest cases of a hospital to a patient's values decide by majority."""

import hushwire as hw
import numpy as np

K = 5


def vote(cases, sick, patient):
    distance = ((cases - patient) ** 2).sum(axis=1)
    nearest = np.argsort(distance)[:K]
    return distance, nearest


@hw.computation
def nearest_neighbours(
    cases: hw.i32[30, 3] @ "hospital",
    sick: hw.bool_[30] @ "hospital",
    patient: hw.i32[3] @ "patient",
) -> hw.out("patient"):
    _, nearest = vote(cases, sick, patient)
    return np.take(sick, nearest).sum() * 2 > K


PROGRAM = nearest_neighbours


def data(rng):
    cases = rng.integers(-50, 50, (30, 3)).astype(np.int32)
    return {
        "cases": cases,
        "sick": cases[:, 0] + cases[:, 1] > 0,
        "patient": np.array([5, 9, -3], np.int32),
    }


def plain(cases, sick, patient):
    distance = ((cases - patient) ** 2).sum(axis=1)
    return sick[np.argsort(distance, kind="stable")[:K]].sum() * 2 > K


if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print("sick:", bool(nearest_neighbours(session, **data(np.random.default_rng(1)))))
