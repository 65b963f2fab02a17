"""Two people learn who of them is richer, and nothing else."""

import hushwire as hw


@hw.computation
def richer(alice: hw.u64 @ "alice", bob: hw.u64 @ "bob") -> hw.out("alice", "bob"):
    return alice > bob


PROGRAM = richer


def data(rng):
    alice, bob = rng.integers(0, 10**12, 2)
    return {"alice": int(alice), "bob": int(bob)}


def plain(alice, bob):
    return alice > bob


if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print("Alice is richer:", bool(richer(session, alice=5_000_000, bob=3_000_000)))
