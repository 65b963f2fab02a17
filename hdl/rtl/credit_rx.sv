// The receiving end of credit-based flow control: DEPTH places, and a credit for each that is emptied.
// Latency 2 from in to out, 1 from a word's leaving to its credit; initiation interval 1.
//
// in_*:     from the link; there is no ready, credit_tx sends only what has a place.
// out_*:    a word leaves at a clock edge where out_valid and out_ready are high.
// credit:   a pulse for each word that left.
// overflow: a word came without a place, and was dropped: the sender is not keeping to the rules.
`default_nettype none

module credit_rx #(
    parameter int WIDTH = 128,
    parameter int DEPTH = 64
) (
    input  wire logic             clk,
    input  wire logic             rst,
    input  wire logic             in_valid,
    input  wire logic [WIDTH-1:0] in_data,
    output logic                  out_valid,
    input  wire logic             out_ready,
    output logic      [WIDTH-1:0] out_data,
    output logic                  credit,
    output logic                  overflow
);
    logic in_ready;

    // The count serves others that use a fifo.
    /* verilator lint_off PINCONNECTEMPTY */
    fifo #(.WIDTH(WIDTH), .DEPTH(DEPTH)) u_fifo (
        .clk(clk), .rst(rst),
        .in_valid(in_valid), .in_ready(in_ready), .in_data(in_data),
        .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data),
        .count()
    );
    /* verilator lint_on PINCONNECTEMPTY */

    assign overflow = in_valid && !in_ready;

    always_ff @(posedge clk) credit <= !rst && out_valid && out_ready;
endmodule

`default_nettype wire
