"""Sessions: computations against NumPy, threads, forks, interrupts and ends."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import hushwire as hw

LONG = """computation long
members a, b
symbols n
input x: u64[n] from a
input y: u64[n] from b
output z = permute(x, order(y)) to a"""

DOT = """computation dot
members a, b
symbols n
input x: i64[n] from a
input y: i64[n] from b
output z = sum(x * y) to a, b"""


def test_a_computation_gives_what_numpy_does(three: hw.Session) -> None:
    rng = np.random.default_rng(1)
    for n in (1, 7, 1000):
        x, y = rng.integers(-(2**31), 2**31, size=(2, n))
        learnt = three.run(DOT, {"x": x, "y": y})
        assert int(learnt["z"]) == int((x * y).sum())
        assert learnt["z"].dtype == np.int64


@pytest.mark.parametrize("dtype", ["i2", "u2", "i4", "u4", "i8", "u8", "b1"])
def test_every_type_goes_in_and_out(three: hw.Session, dtype: str) -> None:
    scalar = "bool" if dtype == "b1" else f"{dtype[0]}{8 * int(dtype[1])}"
    text = f"computation c\nmembers a\ninput x: {scalar}[2, 3] from a\noutput y = x to a"
    rng = np.random.default_rng(2)
    if dtype == "b1":
        x = rng.integers(0, 2, size=(2, 3)).astype(bool)
    else:
        ends = np.iinfo(dtype)
        x = rng.integers(ends.min, ends.max, size=(2, 3), dtype=dtype, endpoint=True)
    y = three.run(text, {"x": x})["y"]
    assert (y == x).all()
    assert y.dtype == np.dtype(dtype)


def test_floats_become_the_nearest_steps(three: hw.Session) -> None:
    text = "computation c\nmembers a\ninput x: fixed(64, 16)[4] from a\noutput y = x to a"
    x = np.array([0.1, -2.5, 1e9, 3e-6])
    y = three.run(text, {"x": x})["y"]
    assert (y == np.round(x * 2**16) / 2**16).all()


@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8", ">f4", ">f8"])
def test_floats_of_every_width_go_in(three: hw.Session, dtype: str) -> None:
    text = "computation c\nmembers a\ninput x: fixed(64, 32)[3] from a\noutput y = x to a"
    x = np.array([0.1, -2.5, 3000], dtype)
    assert (three.run(text, {"x": x})["y"] == np.round(x.astype(float) * 2**32) / 2**32).all()
    assert (three.run(text, {"x": x[::-1]})["y"] == three.run(text, {"x": x})["y"][::-1]).all()


def test_the_evaluator_and_the_parties_agree(three: hw.Session) -> None:
    from hushwire import _arrays

    computation = hw.Computation(DOT)
    given = {"x": np.arange(5), "y": np.arange(5) - 2}
    native = {name: _arrays.to_native(array) for name, array in given.items()}
    plain = _arrays.from_native(computation.evaluate(native)["z"])
    assert int(three.run(computation, given)["z"]) == int(plain)


@pytest.mark.parametrize("parties", [2, 3, 4])
def test_any_number_of_parties(parties: int) -> None:
    with hw.local(parties=parties) as session:
        text = DOT.replace("i64", "u8").replace("sum(x * y)", "x > y")
        learnt = session.run(text, {"x": [1, 5], "y": [3, 2]})
        assert learnt["z"].tolist() == [False, True]


@pytest.mark.parametrize("parties", [-1, 0, 1, 9])
def test_a_number_of_parties_that_no_protocol_has_is_refused(parties: int) -> None:
    with pytest.raises(hw.UsageError, match="2 to 8 parties") as caught:
        hw.local(parties=parties)
    assert "parties=3" in caught.value.remedy


def test_a_session_goes_on_after_an_error(three: hw.Session) -> None:
    with pytest.raises(hw.UsageError):
        three.run(DOT, {"x": [1]})
    with pytest.raises(hw.PartyError):
        three.run(DOT, {"x": [1, 2], "y": [1]})
    assert int(three.run(DOT, {"x": [2], "y": [3]})["z"]) == 6


def test_a_closed_session_says_so() -> None:
    session = hw.local()
    session.close()
    session.close()
    with pytest.raises(hw.UsageError, match="closed"):
        session.run(DOT, {"x": [1], "y": [1]})
    assert session.closed


def test_one_run_at_a_time() -> None:
    with hw.local() as session:
        big = {"x": np.arange(1 << 18), "y": np.arange(1 << 18)[::-1].copy()}
        errors: list[BaseException] = []

        def work() -> None:
            try:
                session.run(LONG, big)
            except BaseException as e:
                errors.append(e)

        thread = threading.Thread(target=work)
        thread.start()
        busy = False
        while thread.is_alive() and not busy:
            try:
                session.run(DOT, {"x": [1], "y": [1]})
            except hw.UsageError as e:
                busy = "another run" in e.cause
        session.cancel()
        thread.join(20)
        assert busy
        assert not thread.is_alive()
        assert [type(e) for e in errors] in ([hw.Cancelled], [])
        assert int(session.run(DOT, {"x": [2], "y": [4]})["z"]) == 8


def test_threads_have_sessions_of_their_own() -> None:
    found: dict[int, int] = {}

    def work(k: int) -> None:
        with hw.local() as session:
            for _ in range(3):
                found[k] = int(session.run(DOT, {"x": [k], "y": [10]})["z"])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == {k: 10 * k for k in range(6)}


def test_a_fork_begins_a_session_of_its_own() -> None:
    with hw.local() as session:
        assert int(session.run(DOT, {"x": [2], "y": [3]})["z"]) == 6
        child = os.fork()
        if child == 0:
            code = 1
            try:
                try:
                    session.run(DOT, {"x": [2], "y": [3]})
                except hw.PartyError as e:
                    if "fork" in e.cause:
                        code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert int(session.run(DOT, {"x": [5], "y": [3]})["z"]) == 15


def test_sessions_leave_nothing(full: bool) -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])

    def some(n: int) -> None:
        for k in range(n):
            with hw.local() as session:
                assert int(session.run(DOT, {"x": [k], "y": [1]})["z"]) == k

    def threads() -> int:
        return len(os.listdir("/proc/self/task"))

    some(50 if full else 20)
    before = descriptors(), resident(), threads()
    some(950 if full else 40)
    after = descriptors(), resident(), threads()
    assert after[0] <= before[0] + 2
    assert after[1] <= before[1] * 1.1 + 1000
    assert after[2] <= before[2] + 2


def test_sessions_of_threads_that_are_cancelled_leave_nothing() -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    def some(n: int) -> None:
        big = {"x": np.arange(1 << 16), "y": np.arange(1 << 16)[::-1].copy()}
        sessions = [hw.local() for _ in range(n)]
        ended: list[type[BaseException] | None] = []

        def work(session: hw.Session) -> None:
            try:
                session.run(LONG, big)
                ended.append(None)
            except hw.PartyError as e:
                ended.append(type(e))

        threads = [threading.Thread(target=work, args=(session,)) for session in sessions]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        for session in sessions:
            session.close()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        assert set(ended) <= {None, hw.Cancelled, hw.UsageError}, ended

    some(2)
    before = descriptors()
    for _ in range(3):
        some(4)
    # The threads of a cancelled run end soon.
    until = time.monotonic() + 20
    while descriptors() > before + 2 and time.monotonic() < until:
        time.sleep(0.05)
    assert descriptors() <= before + 2


def run(program: str, *, interrupt: float | None = None) -> tuple[int, str, float]:
    """Run a program, optionally with SIGINT after a time. Return its exit code, its output, and the time
    from the signal to its end."""
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert child.stdout is not None
    line = child.stdout.readline()
    assert line.strip() == "ready", line
    began = time.monotonic()
    if interrupt is not None:
        time.sleep(interrupt)
        began = time.monotonic()
        child.send_signal(signal.SIGINT)
    text = child.stdout.read()
    code = child.wait(60)
    return code, text, time.monotonic() - began


PHASES = {
    "planning": """
