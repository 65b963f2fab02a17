// NOT a cipher. Stands in for aes128_pipe where a bench looks at flow and order with many lanes and AES itself would
// take most of the time: same ports, same latency of 21, and each round key is used in the same cycle; a round adds
// the state and its rotation, and XORs its key. (Were it linear over XOR, the counter would cancel between the two
// streams, and benches could not see it.) Its oracle is prf in hdl/tests/shares.py.
`default_nettype none

module aes128_pipe #(
    parameter int COMPOSITE = 0
) (
    input  wire logic          clk,
    input  wire logic [127:0]  in_block,
    input  wire logic [1407:0] round_keys,
    output logic      [127:0]  out_block
);
    logic [127:0] state [0:20];
    logic         unused;

    assign unused    = COMPOSITE != 0;
    assign out_block = state[20];

    always_ff @(posedge clk) begin
        state[0] <= in_block ^ round_keys[127:0];
        for (int r = 1; r <= 10; r = r + 1) begin
            state[2*r-1] <= {state[2*r-2][120:0], state[2*r-2][127:121]} + state[2*r-2];
            state[2*r]   <= state[2*r-1] ^ round_keys[128*r +: 128];
        end
    end
endmodule

`default_nettype wire
