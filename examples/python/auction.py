"""A second-price auction: who wins, and the price, which is the second highest bid. Bids stay secret."""

import hushwire as hw
import hushwire.numpy as hnp
import numpy as np


@hw.computation
def auction(
    ann: hw.u64 @ "ann", bob: hw.u64 @ "bob", cleo: hw.u64 @ "cleo", dan: hw.u64 @ "dan"
) -> hw.out("ann", "bob", "cleo", "dan"):
    bids = hnp.stack([ann, bob, cleo, dan])
    return {"winner": np.argmax(bids), "price": np.sort(bids)[2]}


PROGRAM = auction


def data(rng):
    return {
        name: int(bid) for name, bid in zip(("ann", "bob", "cleo", "dan"), rng.integers(0, 1000, 4))
    }


def plain(**bids):
    values = list(bids.values())
    return {"winner": int(np.argmax(values)), "price": sorted(values)[2]}


if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(auction(session, ann=310, bob=290, cleo=405, dan=390))
