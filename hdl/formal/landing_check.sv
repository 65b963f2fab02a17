// What must hold of landing with two threads, if a thread has at most FLIGHT products under way and the right neighbour
// sends at most FLIGHT rows beyond those that landed: overflow never rises; rows land in the order in which they were
// issued, each with its destination, after its own half was made and the neighbour's came; the words read for it are
// its own; no counter wraps. The queue's memory, which is elsewhere, is modelled here as the sequencer writes and reads
// it. When rows are issued and made and when beats come, of either thread, is arbitrary. Rows are numbered modulo 2^N; a
// row's destination is its number, and a word of the queue is its thread, row and beat. A frame has CORES = 3 cycles, so
// that a row is read while `land`, `landed` and in the cycle behind.
// Proved by induction over one cycle; registers and `dests` are ports made by yosys.
`default_nettype none

module landing_check #(
    parameter int FLIGHT = 2
) (
    input wire logic clk,
    input wire logic issue,
    input wire logic issue_ctx,
    input wire logic make,
    input wire logic make_ctx,
    input wire logic send,
    input wire logic send_ctx
);
    localparam int CORES = 3;
    localparam int PLACES = 2 * FLIGHT * CORES;
    localparam int ROW = $clog2(FLIGHT);
    localparam int ADDR = $clog2(PLACES);
    localparam int COUNT = $clog2(FLIGHT + 1);
    localparam int N = ROW + 2;  // bits of a row's number
    localparam int WORD = 1 + N + 2;

    logic             started = 1'b0;
    logic             rst, overflow, land, ctx, landed, landed_ctx, issued, made, heard;
    logic [ADDR-1:0]  rx_waddr, rx_raddr;
    logic [N-1:0]     dest, issued_dest;
    logic [1:0]       slot, left;
    // Registers of landing.
    logic [2*ROW-1:0]      next_issued, next_landed, next_heard;
    logic [3:0]            next_beat;
    logic [2*COUNT-1:0]    rows_made, rows_heard;
    logic [2*FLIGHT*N-1:0] dests;

    // Of each thread: rows issued, made, whole in the queue and given back as credits; beats of the row that is coming.
    logic [2*N-1:0] issues, makes, hears, lands;
    logic [3:0] beats;

    function automatic logic [ADDR-1:0] place(input logic thread, input logic [ROW-1:0] row, input logic [1:0] beat);
        place = ADDR'({thread, row}) * ADDR'(CORES) + ADDR'(beat);
    endfunction

    logic [N-1:0] open, ahead;
    assign rst         = !started;
    assign open        = issues[N*issue_ctx +: N] - lands[N*issue_ctx +: N];
    assign ahead       = hears[N*send_ctx +: N] - lands[N*send_ctx +: N];
    assign issued      = issue && open < N'(FLIGHT);
    assign issued_dest = issues[N*issue_ctx +: N];
    assign made        = make && makes[N*make_ctx +: N] != issues[N*make_ctx +: N];
    assign heard       = send && ahead < N'(FLIGHT);

    landing dut (
        .clk(clk), .rst(rst), .choose(slot == 2'd1), .issued(issued), .issued_ctx(issue_ctx),
        .issued_dest(issued_dest), .made(made), .made_ctx(make_ctx), .rx_valid(heard), .rx_ctx(send_ctx),
        .rx_waddr(rx_waddr), .rx_raddr(rx_raddr), .overflow(overflow), .land(land), .ctx(ctx), .dest(dest),
        .landed(landed), .landed_ctx(landed_ctx), .next_issued(next_issued), .next_landed(next_landed),
        .next_heard(next_heard), .next_beat(next_beat), .rows_made(rows_made), .rows_heard(rows_heard), .left(left),
        .dests(dests)
    );

    // The queue: a beat is written in the cycle after it came.
    logic [PLACES*WORD-1:0] queue;
    logic                   written, written_ctx, last, last_ctx;
    logic [ADDR-1:0]        written_place;
    logic [WORD-1:0]        written_word;
    always_ff @(posedge clk) begin
        if (written) queue[WORD*written_place +: WORD] <= written_word;
        written       <= heard && !rst;
        written_ctx   <= send_ctx;
        written_place <= rx_waddr;
        written_word  <= {send_ctx, hears[N*send_ctx +: N], beats[2*send_ctx +: 2]};
        // The last word of a row is read.
        last     <= landed && !rst;
        last_ctx <= landed_ctx;
    end

    always_ff @(posedge clk) begin
        started <= 1'b1;
        if (rst || slot == 2'(CORES - 1)) slot <= '0;
        else slot <= slot + 1'b1;
        if (rst) begin
            issues <= '0;
            makes  <= '0;
            hears  <= '0;
            lands  <= '0;
            beats  <= '0;
        end else begin
            if (issued) issues[N*issue_ctx +: N] <= issues[N*issue_ctx +: N] + 1'b1;
            if (made) makes[N*make_ctx +: N] <= makes[N*make_ctx +: N] + 1'b1;
            if (landed) lands[N*landed_ctx +: N] <= lands[N*landed_ctx +: N] + 1'b1;
            if (heard && beats[2*send_ctx +: 2] == 2'(CORES - 1)) begin
                beats[2*send_ctx +: 2] <= '0;
                hears[N*send_ctx +: N] <= hears[N*send_ctx +: N] + 1'b1;
            end else if (heard) begin
                beats[2*send_ctx +: 2] <= beats[2*send_ctx +: 2] + 1'b1;
            end
        end
    end

    // The row that is read: `land` and `landed` count it in `lands` only afterwards.
    logic       reading, reading_ctx;
    logic [N-1:0] reading_row;
    logic [1:0] reading_beat;
    assign reading      = land || landed || last;
    assign reading_ctx  = land ? ctx : landed ? landed_ctx : last_ctx;
    assign reading_row  = lands[N*reading_ctx +: N] - N'(last && !land && !landed);
    assign reading_beat = land ? 2'd0 : landed ? 2'd1 : 2'd2;

    // The beat that is written is the last that came of its thread.
    logic [N-1:0] newest_row;
    logic [1:0] newest_beat;
    assign newest_row  = hears[N*written_ctx +: N] - N'(beats[2*written_ctx +: 2] == '0);
    assign newest_beat = (beats[2*written_ctx +: 2] == '0) ? 2'(CORES - 1) : beats[2*written_ctx +: 2] - 1'b1;

    always_comb if (started) begin
        // The statement, with the bounds of g_ctx.
        assert (!overflow);
        if (land) assert (dest == lands[N*ctx +: N]);
        if (reading) assert (queue[WORD*rx_raddr +: WORD] == {reading_ctx, reading_row, reading_beat});

        assert (slot < 2'(CORES));
        assert (!land || slot == 2'd2);
        assert (!landed || slot == 2'd0);
        assert (!last || slot == 2'd1);
        assert (left == (land ? 2'd2 : landed ? 2'd1 : 2'd0));
        if (reading) assert (rx_raddr == place(reading_ctx, reading_row[ROW-1:0], reading_beat));
        if (written) begin
            assert (written_place == place(written_ctx, newest_row[ROW-1:0], newest_beat));
            assert (written_word == {written_ctx, newest_row, newest_beat});
        end
    end

    generate
        for (genvar v = 0; v < 2; v = v + 1) begin : g_ctx
            // Rows chosen to land, and what stands beyond them and beyond the credits.
            logic [N-1:0] chosen, issued_more, made_more, heard_more, lent;
            logic [1:0] part;
            assign chosen      = lands[N*v +: N] + N'(land && ctx == 1'(v)) + N'(landed && landed_ctx == 1'(v));
            assign issued_more = issues[N*v +: N] - chosen;
            assign made_more   = makes[N*v +: N] - chosen;
            assign heard_more  = hears[N*v +: N] - chosen;
            assign lent        = hears[N*v +: N] - lands[N*v +: N];
            assign part        = beats[2*v +: 2];

            always_comb if (started) begin
                // No row is chosen before it is made and its words are here.
                assert (made_more <= issued_more);
                assert (heard_more <= N'(FLIGHT));
                assert (N'(issues[N*v +: N] - lands[N*v +: N]) <= N'(FLIGHT));
                assert (issued_more <= N'(FLIGHT));
                assert (lent < N'(FLIGHT) || (lent == N'(FLIGHT) && part == '0));
                assert (part < 2'(CORES));
                assert (N'(rows_made[COUNT*v +: COUNT]) == made_more);
                assert (N'(rows_heard[COUNT*v +: COUNT]) == heard_more);
                assert (next_issued[ROW*v +: ROW] == issues[N*v +: ROW]);
                assert (next_heard[ROW*v +: ROW] == hears[N*v +: ROW]);
                assert (next_landed[ROW*v +: ROW] == chosen[ROW-1:0]);
                assert (next_beat[2*v +: 2] == part);
            end

            for (genvar r = 0; r < FLIGHT; r = r + 1) begin : g_row
                // The row that place r holds or will.
                logic [ROW-1:0] later;
                logic [N-1:0]   row;
                assign later = ROW'(r) - chosen[ROW-1:0];
                assign row   = {chosen[N-1:ROW] + (N - ROW)'(ROW'(r) < chosen[ROW-1:0]), ROW'(r)};
                always_comb if (started && N'(later) < issued_more) begin
                    assert (dests[N*(v*FLIGHT+r) +: N] == row);
                end

                for (genvar b = 0; b < CORES; b = b + 1) begin : g_beat
                    localparam int AT = (v * FLIGHT + r) * CORES + b;
                    logic here, read;
                    assign here = (N'(later) < heard_more || (N'(later) == heard_more && 2'(b) < part))
                        && !(written && written_place == ADDR'(AT));
                    assign read = reading && reading_ctx == 1'(v) && reading_row[ROW-1:0] == ROW'(r)
                        && 2'(b) >= reading_beat;
                    always_comb if (started) begin
                        if (here) assert (queue[WORD*AT +: WORD] == {1'(v), row, 2'(b)});
                        if (read) assert (queue[WORD*AT +: WORD] == {1'(v), reading_row, 2'(b)});
                    end
                end
            end
        end
    endgenerate
endmodule

`default_nettype wire
