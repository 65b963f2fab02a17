// What must hold of hdl/formal/flow.sv, whatever the two ends do: the receiver hands on the numbers 0, 1, 2, … in
// order, each once, and never has a word without a place. Proved by induction over one cycle; the other assertions
// make the statement inductive, and say what the flow control's state means.
// Numbers count modulo 2^WIDTH, more than there can be under way.
`default_nettype none

module flow_check #(
    parameter int DEPTH   = 4,
    parameter int LATENCY = 2,
    parameter int WIDTH   = 4
) (
    input wire logic clk,
    input wire logic offer,
    input wire logic ready
);
    localparam int BITS = $clog2(DEPTH) + 1;

    logic                   started = 1'b0;
    logic [WIDTH-1:0]       sent, received;
    logic                   rst, taken, excess, overflow, credit, out_valid;
    logic [WIDTH:0]         far, farther;
    logic [1:0]             credits;
    logic [WIDTH-1:0]       out_data;
    logic [BITS-1:0]        places, count, wr, rd;
    logic [DEPTH*WIDTH-1:0] mem;

    assign rst = !started;

    // The module with its parameters set is flat and has these registers as ports, by their names inside.
    flow u_flow (
        .clk(clk), .rst(rst), .offer(offer), .ready(ready), .number(sent), .taken(taken),
        .excess(excess), .overflow(overflow), .far(far), .farther(farther), .credits(credits), .credit(credit),
        .out_valid(out_valid), .out_data(out_data),
        .\tx.places (places), .\rx.u_fifo.count (count), .\rx.u_fifo.wr (wr), .\rx.u_fifo.rd (rd),
        .\rx.u_fifo.mem[0] (mem[0 +: WIDTH]),
        .\rx.u_fifo.mem[1] (mem[WIDTH +: WIDTH])
`ifdef DEPTH4
        , .\rx.u_fifo.mem[2] (mem[2*WIDTH +: WIDTH])
        , .\rx.u_fifo.mem[3] (mem[3*WIDTH +: WIDTH])
`endif
    );

    always_ff @(posedge clk) begin
        started <= 1'b1;
        if (rst) begin
            sent     <= '0;
            received <= '0;
        end else begin
            sent     <= sent + WIDTH'(taken);
            received <= received + WIDTH'(out_valid && ready);
        end
    end

    logic [BITS-1:0]  stored;
    logic [WIDTH-1:0] next;  // the number behind those in the receiver
    logic             valid1, valid2, credit2;

    assign stored  = wr - rd;
    assign next    = received + WIDTH'(count);
    // With LATENCY 1 the second stages are wires.
    assign valid1  = far[WIDTH];
    assign valid2  = LATENCY == 2 && farther[WIDTH];
    assign credit2 = LATENCY == 2 && credits[1];

    always_comb if (started) begin
        // The statement.
        assert (!overflow);
        assert (!excess);
        if (out_valid) assert (out_data == received);

        // Every place is free, promised, taken, or on its way back as a credit.
        assert (6'(places) + 6'(valid1) + 6'(valid2) + 6'(count) + 6'(credit) + 6'(credits[0]) + 6'(credit2)
                == 6'(DEPTH));
        // The receiver counts what it holds.
        assert (6'(count) == 6'(stored) + 6'(out_valid));
        // No number is missing between the ends, and none is there twice.
        assert (sent == WIDTH'(next + WIDTH'(valid1) + WIDTH'(valid2)));
        if (valid1) assert (far[WIDTH-1:0] == next);
        if (valid2) assert (farther[WIDTH-1:0] == WIDTH'(next + WIDTH'(valid1)));
    end

    // Place a of the memory holds the word that is `ahead` words behind the oldest in memory, if it holds one.
    generate
        for (genvar a = 0; a < DEPTH; a = a + 1) begin : g_place
            logic [BITS-2:0] ahead;
            assign ahead = (BITS - 1)'(a) - rd[BITS-2:0];
            always_comb if (started && {1'b0, ahead} < stored) begin
                assert (mem[WIDTH*a +: WIDTH] == WIDTH'(received + WIDTH'(out_valid) + WIDTH'(ahead)));
            end
        end
    endgenerate
endmodule

`default_nettype wire
