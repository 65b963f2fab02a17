// AES MixColumns and AddRoundKey of one column. Combinational.
//
// in, key, out: rows 0..3, row r at bits [8r+7:8r].
// Both steps stand together because an output bit with its key bit is a function of six bits (eight where the
// reduction polynomial has a term), which fills a LUT6.
// Source: FIPS-197, 5.1.3 and 5.1.4: out_r = 2·in_r + 3·in_(r+1) + in_(r+2) + in_(r+3) + key_r, written as
// out_r = 2·(in_r + in_(r+1)) + in_(r+1) + in_(r+2) + in_(r+3) + key_r.
`default_nettype none

module aes_mix_add (
    input  wire logic [31:0] in,
    input  wire logic [31:0] key,
    output logic      [31:0] out
);
    // Multiplication by 2 modulo x^8 + x^4 + x^3 + x + 1.
    function automatic logic [7:0] double_of(input logic [7:0] a);
        double_of = {a[6:0], 1'b0} ^ {3'b000, a[7], a[7], 1'b0, a[7], a[7]};
    endfunction

    logic [7:0] a0, a1, a2, a3;
    assign {a3, a2, a1, a0} = in;
    assign out = key ^ {
        double_of(a3 ^ a0) ^ a0 ^ a1 ^ a2,
        double_of(a2 ^ a3) ^ a3 ^ a0 ^ a1,
        double_of(a1 ^ a2) ^ a2 ^ a3 ^ a0,
        double_of(a0 ^ a1) ^ a1 ^ a2 ^ a3
    };
endmodule

`default_nettype wire
