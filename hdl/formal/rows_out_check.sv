// What must hold of rows_out, however beats are fetched, if a row is promised only when there is room and no more beats
// come than those of the rows promised: never too many inside, never one given that is not there, and those given are
// 0, 1, 2, … in order, each once, with the tag that came with the first beat of its row.
// Proved by induction over one cycle; registers and memories are ports made by yosys (place a at a·WIDTH, a·TAG).
`default_nettype none

module rows_out_check #(
    parameter int BEATS = 5,
    parameter int DEPTH = 32,
    parameter int TAG   = 2
) (
    input wire logic           clk,
    input wire logic           take,
    input wire logic           make,
    input wire logic [TAG-1:0] tag,
    input wire logic           ready
);
    localparam int BITS = $clog2(DEPTH);
    localparam int NUMBER = BITS + 1;
    localparam int WIDTH = NUMBER + TAG;

    logic                   started = 1'b0;
    logic                   rst, room, taken, beat, first, valid;
    logic [WIDTH-1:0]       data;
    logic [TAG-1:0]         out_tag, row_tag;
    logic [BITS-1:0]        head, tail;
    logic [BITS:0]          kept, filled;
    logic [DEPTH*WIDTH-1:0] memory;
    logic [DEPTH*TAG-1:0]   tags;

    // Beats that came and went, counted modulo 2·DEPTH; those still to come; place in its row of the next, and the
    // row's tag.
    logic [NUMBER-1:0]        came, gone;
    logic [BITS+1:0]          owed;
    logic [$clog2(BEATS)-1:0] part;
    logic [TAG-1:0]           kept_tag, this_tag;

    assign rst      = !started;
    assign taken    = take && room;
    assign beat     = make && owed != '0;
    assign first    = beat && part == '0;
    assign this_tag = first ? tag : kept_tag;

    rows_out dut (
        .clk(clk), .rst(rst), .room(room), .taken(taken), .beat(beat), .first(first), .data({this_tag, came}),
        .tag(tag), .m_valid(valid), .m_ready(ready), .m_data(data), .m_tag(out_tag), .head(head), .tail(tail),
        .kept(kept), .filled(filled), .row_tag(row_tag), .memory(memory), .tags(tags)
    );

    always_ff @(posedge clk) begin
        started <= 1'b1;
        if (beat) kept_tag <= this_tag;
        if (rst) begin
            came <= '0;
            gone <= '0;
            owed <= '0;
            part <= '0;
        end else begin
            came <= came + NUMBER'(beat);
            gone <= gone + NUMBER'(valid && ready);
            owed <= owed + (taken ? (BITS + 2)'(BEATS) : '0) - (BITS + 2)'(beat);
            if (beat) part <= (part == ($clog2(BEATS))'(BEATS - 1)) ? '0 : part + 1'b1;
        end
    end

    logic [NUMBER-1:0] inside;
    assign inside = came - gone;

    always_comb if (started) begin
        assert (inside <= NUMBER'(DEPTH));
        if (valid) assert (inside != '0 && data[NUMBER-1:0] == gone && out_tag == data[WIDTH-1:NUMBER]);
        // Every place is kept or filled, and the counters do not wrap.
        assert (NUMBER'(filled) == inside);
        assert (8'(kept) == 8'(inside) + 8'(owed));
        assert (8'(kept) <= 8'(DEPTH));
        assert (8'(part) < 8'(BEATS));
        if (part != '0) assert (row_tag == kept_tag);
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
                assert (memory[WIDTH*a +: NUMBER] == {gone[BITS] ^ again, BITS'(a)});
                assert (memory[WIDTH*a+NUMBER +: TAG] == tags[TAG*a +: TAG]);
            end
        end
    endgenerate
endmodule

`default_nettype wire
