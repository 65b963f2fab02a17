#!/usr/bin/env python3
"""Draws the block diagrams of docs/internals/hardware.md:  hdl/figures/blocks.py  writes docs/figures/hardware-*.svg."""
import pathlib
from html import escape

OUT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "figures"
FILL = {"local": "#e8f0fe", "prf": "#fde9d9", "link": "#e6f4ea", "memory": "#f3e8fd", "plain": "#ffffff"}


class Drawing:
    """Boxes and arrows on a white ground; all coordinates in pixels."""

    def __init__(self, width, height, title):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
            f'font-size="13" role="img"><title>{escape(title)}</title>',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path d="M0 0L8 4L0 8z" fill="#444"/></marker></defs>',
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
        ]

    def text(self, x, y, text, size=13, anchor="middle", colour="#222"):
        self.parts.append(
            f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
        )

    def box(self, x, y, w, h, lines, kind="plain", dashed=False):
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="5" fill="{FILL[kind]}" stroke="#555"{dash}/>'
        )
        if dashed:
            self.text(x + 8, y + 17, lines[0], 12, "start", "#555")
            return
        top = y + h / 2 - 8 * (len(lines) - 1) + 5
        for i, line in enumerate(lines):
            self.text(x + w / 2, top + 16 * i, line, 13 if i == 0 else 11)

    def arrow(self, *points, label=None, at=None, anchor="middle"):
        path = " ".join(f"{'L' if i else 'M'}{x} {y}" for i, (x, y) in enumerate(points))
        self.parts.append(f'<path d="{path}" fill="none" stroke="#444" stroke-width="1.4" marker-end="url(#tip)"/>')
        if label:
            self.text(*at, label, 11, anchor, "#444")

    def save(self, name):
        OUT.mkdir(exist_ok=True)
        (OUT / name).write_text("\n".join([*self.parts, "</svg>"]) + "\n")


def lane():
    d = Drawing(760, 300, "The AND lane")
    d.box(20, 35, 120, 44, ["counter"])
    d.box(20, 205, 120, 60, ["x = (xᵢ, xᵢ₊₁)", "y = (yᵢ, yᵢ₊₁)"])
    d.box(190, 20, 80, 74, ["+ LANE", "1 cycle"])
    d.box(320, 15, 210, 36, ["AES-128 under kᵢ, 21 cycles"], "prf")
    d.box(320, 65, 210, 36, ["AES-128 under kᵢ₋₁, 21 cycles"], "prf")
    d.box(190, 205, 150, 60, ["xᵢyᵢ ⊕ xᵢyᵢ₊₁ ⊕ xᵢ₊₁yᵢ", "a LUT a bit"], "local")
    d.box(390, 205, 140, 60, ["delay", "22 cycles, SRLs"])
    d.box(590, 110, 60, 60, ["⊕", "1 cycle"], "local")
    d.arrow((140, 57), (190, 57))
    d.arrow((270, 40), (320, 33))
    d.arrow((270, 74), (320, 83))
    d.arrow((140, 235), (190, 235))
    d.arrow((340, 235), (390, 235))
    d.arrow((530, 33), (610, 33), (610, 110))
    d.arrow((530, 83), (598, 83), (598, 110))
    d.arrow((530, 235), (620, 235), (620, 170))
    d.arrow((650, 140), (720, 140), label="zᵢ", at=(690, 132))
    d.text(380, 290, "One 128-bit AND a clock; zᵢ comes 23 cycles after its operands. Nothing inside waits.", 12)
    d.save("hardware-lane.svg")


