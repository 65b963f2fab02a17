// Three parties in a ring with links of LINK_LATENCY cycles each way, for verification: seed 004's check of its core.
//
// Ports are those of party, side by side: party p at index p, or at [(p+1)·W−1 : p·W] of a vector of W-bit fields.
// Party p sends to party p − 1, so party p holds shares own = x_p and next = x_{p+1} (all modulo 3).
`default_nettype none

module three_party #(
    parameter int LANES        = 1,
    parameter int DEPTH        = 64,
    parameter int LINK_LATENCY = 1,
    parameter int II2          = 0,
    parameter int COMPOSITE    = 0
) (
    input  wire logic                   clk,
    input  wire logic                   rst,
    input  wire logic [2:0]             key_valid,
    output logic      [2:0]             key_ready,
    input  wire logic [2:0]             key_which,
    input  wire logic [3*128-1:0]       key,
    input  wire logic [2:0]             ctr_set,
    input  wire logic [3*128-1:0]       ctr_value,
    input  wire logic [2:0]             s_axis_tvalid,
    output logic      [2:0]             s_axis_tready,
    input  wire logic [3*512*LANES-1:0] s_axis_tdata,
    output logic      [2:0]             m_axis_tvalid,
    input  wire logic [2:0]             m_axis_tready,
    output logic      [3*256*LANES-1:0] m_axis_tdata,
    output logic      [2:0]             link_error
);
    localparam int BEAT = 128 * LANES;

    // By the party that sends the beat and has the credit back.
    logic [2:0]        tx_valid, tx_credit, rx_valid, rx_credit;
    logic [3*BEAT-1:0] tx_data, rx_data;

    generate
        for (genvar p = 0; p < 3; p = p + 1) begin : g_party
            localparam int RIGHT = (p + 1) % 3;

            party #(.LANES(LANES), .DEPTH(DEPTH), .II2(II2), .COMPOSITE(COMPOSITE)) u_party (
                .clk(clk), .rst(rst),
                .key_valid(key_valid[p]), .key_ready(key_ready[p]), .key_which(key_which[p]), .key(key[128*p +: 128]),
                .ctr_set(ctr_set[p]), .ctr_value(ctr_value[128*p +: 128]),
                .s_axis_tvalid(s_axis_tvalid[p]), .s_axis_tready(s_axis_tready[p]),
                .s_axis_tdata(s_axis_tdata[512*LANES*p +: 512*LANES]),
                .m_axis_tvalid(m_axis_tvalid[p]), .m_axis_tready(m_axis_tready[p]),
                .m_axis_tdata(m_axis_tdata[256*LANES*p +: 256*LANES]),
                .tx_valid(tx_valid[p]), .tx_data(tx_data[BEAT*p +: BEAT]), .tx_credit(tx_credit[p]),
                .rx_valid(rx_valid[RIGHT]), .rx_data(rx_data[BEAT*RIGHT +: BEAT]), .rx_credit(rx_credit[RIGHT]),
                .link_error(link_error[p])
            );

            link_delay #(.WIDTH(BEAT + 1), .LATENCY(LINK_LATENCY)) u_beats (
                .clk(clk), .rst(rst),
                .in({tx_valid[p], tx_data[BEAT*p +: BEAT]}), .out({rx_valid[p], rx_data[BEAT*p +: BEAT]})
            );
            link_delay #(.WIDTH(1), .LATENCY(LINK_LATENCY)) u_credits (
                .clk(clk), .rst(rst), .in(rx_credit[p]), .out(tx_credit[p])
            );
        end
    endgenerate
endmodule

`default_nettype wire
