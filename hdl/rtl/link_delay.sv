// A model of a link: what goes in comes out LATENCY cycles later (0: a wire). Initiation interval 1.
// Reset empties it, so that no valid bit is left from before.
`default_nettype none

module link_delay #(
    parameter int WIDTH   = 1,
    parameter int LATENCY = 1
) (
    input  wire logic             clk,
    input  wire logic             rst,
    input  wire logic [WIDTH-1:0] in,
    output logic      [WIDTH-1:0] out
);
    generate
        if (LATENCY == 0) begin : g_wire
            logic unused;
            assign out    = in;
            assign unused = &{1'b0, clk, rst};
        end else begin : g_shift
            logic [WIDTH*LATENCY-1:0] stages;
            always_ff @(posedge clk) begin
                if (rst) stages <= '0;
                else stages <= (WIDTH * LATENCY)'({stages, in});
            end
            assign out = stages[WIDTH*LATENCY-1 -: WIDTH];
        end
    endgenerate
endmodule

`default_nettype wire
