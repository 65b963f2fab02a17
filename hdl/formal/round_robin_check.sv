// What must hold of round_robin, whatever is asked and whenever the grant is used: at most one is granted, only one that
// asked, one if any asked, and index names it; a request that stands is granted before COUNT others were.
// Proved by induction over one cycle; `behind` is round_robin's register, made a port by yosys.
`default_nettype none

module round_robin_check #(
    parameter int COUNT = 4
) (
    input wire logic             clk,
    input wire logic             take,
    input wire logic [COUNT-1:0] request
);
    localparam int BITS = $clog2(COUNT) + 1;

    logic                     started = 1'b0;
    logic                     rst, any;
    logic [COUNT-1:0]         grant, behind;
    logic [$clog2(COUNT)-1:0] index;

    assign rst = !started;
    always_ff @(posedge clk) started <= 1'b1;

    round_robin dut (
        .clk(clk), .rst(rst), .request(request), .take(take), .grant(grant), .index(index), .any(any), .behind(behind)
    );

    always_comb if (started) begin
        assert ((grant & (grant - 1'b1)) == '0);
        assert ((grant & ~request) == '0);
        assert (any == (request != '0));
        assert (any == (grant != '0));
        if (any) assert (grant[index]);
        // Ones up to the last bit.
        assert ((COUNT'(behind << 1) & ~behind) == '0);
    end

    generate
        for (genvar k = 0; k < COUNT; k = k + 1) begin : g_request
            // Grants to others since request k stands; bits that come before k in the order of the next choice.
            logic [BITS-1:0] passed, before;

            always_ff @(posedge clk) begin
                if (rst || !request[k] || (take && grant[k])) passed <= '0;
                else passed <= passed + BITS'(take);
            end

            always_comb begin
                before = behind[k] ? '0 : BITS'(k);
                for (int i = 0; i < COUNT; i++) before = before + BITS'(behind[i] && (i < k || !behind[k]));
            end

            always_comb if (started) begin
                assert (passed < BITS'(COUNT));
                assert ((BITS + 1)'(passed) + (BITS + 1)'(before) < (BITS + 1)'(COUNT));
                if (request[k] && passed == BITS'(COUNT - 1)) assert (grant[k]);
            end
        end
    endgenerate
endmodule

`default_nettype wire
