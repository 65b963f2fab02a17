// What must hold of rows_in, however beats come, if a row is taken only when `row` says so and no more beats are read
// than the rows taken have: never too many or too few beats inside, and those read are 0, 1, 2, … in order, each once.
// Proved by induction over one cycle; registers and memory are ports made by yosys (place a of the memory at a·WIDTH).
`default_nettype none

module rows_in_check #(
    parameter int BEATS = 5,
    parameter int DEPTH = 32
) (
    input wire logic clk,
    input wire logic valid,
    input wire logic take,
    input wire logic read
);
    localparam int BITS = $clog2(DEPTH);
    localparam int WIDTH = BITS + 1;

    logic                     started = 1'b0;
    logic                     rst, ready, row, taken, beat;
    logic [WIDTH-1:0]         data;
    logic [BITS-1:0]          head, tail;
    logic [BITS:0]            held, rows;
    logic [$clog2(BEATS)-1:0] part;
    logic [DEPTH*WIDTH-1:0]   memory;

    // Beats that came and were read, counted modulo 2·DEPTH, and those still to be read of rows taken.
    logic [WIDTH-1:0] came, gone;
    logic [BITS+1:0]  owed;

    assign rst   = !started;
    assign taken = take && row;
    assign beat  = read && owed != '0;

    rows_in dut (
        .clk(clk), .rst(rst), .s_valid(valid), .s_ready(ready), .s_data(came), .row(row), .taken(taken), .beat(beat),
        .data(data), .head(head), .tail(tail), .held(held), .rows(rows), .part(part), .memory(memory)
    );

    always_ff @(posedge clk) begin
        started <= 1'b1;
        if (rst) begin
            came <= '0;
            gone <= '0;
            owed <= '0;
        end else begin
            came <= came + WIDTH'(valid && ready);
            gone <= gone + WIDTH'(beat);
            owed <= owed + (taken ? (BITS + 2)'(BEATS) : '0) - (BITS + 2)'(beat);
        end
    end

    logic [WIDTH-1:0] inside;
    assign inside = came - gone;

    always_comb if (started) begin
        assert (inside <= WIDTH'(DEPTH));
        if (beat) assert (inside != '0 && data == gone);
        // All of a row that is promised is here, and the counters do not wrap.
        assert (WIDTH'(held) == inside);
        assert (8'(rows) * 8'(BEATS) + 8'(part) + 8'(owed) == 8'(inside));
        assert (rows <= (BITS + 1)'(DEPTH / BEATS));
        assert (owed <= (BITS + 2)'(DEPTH));
        assert (8'(part) < 8'(BEATS));
        assert (head == BITS'(gone));
        assert (tail == BITS'(came));
    end

    // Number n stands in place n modulo DEPTH: what is before the head has come round once more.
    generate
        for (genvar a = 0; a < DEPTH; a = a + 1) begin : g_place
            logic again, here;
            assign again = BITS'(a) < gone[BITS-1:0];
            // (came is beyond this place, and in the same round or the next)
            assign here  = (came[BITS] == gone[BITS]) ? !again && BITS'(a) < came[BITS-1:0]
                : !again || BITS'(a) < came[BITS-1:0];
            always_comb if (started && here) begin
                assert (memory[WIDTH*a +: WIDTH] == {gone[BITS] ^ again, BITS'(a)});
            end
        end
    endgenerate
endmodule

`default_nettype wire