big = " UNION ALL ".join(["SELECT n FROM t"] * 300)
while True: session.sql(f"SELECT SUM(n) AS s FROM ({big}) AS q", t={"n": list(range(50))})
""",
    "opening": "while True: hw.local().close()",
    "computing": f"""
import numpy as np
while True: session.run('''{LONG}''', {{"x": np.arange(1 << 20), "y": np.arange(1 << 20)[::-1].copy()}})
""",
    "query": """
while True: session.sql("SELECT n, SUM(n) OVER (ORDER BY n) AS s FROM t ORDER BY s", t={"n": list(range(1 << 14))})
""",
    "intersection": """
keys = [f"key{k}" for k in range(1 << 17)]
while True: hw.psi(keys, keys)
""",
    "encryption": "while True: hw.aes(bytes(1 << 24), key=bytes(16), iv=1)",
}


@pytest.mark.parametrize("phase", PHASES)
def test_an_interrupt_ends_a_run_in_every_phase(phase: str) -> None:
    program = f"""
import hushwire as hw, sys
session = hw.local()
print("ready", flush=True)
try:
{"".join("    " + line + chr(10) for line in PHASES[phase].strip().splitlines())}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
"""
    code, text, _ = run(program, interrupt=0.7)
    assert (code, text.strip()) == (7, "interrupted")


@pytest.mark.parametrize("how", ["daemon", "open", "exit"])
def test_the_interpreter_ends_in_mid_run(how: str) -> None:
    body = {
        "daemon": "threading.Thread(target=work, daemon=True).start(); time.sleep(0.5)",
        "open": "session.run(text, {'x': [1], 'y': [1]})",
        "exit": "threading.Thread(target=work, daemon=True).start(); time.sleep(0.3); sys.exit(0)",
    }[how]
    program = f"""
