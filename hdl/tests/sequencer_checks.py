"""Checks of the sequencer that are not benches of the list: vectors of the software, the simulators, proofs."""
import json
import os
import shutil
import socket
import struct
import subprocess
import time

from runner import OUT, ROOT, VERILATOR, Bench, Failure, Result, command, run_bench
from sequencer_mutations import PARAMS

SMALL = ROOT / "hdl" / "tests" / "small.hwm"
PLANE = 16 * 5


def simulator(*arguments):
    """sequencer-sim on the small program; its object."""
    return json.loads(command([OUT / "sequencer-sim", SMALL, *map(str, arguments)]))


class Engine:
    """The engine's end of party-sim's socket."""

    def __init__(self):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.process = subprocess.Popen([OUT / "party-sim"], stdin=theirs)
        theirs.close()
        self.socket.settimeout(20)
        kind, _, hello = self.hear()
        assert kind == "H" and struct.unpack("<8I", hello)[:3] == (1, 1, 5), "a greeting of another kind"

    def say(self, kind, thread=0, payload=b"", length=None):
        self.socket.sendall(struct.pack("<BBHI", ord(kind), thread, 0, len(payload) if length is None else length) + payload)

    def read(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            assert more, "party-sim is gone"
            data += more
        return data

    def hear(self):
        kind, thread, _, length = struct.unpack("<BBHI", self.read(8))
        return chr(kind), thread, self.read(length)

    def end(self):
        self.socket.close()
        return self.process.wait(20)


def refused(kind, payload=b"", thread=0, length=None):
    """A frame that breaks the protocol is answered with an error's text, and the party ends with exit status 1."""
    engine = Engine()
    engine.say(kind, thread, payload, length)
    answer, _, text = engine.hear()
    assert answer == "X" and len(text) > 10, f"{kind!r} was answered with {answer!r}"
    assert engine.process.wait(20) == 1
    engine.socket.close()


def one_batch():
    """A batch of the small program, with Python as both neighbours: link and output as the model says."""
    import random

    from microcode import IN, Run, read, share

    random.seed(1)
    program, bits = read(SMALL), 8 * PLANE
    keys = [random.randbytes(16) for _ in range(3)]
    scalars = [[0, 0, 0]] + [[random.getrandbits(1) for _ in range(3)] for _ in range(program.scalars - 1)]
    rows = [share(random.getrandbits(bits), bits) for _ in range(program.count(IN))]
    run = Run(program, 5, keys, 5 << 96, scalars, rows)

    def plane(value):
        return value.to_bytes(PLANE, "little")

    engine = Engine()
    engine.say("K", 0, keys[0] + keys[2])
    engine.say("M", 0, b"".join(instr.word().to_bytes(8, "little") for instr in program.code))
    engine.say("S", 0, bytes(s[0] | s[1] << 1 for s in scalars))
    engine.say("P", 0, struct.pack("<II", len(rows), len(run.out[0])))
    engine.say("J", 7, (5 << 96).to_bytes(16, "little") + b"".join(plane(r[0]) + plane(r[1]) for r in rows))
    right = b"".join(map(plane, run.link[1]))
    for at in range(0, len(right), 48):  # frames that end within rows
        engine.say("R", 7, right[at : at + 48])
    sent, output = b"", None
    while output is None:
        kind, thread, payload = engine.hear()
        assert thread == 7 and kind in "TO", f"a frame {kind!r}"
        if kind == "T":
            sent += payload
        else:
            output = payload
    assert sent == b"".join(map(plane, run.link[0])), "another link"
    assert output == b"".join(plane(own) + plane(next_) for own, next_ in run.out[0]), "another output"
    engine.say("Z")
    kind, _, numbers = engine.hear()
    cycles, ands = struct.unpack("<QQ", numbers)
    assert kind == "Z" and ands == len(run.link[0]) and cycles > ands
    assert engine.end() == 0, "the end of the engine is no error"


def loading_under_a_batch():
    """Nothing is loaded while a batch is under way: the words that the core sends meanwhile would be lost."""
    program = struct.pack("<4Q", 3 << 61, 2 << 61 | 3 << 58 | 1, 4 << 61 | 1 << 60 | 1 << 59 | 1 << 26, 0)  # IN AND OUT END
    for kind, payload in (("K", bytes(32)), ("M", program), ("S", bytes(1)), ("P", struct.pack("<II", 1, 1))):
        engine = Engine()
        engine.say("K", 0, bytes(32))
        engine.say("M", 0, program)
        engine.say("S", 0, bytes(1))
        engine.say("P", 0, struct.pack("<II", 1, 1))
        engine.say("J", 0, bytes(16 + 2 * PLANE))
        # The product waits for the right neighbour, who says nothing.
        answer = engine.hear()
        assert answer[0] == "T", f"{answer}"
        engine.say(kind, 0, payload)
        while answer[0] == "T":
            answer = engine.hear()
        assert answer[0] == "X", f"{kind} under a batch was answered with {answer[0]!r}"
        assert engine.process.wait(20) == 1
        engine.socket.close()


def simulators():
    """hdl/sim: both programs build, and do what their frames and options say."""
    for tool in ("verilator", "g++", "make"):
        if not shutil.which(tool):
            return Result("simulators", "skipped", f"{tool} is absent")
    start = time.monotonic()
    try:
        command([ROOT / "hdl" / "sim" / "build"], env={**os.environ, "CARGO_TARGET_DIR": str(OUT.parent)})
        runs = [simulator("--threads", t, "--latency", l, "--batches", 2) for t in (1, 16) for l in (1, 50)]
        # Every run compares its results with a plain one. A longer link is waited for.
        assert [(r["threads"], r["link_latency"]) for r in runs] == [(1, 1), (1, 50), (16, 1), (16, 50)]
        assert runs[0]["total_cycles"] < runs[1]["total_cycles"] and runs[2]["ands"] == 16 * runs[0]["ands"] > 0
        refused("?")
        refused("J", bytes(16))
        refused("K", bytes(31))
        refused("R", bytes(17))
        refused("R", bytes(16), thread=16)
        refused("M", bytes(8), length=(64 << 20) + 1)
        assert Engine().end() == 0
        one_batch()
        loading_under_a_batch()
    except (Failure, AssertionError, OSError) as failure:
        return Result("simulators", "FAILED", "party-sim or sequencer-sim", repr(failure)[-3000:])
    return Result("simulators", "ok", f"frames, errors, links of 1 and 50 cycles, {time.monotonic() - start:.1f} s")


def sequencer_vectors():
    """The sequencer against a run of three software parties (cargo run -p hushwire-hdl --example vectors)."""
    vectors = OUT / "vectors"
    if not (vectors / "sequencer.json").exists():
        return Result("sequencer_vectors", "skipped", f"{vectors}/sequencer.json is absent")
    bench = Bench(
        "sequencer_vectors", "sequencer", "test_sequencer_vectors", {**PARAMS, "SLOTS": 128}, VERILATOR,
        env={"VECTORS": str(vectors)},
    )
    return run_bench(bench, "verilator")


CHECKS = [("simulators", simulators), ("sequencer_vectors", sequencer_vectors)]
