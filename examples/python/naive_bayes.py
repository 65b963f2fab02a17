"""Naive Bayes on words: one owner has which words occur, another which messages are unwanted."""

import hushwire as hw
import numpy as np

REAL = hw.fixed(64, 32)


def learn(words, unwanted, message):
    kind = np.stack([unwanted, ~unwanted])
    many = kind.sum(axis=1)
    seen = (kind[:, :, None] & words[None, :, :]).sum(axis=1)
    # One more of each, so that no word is impossible.
    chance = (seen + 1) / (many + 2)[:, None]
    score = np.log((many + 1) / 42) + np.where(message, np.log(chance), np.log(1 - chance)).sum(
        axis=1
    )
    return {"scores": score, "is_unwanted": score[0] > score[1]}


@hw.computation
def naive_bayes(
    words: hw.bool_[40, 6] @ "post", unwanted: hw.bool_[40] @ "users", message: hw.bool_[6] @ "ann"
) -> hw.out("ann"):
    return learn(words, unwanted, message)


PROGRAM = naive_bayes
TOLERANCE = 1e-6


def data(rng):
    unwanted = rng.uniform(size=40) < 0.4
    words = rng.uniform(size=(40, 6)) < np.where(unwanted[:, None], 0.6, 0.2)
    return {"words": words, "unwanted": unwanted, "message": words[0]}


plain = learn

if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(naive_bayes(session, **data(np.random.default_rng(1))))
