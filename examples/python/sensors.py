"""A plant's readings, smoothed, and how many lie beyond a supplier's secret limit."""

import hushwire as hw
import numpy as np

REAL = hw.fixed(64, 32)


def watch(reading, limit):
    total = np.cumsum(reading)
    smooth = (total[4:] - total[:-4]) / 4
    off = np.abs(reading[4:] - smooth)
    return {"alarms": (off > limit).sum(), "worst": np.max(off), "mean": smooth.mean()}


@hw.computation
def sensors(reading: REAL[48] @ "plant", limit: REAL @ "supplier") -> hw.out("plant"):
    return watch(reading, limit)


PROGRAM = sensors
TOLERANCE = 1e-7


def data(rng):
    reading = 20 + np.sin(np.arange(48) / 5) + rng.normal(0, 0.1, 48)
    reading[17] += 4
    return {"reading": reading, "limit": 1.25}


plain = watch

if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(sensors(session, **data(np.random.default_rng(1))))
