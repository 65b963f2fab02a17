// A party's part of the product of two shared words, before it is masked. Combinational.
//
// x, y: share pairs, own = x_i at [127:0], next = x_{i+1} at [255:128]. The parts of the three parties XOR to the
//   product: of the nine terms x_j·y_k each party has three, and none is in two parties' parts.
// Source: protocols.md §E (Araki et al., CCS 2016, in replicated form).
`default_nettype none

module share_product (
    input  wire logic [255:0] x,
    input  wire logic [255:0] y,
    output logic      [127:0] part
);
    logic [127:0] x_own, x_next, y_own, y_next;

    assign {x_next, x_own} = x;
    assign {y_next, y_own} = y;
    assign part = (x_own & y_own) ^ (x_own & y_next) ^ (x_next & y_own);
endmodule

`default_nettype wire