def party():
    d = Drawing(820, 330, "A party")
    d.box(150, 20, 520, 280, ["party"], dashed=True)
    d.box(180, 60, 110, 60, ["issue", "a place here", "and at the left"], "local")
    d.box(340, 50, 140, 80, ["N AND lanes", "in step", "II 1, latency 23"], "prf")
    d.box(340, 170, 140, 40, ["own words", "FIFO"], "memory")
    d.box(340, 235, 140, 40, ["neighbour's words", "FIFO, DEPTH places"], "memory")
    d.box(540, 190, 90, 60, ["pair", "(zᵢ, zᵢ₊₁)"], "local")
    d.box(180, 160, 110, 40, ["keys, counter"])
    d.arrow((30, 90), (180, 90), label="shares of x, y", at=(88, 82))
    d.text(88, 105, "AXI4-Stream", 10)
    d.arrow((290, 90), (340, 90))
    d.arrow((290, 180), (315, 180), (315, 115), (340, 115))
    d.arrow((30, 180), (180, 180), label="from the host", at=(88, 172))
    d.arrow((480, 75), (780, 75), label="zᵢ to party i−1", at=(740, 67))
    d.arrow((780, 100), (520, 100), (520, 30), (235, 30), (235, 60), label="credits", at=(740, 115))
    d.arrow((410, 130), (410, 170))
    d.arrow((480, 190), (540, 208))
    d.arrow((480, 255), (540, 232))
    d.arrow((30, 255), (340, 255), label="zᵢ₊₁ from party i+1", at=(88, 247))
    d.arrow((410, 275), (410, 318), (30, 318), label="credits", at=(88, 311))
    d.arrow((630, 220), (780, 220), label="shares of x·y", at=(740, 212))
    d.text(740, 236, "AXI4-Stream", 10)
    d.save("hardware-party.svg")


def sequencer():
    d = Drawing(940, 470, "The sequencer")
    d.box(20, 30, 150, 60, ["microcode", "one copy, BRAM"], "memory")
    d.box(20, 115, 150, 110, ["16 threads", "next instruction,", "rows under way,", "credits"], "local")
    d.box(215, 60, 130, 130, ["issue", "frame of 5:", "AND · sum/out ·", "sum/in · sum · sum"], "local")
    d.box(215, 225, 130, 44, ["scalars", "common bits"], "memory")
    d.arrow((170, 60), (192, 60), (192, 90), (215, 90))
    d.arrow((170, 170), (215, 150))
    d.arrow((345, 120), (400, 120), label="core 0", at=(372, 112))
    d.arrow((345, 247), (372, 247), (372, 150), (400, 150))
    d.box(390, 20, 330, 320, ["lane n of N, all in step"], dashed=True)
    for c in range(5):
        y = 50 + 44 * c
        d.box(400, y, 150, 36, [f"core {c}: slots, sum"], "memory")
        if c:
            d.text(562, y + 22, f"{c} later", 9, "start", "#666")
        d.arrow((550, y + 12), (610, 130 if c < 2 else 150))
    d.box(610, 105, 95, 70, ["AND lane", "1 a clock"], "prf")
    d.box(570, 285, 140, 40, ["queue of zᵢ₊₁", "by thread"], "memory")
    d.arrow((705, 140), (905, 140), label="zᵢ, thread → party i−1", at=(822, 132))
    d.arrow((660, 175), (660, 258), (480, 258), (480, 268), label="own half, 28 after issue", at=(700, 222))
    d.box(400, 268, 140, 24, ["write ports, slot 0"], "plain")
    d.arrow((570, 305), (470, 305), (470, 292), label="other half", at=(520, 320))
    d.arrow((905, 305), (710, 305), label="zᵢ₊₁, thread ← party i+1", at=(818, 297))
    d.box(400, 370, 310, 50, ["landing", "a row in slot 0 of a frame, once both halves are there"], "link")
    d.arrow((640, 325), (640, 370))
    d.arrow((400, 395), (95, 395), (95, 225), label="products arrived", at=(210, 388))
    d.arrow((710, 395), (905, 395), label="credits → party i+1", at=(818, 387))
    d.arrow((905, 445), (60, 445), (60, 225), label="credits ← party i−1", at=(818, 437))
    d.save("hardware-sequencer.svg")


if __name__ == "__main__":
    lane()
    party()
    sequencer()