import hushwire as hw, numpy as np, sys, threading, time, tempfile, os
session = hw.local()
text = '''{LONG}'''
def work():
    try: session.run(text, {{"x": np.arange(1 << 20), "y": np.arange(1 << 20)[::-1].copy()}})
    except hw.PartyError: pass
print("ready", flush=True)
{body}
print("end", flush=True)
"""
    code, text, _ = run(program)
    assert code == 0, text
    assert "panic" not in text and "Traceback" not in text, text


def test_no_directory_is_left() -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        # The path is too long for the names of sockets.
        long = os.path.join(place, "d" * 90)
        os.mkdir(long)
        program = f"import hushwire as hw; print('ready'); s = hw.local(); s.run({DOT!r}, dict(x=[1], y=[1]))"
        for tmp in (place, long):
            done = subprocess.run(
                [sys.executable, "-c", program],
                env={**os.environ, "TMPDIR": tmp},
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert done.returncode == 0, done.stderr
        assert os.listdir(place) == ["d" * 90]


def test_sessions_are_not_pickled(three: hw.Session) -> None:
    for secret in (three, three._native):
        with pytest.raises(hw.UsageError, match="pickled"):
            pickle.dumps(secret)


def test_progress_and_its_errors(three: hw.Session) -> None:
    events: list[hw.Progress] = []
    x = np.arange(1 << 12)
    three.run(LONG, {"x": x, "y": x}, progress=events.append)
    assert events and events[-1].kind == "progress"
    assert events[-1].done == events[-1].total > 0

    def broken(_: hw.Progress) -> None:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        three.run(LONG, {"x": x, "y": x}, progress=broken)
    three.run(LONG, {"x": x, "y": x}, progress=True)


def test_a_cancelled_session_begins_anew() -> None:
    with hw.local() as s:
        x = np.arange(8)
        s.run(LONG, {"x": x, "y": x})
        # The state is that of a run that was cancelled just after its end.
        s.cancel()
        s.run(LONG, {"x": x, "y": x})


def test_the_command_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hushwire", "local", "psi", "--help"], capture_output=True, text=True
    )
    assert done.returncode == 0 and "--reveal" in done.stdout
    done = subprocess.run([sys.executable, "-m", "hushwire", "nothing"], capture_output=True, text=True)
    assert done.returncode == 2


def test_the_command_starts_its_members(tmp_path: os.PathLike[str]) -> None:
    for name, text in (("a", "email\nann@x\nbob@x\n"), ("b", "email\nann@x\n")):
        with open(os.path.join(tmp_path, f"{name}.csv"), "w") as file:
            file.write(text)
    done = subprocess.run(
        [sys.executable, "-m", "hushwire", "local", "psi", "-q", "--a", "a.csv", "--b", "b.csv"]
        + ["--column", "email", "--reveal", "size"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "1"), done.stderr
