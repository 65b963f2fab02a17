// AES MixColumns of one column. Combinational.
// in, out: rows 0..3, row r at bits [8r+7:8r].
// Source: FIPS-197, 5.1.3: out_r = 2·in_r + 3·in_(r+1) + in_(r+2) + in_(r+3), written as
// out_r = in_r + s + 2·(in_r + in_(r+1)) with s the sum of the four rows.
`default_nettype none

module aes_mix_column (
    input  wire logic [31:0] in,
    output logic      [31:0] out
);
    // Multiplication by 2 modulo x^8 + x^4 + x^3 + x + 1.
    function automatic logic [7:0] double_of(input logic [7:0] a);
        double_of = {a[6:0], 1'b0} ^ {3'b000, a[7], a[7], 1'b0, a[7], a[7]};
    endfunction

    logic [7:0] a0, a1, a2, a3, s;
    assign {a3, a2, a1, a0} = in;
    assign s = a0 ^ a1 ^ a2 ^ a3;
    assign out = {
        a3 ^ s ^ double_of(a3 ^ a0),
        a2 ^ s ^ double_of(a2 ^ a3),
        a1 ^ s ^ double_of(a1 ^ a2),
        a0 ^ s ^ double_of(a0 ^ a1)
    };
endmodule

`default_nettype wire
