"""A clock turned by hand: set the inputs, let them settle, look, then the edge. Handshakes are seen as the hardware
sees them at that edge, under every simulator alike."""
import random

from cocotb.triggers import Timer


class Clocked:
    """The clock of a module with ports clk and rst. `now` counts edges."""

    def __init__(self, dut):
        self.dut = dut
        self.now = 0
        dut.clk.value = 0

    def set(self, **inputs):
        for name, value in inputs.items():
            getattr(self.dut, name).value = value

    def get(self, name):
        """A signal as a number; one that is unknown raises ValueError."""
        return int(getattr(self.dut, name).value)

    async def settle(self):
        await Timer(1, "step")

    async def edge(self):
        self.dut.clk.value = 1
        await Timer(1, "step")
        self.dut.clk.value = 0
        self.now += 1

    async def reset(self):
        self.dut.rst.value = 1
        for _ in range(3):
            await self.settle()
            await self.edge()
        self.dut.rst.value = 0


class Source:
    """The sending side of a stream: a beat once offered stays until it is taken, as AXI4-Stream wants."""

    def __init__(self, beats, busy):
        self.beats, self.busy, self.at, self.offered = beats, busy, 0, False

    def offer(self):
        """The beat of this cycle, or None."""
        if self.at < len(self.beats) and not self.offered:
            self.offered = random.random() < self.busy
        return self.beats[self.at] if self.offered else None

    def taken(self):
        self.at += 1
        self.offered = False

    def done(self):
        return self.at == len(self.beats)
