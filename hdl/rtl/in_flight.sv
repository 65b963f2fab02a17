// Counts what is inside a pipeline that holds LIMIT at most: empty is high when nothing is.
`default_nettype none

module in_flight #(
    parameter int LIMIT = 24
) (
    input  wire logic clk,
    input  wire logic rst,
    input  wire logic enter,
    input  wire logic leave,
    output logic      empty
);
    localparam int BITS = $clog2(LIMIT + 1);

    logic [BITS-1:0] amount;

    assign empty = amount == '0;

    always_ff @(posedge clk) begin
        if (rst) amount <= '0;
        else amount <= amount + BITS'(enter) - BITS'(leave);
    end
endmodule

`default_nettype wire
