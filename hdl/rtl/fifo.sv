// First-in first-out queue with valid and ready on both sides.
// Latency 2 from in to out when empty, initiation interval 1 (from DEPTH 4 on).
//
// DEPTH: words it holds, the one at the output included; a power of 2, at least 2.
// in_*:  a word is taken at a clock edge where in_valid and in_ready are high; in_ready does not depend on in_valid.
// out_*: a word leaves at an edge where out_valid and out_ready are high; out_data comes from a register.
// count: words inside.
// The memory has no reset and is read into a register, so that it maps to LUT RAM or block RAM.
`default_nettype none

module fifo #(
    parameter int WIDTH = 128,
    parameter int DEPTH = 64
) (
    input  wire logic               clk,
    input  wire logic               rst,
    input  wire logic               in_valid,
    output logic                    in_ready,
    input  wire logic [WIDTH-1:0]   in_data,
    output logic                    out_valid,
    input  wire logic               out_ready,
    output logic      [WIDTH-1:0]   out_data,
    output logic [$clog2(DEPTH):0]  count
);
    localparam int BITS = $clog2(DEPTH);

    logic [WIDTH-1:0] mem [0:DEPTH-1];
    logic [BITS:0]    wr, rd;  // one bit more than an address: equal only when the memory is empty
    logic             push, fetch, pop;

    assign in_ready = count != (BITS + 1)'(DEPTH);
    assign push     = in_valid && in_ready;
    assign pop      = out_valid && out_ready;
    assign fetch    = wr != rd && (!out_valid || out_ready);

    always_ff @(posedge clk) begin
        if (push) mem[wr[BITS-1:0]] <= in_data;
        if (fetch) out_data <= mem[rd[BITS-1:0]];
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            wr        <= '0;
            rd        <= '0;
            count     <= '0;
            out_valid <= 1'b0;
        end else begin
            if (push) wr <= wr + 1'b1;
            if (fetch) rd <= rd + 1'b1;
            out_valid <= fetch || (out_valid && !out_ready);
            count     <= count + (BITS + 1)'(push) - (BITS + 1)'(pop);
        end
    end
endmodule

`default_nettype wire
