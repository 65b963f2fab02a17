// What must hold of a thread (ctx_state), whichever instructions come and whenever they are granted, if products land
// only once each and the left neighbour gives only the credits of rows that it was sent: no more than FLIGHT rows are
// under way, no row is sent without a credit, no credit is lost or made, and a sync waits for all products.
// Proved by induction over one cycle; under_way, credits, active and ready are registers made ports by yosys.
`default_nettype none

module ctx_state_check #(
    parameter int FLIGHT = 2
) (
    input wire logic        clk,
    input wire logic        start,
    input wire logic        grant,
    input wire logic        fetched,
    input wire logic [63:0] word,
    input wire logic        land,
    input wire logic        credit
);
    localparam int BITS = $clog2(FLIGHT + 1);
    // Of this check's own counters: wide enough to see one too many.
    localparam int WIDE = BITS + 2;

    logic            started = 1'b0;
    logic            rst, idle, wants_and, wants_lin, wants_in, wants_out, wants_end, excess, active, ready;
    logic [3:0]      fetch;
    logic [63:0]     instr;
    logic [BITS-1:0] under_way, credits;

    // Products that have not landed; rows sent whose credit has not come back; an instruction is being fetched.
    logic [WIDE-1:0] products, sent;
    logic            fetching;
    logic            wants, starts, grants, comes, lands, gives, issues;

    assign rst    = !started;
    assign wants  = wants_and || wants_lin || wants_in || wants_out || wants_end;
    assign starts = start && idle;
    assign grants = grant && wants;
    assign issues = grants && wants_and;
    assign comes  = fetched && fetching;
    assign lands  = land && products != '0;
    assign gives  = credit && sent != '0;

    ctx_state dut (
        .clk(clk), .rst(rst), .start(starts), .grant(grants), .fetched(comes), .word(word), .landed(lands),
        .credit(gives), .fetch(fetch), .idle(idle), .wants_and(wants_and), .wants_lin(wants_lin),
        .wants_in(wants_in), .wants_out(wants_out), .wants_end(wants_end), .excess(excess), .instr(instr),
        .under_way(under_way), .credits(credits), .active(active), .ready(ready)
    );

    always_ff @(posedge clk) begin
        started <= 1'b1;
        if (rst) begin
            products <= '0;
            sent     <= '0;
            fetching <= 1'b0;
        end else begin
            products <= products + WIDE'(issues) - WIDE'(lands);
            sent     <= sent + WIDE'(issues) - WIDE'(gives);
            fetching <= starts || (grants && !wants_end) || (fetching && !comes);
        end
    end

    always_comb if (started) begin
        assert (products <= WIDE'(FLIGHT));
        assert (WIDE'(under_way) == products);
        assert (WIDE'(credits) + sent == WIDE'(FLIGHT));
        assert (sent <= WIDE'(FLIGHT));
        assert (!excess);
        if (wants_and) assert (products < WIDE'(FLIGHT) && sent < WIDE'(FLIGHT));
        if (wants && instr[60]) assert (products == '0);
        if (idle) assert (products == '0 && !wants);
        // One kind at a time, and each instruction once: an active thread has one or waits for one.
        assert (6'(wants_and) + 6'(wants_lin) + 6'(wants_in) + 6'(wants_out) + 6'(wants_end) <= 6'd1);
        assert (active == (ready || fetching));
        assert (!(ready && fetching));
    end
endmodule

`default_nettype wire
