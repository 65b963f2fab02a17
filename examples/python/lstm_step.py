"""Three steps of a long short-term memory: a firm's weights on a client's sequence."""

import hushwire as hw
import hushwire.numpy as hnp
import numpy as np

REAL = hw.fixed(64, 32)


def walk(sequence, w, u, b, sigmoid):
    state, memory = np.zeros(4), np.zeros(4)
    for k in range(3):
        gates = sequence[k] @ w + state @ u + b
        keep, take, show = sigmoid(gates[:4]), sigmoid(gates[4:8]), sigmoid(gates[8:12])
        memory = keep * memory + take * np.tanh(gates[12:])
        state = show * np.tanh(memory)
    return state


@hw.computation
def lstm_step(
    sequence: REAL[3, 2] @ "client",
    w: REAL[2, 16] @ "firm",
    u: REAL[4, 16] @ "firm",
    b: REAL[16] @ "firm",
) -> hw.out("client"):
    return walk(sequence, w, u, b, hnp.sigmoid)


PROGRAM = lstm_step
TOLERANCE = 1e-7


def data(rng):
    return {
        "sequence": rng.normal(size=(3, 2)),
        "w": rng.normal(size=(2, 16)),
        "u": rng.normal(size=(4, 16)) / 2,
        "b": rng.normal(size=16) / 2,
    }


def plain(sequence, w, u, b):
    return walk(sequence, w, u, b, lambda z: 1 / (1 + np.exp(-z)))


if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(lstm_step(session, **data(np.random.default_rng(1))))
