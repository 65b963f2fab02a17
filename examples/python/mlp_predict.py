"""A firm's network on a client's rows: the client learns the classes' chances, nobody more."""

import hushwire as hw
import hushwire.numpy as hnp
import numpy as np

REAL = hw.fixed(64, 32)


@hw.computation
def mlp_predict(
    x: REAL[6, 4] @ "client", w1: REAL[4, 8] @ "firm", w2: REAL[8, 3] @ "firm"
) -> {"chances": hw.out("client"), "kinds": hw.out("client")}:
    scores = np.tanh(x @ w1) @ w2
    return {"chances": hnp.softmax(scores), "kinds": np.argmax(scores, axis=1)}


PROGRAM = mlp_predict
TOLERANCE = 1e-7


def data(rng):
    return {
        "x": rng.normal(size=(6, 4)),
        "w1": rng.normal(size=(4, 8)),
        "w2": rng.normal(size=(8, 3)),
    }


def plain(x, w1, w2):
    scores = np.tanh(x @ w1) @ w2
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return {
        "chances": powers / powers.sum(axis=1, keepdims=True),
        "kinds": np.argmax(scores, axis=1),
    }


if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(mlp_predict(session, **data(np.random.default_rng(1))))
