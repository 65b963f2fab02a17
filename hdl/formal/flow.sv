// The composition whose flow control is proved: a sender that numbers its words, a link of LATENCY 1 or 2 cycles each
// way, and a receiver of DEPTH places. offer and ready are arbitrary; hdl/formal/flow_check.sv states what holds.
//
// taken: a word is sent in this cycle. The links' stages are ports so that the check can see what is under way; the
// registers inside credit_tx and credit_rx are made ports by yosys (expose, hdl/tests/flow_proof.py): the modules under
// check are those of hdl/rtl as they stand.
`default_nettype none

module flow #(
    parameter int DEPTH   = 4,
    parameter int LATENCY = 2,
    parameter int WIDTH   = 4
) (
    input  wire logic             clk,
    input  wire logic             rst,
    input  wire logic             offer,
    input  wire logic             ready,
    input  wire logic [WIDTH-1:0] number,
    output logic                  taken,
    output logic                  excess,
    output logic                  overflow,
    output logic [WIDTH:0]        far,      // {valid, number} one cycle away from the receiver
    output logic [WIDTH:0]        farther,  // two cycles away (LATENCY 2)
    output logic [1:0]            credits,  // on their way back, after credit_rx's own register
    output logic                  credit,
    output logic                  out_valid,
    output logic [WIDTH-1:0]      out_data
);
    logic available, back;

    assign taken = offer && available;

    credit_tx #(.DEPTH(DEPTH)) tx (
        .clk(clk), .rst(rst), .take(taken), .give(back), .available(available), .excess(excess)
    );

    link_delay #(.WIDTH(WIDTH + 1), .LATENCY(LATENCY - 1)) first (
        .clk(clk), .rst(rst), .in({taken, number}), .out(farther)
    );
    link_delay #(.WIDTH(WIDTH + 1), .LATENCY(1)) second (.clk(clk), .rst(rst), .in(farther), .out(far));

    credit_rx #(.WIDTH(WIDTH), .DEPTH(DEPTH)) rx (
        .clk(clk), .rst(rst), .in_valid(far[WIDTH]), .in_data(far[WIDTH-1:0]),
        .out_valid(out_valid), .out_ready(ready), .out_data(out_data), .credit(credit), .overflow(overflow)
    );

    link_delay #(.WIDTH(1), .LATENCY(1)) third (.clk(clk), .rst(rst), .in(credit), .out(credits[0]));
    link_delay #(.WIDTH(1), .LATENCY(LATENCY - 1)) fourth (.clk(clk), .rst(rst), .in(credits[0]), .out(credits[1]));
    assign back = credits[1];
endmodule

`default_nettype wire
