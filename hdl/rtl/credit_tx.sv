// The sending end of credit-based flow control: counts the places that the receiver (credit_rx) has left.
// A credit that comes in a cycle can be spent in the next.
//
// take:      one place is spent; only while available is high.
// give:      a credit came back.
// excess:    a credit came while all DEPTH places were free: the receiver is not keeping to the rules, or one of the
//            two was reset alone. It is not counted.
// No ready travels on the link: what was sent has its place, so the link may take any number of cycles. Words flow
// without a pause if DEPTH is at least the cycles from a take to the return of its credit.
`default_nettype none

module credit_tx #(
    parameter int DEPTH = 64
) (
    input  wire logic clk,
    input  wire logic rst,
    input  wire logic take,
    input  wire logic give,
    output logic      available,
    output logic      excess
);
    localparam int BITS = $clog2(DEPTH) + 1;

    logic [BITS-1:0] places;

    assign available = places != '0;
    assign excess    = give && places == BITS'(DEPTH);

    always_ff @(posedge clk) begin
        if (rst) places <= BITS'(DEPTH);
        else places <= places + BITS'(give && !excess) - BITS'(take);
    end
endmodule

`default_nettype wire
