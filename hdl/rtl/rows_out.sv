// Output rows of the cores: room for a whole row is kept before it is made, for the cores do not pause.
//
//   room      a row fits; taken: it will come
//   beat      a beat comes in this cycle: data; first: with it, the tag of its row
//   m_*       AXI4-Stream of beats and tags
`default_nettype none
module rows_out #(
    parameter int WIDTH = 256,
    parameter int TAG   = 4,
    parameter int BEATS = 5
) (
    input  wire              clk,
    input  wire              rst,
    output logic             room,
    input  wire              taken,
    input  wire              beat,
    input  wire              first,
    input  wire  [WIDTH-1:0] data,
    input  wire  [  TAG-1:0] tag,
    output logic             m_valid,
    input  wire              m_ready,
    output logic [WIDTH-1:0] m_data,
    output logic [  TAG-1:0] m_tag
);
  localparam int DEPTH = 32;
  localparam int BITS = $clog2(DEPTH);
  logic [WIDTH-1:0] memory[0:DEPTH-1];
  logic [TAG-1:0] tags[0:DEPTH-1];
  logic [BITS-1:0] head, tail;
  // Places kept or filled, and places filled.
  logic [BITS:0] kept, filled;
  logic [TAG-1:0] row_tag;
  wire [TAG-1:0] now = first ? tag : row_tag;

  wire pop = m_valid && m_ready;
  assign room = kept <= (BITS + 1)'(DEPTH - BEATS);
  assign m_valid = filled != '0;
  assign m_data = memory[head];
  assign m_tag = tags[head];

  always_ff @(posedge clk) begin
    if (beat) memory[tail] <= data;
    if (beat) tags[tail] <= now;
    row_tag <= now;
    if (rst) begin
      head   <= '0;
      tail   <= '0;
      kept   <= '0;
      filled <= '0;
    end else begin
      if (beat) tail <= tail + 1'b1;
      if (pop) head <= head + 1'b1;
      kept   <= kept + (taken ? (BITS + 1)'(BEATS) : '0) - (BITS + 1)'(pop);
      filled <= filled + (BITS + 1)'(beat) - (BITS + 1)'(pop);
    end
  end
endmodule
`default_nettype wire
