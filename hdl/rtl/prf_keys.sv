// AES-128 key expansion with four S-boxes: a round key per cycle, ready ten cycles after the key was taken.
//
// key_valid, key_ready, key: the key is taken at a clock edge where both are high; key_ready is low for the ten cycles
//   of expansion that follow. Byte k of the key at bits [8k+7:8k].
// loaded: round_keys belong to the last key taken. Low after reset and while a key is being expanded.
// round_keys: round r at bits [128r+127:128r]; meaningless while loaded is low. Reset clears them.
// Source: FIPS-197, 5.2. The key comes from the host's session, not from a generator on the device as in seed 004's
// core: two parties must hold each key, and the session agrees on it with them anyway.
`default_nettype none

module prf_keys #(
    parameter int COMPOSITE = 0
) (
    input  wire logic          clk,
    input  wire logic          rst,
    input  wire logic          key_valid,
    output logic               key_ready,
    input  wire logic [127:0]  key,
    output logic               loaded,
    output logic      [1407:0] round_keys
);
    logic [3:0]   left;  // round keys still to come
    logic [7:0]   rcon;
    logic [127:0] last;
    logic [31:0]  rotated, substituted, w0, w1, w2, w3;

    // The newest round key stands at the top and moves down by one place with each that follows.
    assign last    = round_keys[1407:1280];
    assign rotated = {last[103:96], last[127:104]};

    generate
        for (genvar b = 0; b < 4; b = b + 1) begin : g_sbox
            aes_sbox #(.COMPOSITE(COMPOSITE)) u_sbox (.in(rotated[8*b +: 8]), .out(substituted[8*b +: 8]));
        end
    endgenerate

    assign w0 = last[31:0] ^ substituted ^ {24'd0, rcon};
    assign w1 = last[63:32] ^ w0;
    assign w2 = last[95:64] ^ w1;
    assign w3 = last[127:96] ^ w2;

    assign key_ready = left == 4'd0;

    always_ff @(posedge clk) begin
        if (rst) begin
            left       <= 4'd0;
            loaded     <= 1'b0;
            rcon       <= 8'd1;
            round_keys <= 1408'd0;
        end else if (key_ready) begin
            if (key_valid) begin
                left       <= 4'd10;
                loaded     <= 1'b0;
                rcon       <= 8'd1;
                round_keys <= {key, round_keys[1407:128]};
            end
        end else begin
            left       <= left - 4'd1;
            loaded     <= left == 4'd1;
            rcon       <= {rcon[6:0], 1'b0} ^ (rcon[7] ? 8'h1b : 8'h00);
            round_keys <= {w3, w2, w1, w0, round_keys[1407:128]};
        end
    end
endmodule

`default_nettype wire
