#!/usr/bin/env python3
"""Simulates hdl/figures/trace.sv under Icarus Verilog and draws what party 0 did, cycle by cycle, from the trace:
hdl/figures/timing.py  writes docs/figures/hardware-timing.svg  (half a minute)."""
import pathlib
import re
import subprocess
import tempfile

from blocks import OUT, Drawing

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPS = {1: ("sum", "#cfe2ff"), 2: ("AND", "#f8c9a4"), 3: ("in", "#d9ead3"), 4: ("out", "#e6d0f5")}
CORES, CELL, LEFT, HEIGHT = 5, 10, 150, 19


def simulate():
    """The text of the trace."""
    with tempfile.TemporaryDirectory() as work:
        model = f"{work}/trace.vvp"
        build = ["iverilog", "-g2012", "-o", model, "-s", "trace", "-y", "hdl/rtl", "-Y", ".sv", "hdl/figures/trace.sv"]
        subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
        program = (ROOT / "hdl/figures/example.hwm").read_text()
        (pathlib.Path(work) / "hdl/figures").mkdir(parents=True)
        (pathlib.Path(work) / "hdl/figures/example.hwm").write_text(program)
        subprocess.run(["vvp", "-n", model], cwd=work, check=True, capture_output=True)
        return (pathlib.Path(work) / "trace.vcd").read_text()


def samples(vcd):
    """The scope's signals as they stand before each rising edge of its clock."""
    names, values, cycles = {}, {}, []
    head, body = vcd.split("$enddefinitions", 1)
    for code, name in re.findall(r"\$var \w+ \d+ (\S+) (\w+)", head):
        names.setdefault(code, name)
    clock = next(code for code, name in names.items() if name == "clk")
    for line in body.splitlines():
        if line[:1] == "b":
            value, code = line[1:].split()
        elif line[:1] in "01xz" and line:
            value, code = line[0], line[1:]
        else:
            continue
        if code == clock and value == "1" and values.get(code) == "0":
            # A memory that was never written reads as x; no signal that is drawn depends on it.
            known = {c: v.replace("x", "0").replace("z", "0") for c, v in values.items()}
            cycles.append({names[c]: int(v, 2) for c, v in known.items() if c in names})
        values[code] = value
    return cycles


def draw(cycles):
    # Most of the input and the last output rows are left out.
    first = next(i for i, c in enumerate(cycles) if c["t_and"])
    cycles = cycles[first - 12 : first + 128]
    rows = [f"core {c} begins" for c in range(CORES)]
    rows += ["lane is fed by core", "zᵢ to party i−1", "zᵢ₊₁ from party i+1", "own half written", "other half written"]
    d = Drawing(LEFT + CELL * len(cycles) + 20, 40 + HEIGHT * len(rows) + 50, "A small program on the sequencer")
    for r, name in enumerate(rows):
        d.text(LEFT - 8, 54 + HEIGHT * r, name, 11, "end")

    def cell(row, t, text, colour):
        if 0 <= t < len(cycles):
            x, y = LEFT + CELL * t, 41 + HEIGHT * row
            d.parts.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{HEIGHT - 3}" fill="{colour}" stroke="#999" stroke-width=".5"/>')
            d.text(x + CELL / 2, y + 12, text, 8)

    for t, now in enumerate(cycles):
        if now["slot"] == 1:
            # Core 0 begins in the cycle after the choice: the frame's AND in slot 1 of the counter.
            x = LEFT + CELL * t
            d.parts.append(f'<path d="M{x} 36V{41 + HEIGHT * len(rows)}" stroke="#ccc" stroke-width=".6"/>')
        if t % 10 == 0:
            d.text(LEFT + CELL * t + CELL / 2, 31, str(t), 9, colour="#777")
        for bit, op in (("t_lin", 1), ("t_and", 2), ("t_in", 3), ("t_out", 4)):
            if now[bit]:
                for c in range(CORES):
                    cell(c, t + c, str(now["t_ctx"]), OPS[op][1])
        feed = [c for c in range(CORES) if now["ctl2"] >> (6 * c + 5) & 1]
        if feed:
            cell(CORES, t, str(feed[0]), OPS[2][1])
        if now["tx_valid"]:
            cell(CORES + 1, t, str(now["tx_ctx"]), "#f8c9a4")
        if now["rx_valid"]:
            cell(CORES + 2, t, str(now["rx_ctx"]), "#bfe3c8")
        for row, signal in ((CORES + 3, "own_we"), (CORES + 4, "next_we")):
            if now[signal]:
                for c in range(CORES):
                    cell(row, t + c, str(c), "#ddd")
    y = 41 + HEIGHT * len(rows) + 22
    x = LEFT
    for name, colour in OPS.values():
        d.parts.append(f'<rect x="{x}" y="{y - 11}" width="14" height="14" fill="{colour}" stroke="#999"/>')
        d.text(x + 20, y, name, 11, "start")
        x += 70
    d.text(x + 10, y, "in a cell: the thread; where the lane is fed or a half is written: the core. Lines: frames.", 11, "start", "#555")
    d.text(LEFT - 8, 31, "cycle", 9, "end", "#777")
    d.save("hardware-timing.svg")


if __name__ == "__main__":
    draw(samples(simulate()))
