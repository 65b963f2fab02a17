"""A firm's decision tree on a customer's row: the firm keeps columns, thresholds and leaves, the
customer the row, and the customer alone learns the answer."""

import hushwire as hw
import hushwire.numpy as hnp
import numpy as np

DEPTH = 3


@hw.computation
def decision_tree(
    column: hw.u8[7] @ "firm",
    threshold: hw.i32[7] @ "firm",
    leaf: hw.i32[8] @ "firm",
    row: hw.i32[5] @ "customer",
) -> hw.out("customer"):
    # All nodes are compared, so that no step tells the way.
    right = hnp.take(row, column) >= threshold
    value = leaf
    for depth in reversed(range(DEPTH)):
        first = 2**depth - 1
        turns = right[first : first + 2**depth]
        value = hw.where(turns, value[1::2], value[0::2])
    return value[0]


PROGRAM = decision_tree


def data(rng):
    return {
        "column": rng.integers(0, 5, 7).astype(np.uint8),
        "threshold": rng.integers(-50, 50, 7).astype(np.int32),
        "leaf": rng.integers(-1000, 1000, 8).astype(np.int32),
        "row": rng.integers(-50, 50, 5).astype(np.int32),
    }


def plain(column, threshold, leaf, row):
    node = 0
    for _ in range(DEPTH):
        node = 2 * node + 1 + int(row[column[node]] >= threshold[node])
    return leaf[node - 7]


if __name__ == "__main__":
    with hw.local(parties=3) as session:
        print(decision_tree(session, **data(np.random.default_rng(1))))
