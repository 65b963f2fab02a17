// AES S-box, in the form that COMPOSITE chooses: 0 the table, 1 logic over a tower field. Combinational.
// in:  byte of the state.  out: its substitute (FIPS-197, 5.1.1).
`default_nettype none

module aes_sbox #(
    parameter int COMPOSITE = 0
) (
    input  wire logic [7:0] in,
    output logic      [7:0] out
);
    generate
        if (COMPOSITE != 0) begin : g_composite
            sbox_composite u_sbox (.in(in), .out(out));
        end else begin : g_table
            sbox_table u_sbox (.in(in), .out(out));
        end
    endgenerate
endmodule

`default_nettype wire
