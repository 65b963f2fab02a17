// One party of the three: LANES ANDs of 128 bits a beat on streams of shares, with the link to its neighbours.
// Beats keep their order. Latency, with neighbours in step and links of L cycles, 25 + L; with II2 26 + L.
// Initiation interval 1 (II2: 2) when nobody holds back and DEPTH ≥ 27 + 2L (II2: 14 + L).
//
// key_*:  key_which says which key comes: 0 k_i (own), 1 k_{i−1} (prev). A key is taken at a clock edge where key_valid
//         and key_ready are high, once the lanes are empty; beats wait from key_valid until both keys are there and
//         expanded. The neighbours must be quiet too: the host loads keys between jobs.
// ctr_*:  at an edge with ctr_set, the counter of the beats that follow becomes ctr_value (0 after reset). A beat taken
//         at that edge still has the old one. The counter (as in prf_ctr: lane n of a beat has counter + n) grows by
//         LANES a beat, in its word (bits 63..0) alone; where it would pass the last word, beats wait for a ctr_set:
//         no mask serves twice.
// s_axis: beats of share pairs; lane n has x at [512n+255:512n] and y at [512n+511:512n+256], own below next.
// m_axis: beats of products, as share pairs; lane n at [256n+255:256n], own z_i below next z_{i+1}.
// tx_*:   own shares to the left neighbour (party i − 1), lane n at [128n+127:128n]; tx_credit: a pulse for each beat
//         that left its queue. rx_*: the same from the right neighbour. Links take any number of cycles, each its own.
//         There is no ready on a link: a beat is only issued with a place at the left neighbour and one here.
// link_error: a neighbour sent more than it had credits for, or more credits than it had had beats. Stays until reset,
//         and neither takes nor gives beats: what came out of step would give wrong shares silently.
// rst:    of all three together, with the links empty.
//
// Keys come from the host: each party's two keys must be fresh and known to exactly one neighbour each, which takes an
// authenticated session, and the host has one (crates/rep3 derives these very keys). Seed 004's core made its own with
// a generator of which the authors say that its security was not examined.
// Source: seed 004, §III-B; protocols.md §E, §H.
`default_nettype none

module party #(
    parameter int LANES     = 1,
    parameter int DEPTH     = 64,
    parameter int II2       = 0,
    parameter int COMPOSITE = 0
) (
    input  wire logic                 clk,
    input  wire logic                 rst,
    input  wire logic                 key_valid,
    output logic                      key_ready,
    input  wire logic                 key_which,
    input  wire logic [127:0]         key,
    input  wire logic                 ctr_set,
    input  wire logic [127:0]         ctr_value,
    input  wire logic                 s_axis_tvalid,
    output logic                      s_axis_tready,
    input  wire logic [512*LANES-1:0] s_axis_tdata,
    output logic                      m_axis_tvalid,
    input  wire logic                 m_axis_tready,
    output logic      [256*LANES-1:0] m_axis_tdata,
    output logic                      tx_valid,
    output logic      [128*LANES-1:0] tx_data,
    input  wire logic                 tx_credit,
    input  wire logic                 rx_valid,
    input  wire logic [128*LANES-1:0] rx_data,
    output logic                      rx_credit,
    output logic                      link_error
);
    logic                 loaded_own, loaded_prev, lanes_empty;
    logic [1407:0]        rk_own, rk_prev;
    logic [127:0]         counter;
    logic                 issue, spent, pop;
    logic [LANES-1:0]     lane_ready, lane_valid;
    logic                 left_place, own_place, own_credit, own_valid, next_valid;
    logic [128*LANES-1:0] own, next;
    logic                 left_excess, own_excess, own_overflow, next_overflow;

    assign s_axis_tready = loaded_own && loaded_prev && !key_valid && !spent && !link_error && left_place && own_place
                         && lane_ready[0];
    assign issue         = s_axis_tvalid && s_axis_tready;

    party_keys #(.COMPOSITE(COMPOSITE)) u_keys (
        .clk(clk), .rst(rst), .quiet(lanes_empty),
        .key_valid(key_valid), .key_ready(key_ready), .key_which(key_which), .key(key),
        .loaded_own(loaded_own), .loaded_prev(loaded_prev), .rk_own(rk_own), .rk_prev(rk_prev)
    );

    // Stopping one beat early is simpler than telling whether the last one fits.
    assign spent = counter[63:0] >= -64'(LANES);

    always_ff @(posedge clk) begin
        if (rst) counter <= '0;
        else if (ctr_set) counter <= ctr_value;
        else if (issue) counter[63:0] <= counter[63:0] + 64'(LANES);
    end

    generate
        for (genvar n = 0; n < LANES; n = n + 1) begin : g_lane
            if (II2 != 0) begin : g_ii2
                and_lane_ii2 #(.COMPOSITE(COMPOSITE), .LANE(n)) u_lane (
                    .clk(clk), .rst(rst), .rk_own(rk_own), .rk_prev(rk_prev),
                    .in_valid(issue), .in_ready(lane_ready[n]), .in_counter(counter),
                    .x(s_axis_tdata[512*n +: 256]), .y(s_axis_tdata[512*n+256 +: 256]),
                    .out_valid(lane_valid[n]), .z(tx_data[128*n +: 128])
                );
            end else begin : g_ii1
                assign lane_ready[n] = 1'b1;
                and_lane #(.COMPOSITE(COMPOSITE), .LANE(n)) u_lane (
                    .clk(clk), .rst(rst), .rk_own(rk_own), .rk_prev(rk_prev),
                    .in_valid(issue), .in_counter(counter),
                    .x(s_axis_tdata[512*n +: 256]), .y(s_axis_tdata[512*n+256 +: 256]),
                    .out_valid(lane_valid[n]), .z(tx_data[128*n +: 128])
                );
            end
            assign m_axis_tdata[256*n +: 256] = {next[128*n +: 128], own[128*n +: 128]};
        end
    endgenerate

    // The lanes go in lockstep.
    assign tx_valid = &lane_valid;

    in_flight #(.LIMIT(24)) u_flight (.clk(clk), .rst(rst), .enter(issue), .leave(tx_valid), .empty(lanes_empty));

    // A beat takes two places when it is issued: one at the left neighbour, and one here, where its own shares wait
    // for the right neighbour's.
    credit_tx #(.DEPTH(DEPTH)) u_left (
        .clk(clk), .rst(rst), .take(issue), .give(tx_credit), .available(left_place), .excess(left_excess)
    );
    credit_tx #(.DEPTH(DEPTH)) u_own (
        .clk(clk), .rst(rst), .take(issue), .give(own_credit), .available(own_place), .excess(own_excess)
    );
    credit_rx #(.WIDTH(128 * LANES), .DEPTH(DEPTH)) u_own_queue (
        .clk(clk), .rst(rst), .in_valid(tx_valid), .in_data(tx_data),
        .out_valid(own_valid), .out_ready(pop), .out_data(own), .credit(own_credit), .overflow(own_overflow)
    );
    credit_rx #(.WIDTH(128 * LANES), .DEPTH(DEPTH)) u_next_queue (
        .clk(clk), .rst(rst), .in_valid(rx_valid), .in_data(rx_data),
        .out_valid(next_valid), .out_ready(pop), .out_data(next), .credit(rx_credit), .overflow(next_overflow)
    );

    assign m_axis_tvalid = own_valid && next_valid && !link_error;
    assign pop           = m_axis_tvalid && m_axis_tready;

    always_ff @(posedge clk) begin
        if (rst) link_error <= 1'b0;
        else if (left_excess || own_excess || own_overflow || next_overflow) link_error <= 1'b1;
    end
endmodule

`default_nettype wire
