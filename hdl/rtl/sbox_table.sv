// AES S-box as a table: 64 entries for each value of the top two bits, then a choice of four.
//
// The split is what an UltraScale+ slice holds: six inputs fill a LUT6, the choice is its F7 and F8 multiplexers.
// in:  byte of the state.  out: its substitute.  Combinational.
// Source: FIPS-197, 5.1.1; each entry is the inverse in GF(2^8) (0 for 0) followed by the affine map. The benches
// compute every entry again from that definition.
`default_nettype none

module sbox_table (
    input  wire logic [7:0] in,
    output logic      [7:0] out
);
    logic [7:0] q0, q1, q2, q3;
    logic [5:0] low;
    assign low = in[5:0];

    always_comb
        case (low)
            6'd0 : q0 = 8'h63; 6'd1 : q0 = 8'h7c; 6'd2 : q0 = 8'h77; 6'd3 : q0 = 8'h7b;
            6'd4 : q0 = 8'hf2; 6'd5 : q0 = 8'h6b; 6'd6 : q0 = 8'h6f; 6'd7 : q0 = 8'hc5;
            6'd8 : q0 = 8'h30; 6'd9 : q0 = 8'h01; 6'd10: q0 = 8'h67; 6'd11: q0 = 8'h2b;
            6'd12: q0 = 8'hfe; 6'd13: q0 = 8'hd7; 6'd14: q0 = 8'hab; 6'd15: q0 = 8'h76;
            6'd16: q0 = 8'hca; 6'd17: q0 = 8'h82; 6'd18: q0 = 8'hc9; 6'd19: q0 = 8'h7d;
            6'd20: q0 = 8'hfa; 6'd21: q0 = 8'h59; 6'd22: q0 = 8'h47; 6'd23: q0 = 8'hf0;
            6'd24: q0 = 8'had; 6'd25: q0 = 8'hd4; 6'd26: q0 = 8'ha2; 6'd27: q0 = 8'haf;
            6'd28: q0 = 8'h9c; 6'd29: q0 = 8'ha4; 6'd30: q0 = 8'h72; 6'd31: q0 = 8'hc0;
            6'd32: q0 = 8'hb7; 6'd33: q0 = 8'hfd; 6'd34: q0 = 8'h93; 6'd35: q0 = 8'h26;
            6'd36: q0 = 8'h36; 6'd37: q0 = 8'h3f; 6'd38: q0 = 8'hf7; 6'd39: q0 = 8'hcc;
            6'd40: q0 = 8'h34; 6'd41: q0 = 8'ha5; 6'd42: q0 = 8'he5; 6'd43: q0 = 8'hf1;
            6'd44: q0 = 8'h71; 6'd45: q0 = 8'hd8; 6'd46: q0 = 8'h31; 6'd47: q0 = 8'h15;
            6'd48: q0 = 8'h04; 6'd49: q0 = 8'hc7; 6'd50: q0 = 8'h23; 6'd51: q0 = 8'hc3;
            6'd52: q0 = 8'h18; 6'd53: q0 = 8'h96; 6'd54: q0 = 8'h05; 6'd55: q0 = 8'h9a;
            6'd56: q0 = 8'h07; 6'd57: q0 = 8'h12; 6'd58: q0 = 8'h80; 6'd59: q0 = 8'he2;
            6'd60: q0 = 8'heb; 6'd61: q0 = 8'h27; 6'd62: q0 = 8'hb2; default: q0 = 8'h75;
        endcase

    always_comb
        case (low)
            6'd0 : q1 = 8'h09; 6'd1 : q1 = 8'h83; 6'd2 : q1 = 8'h2c; 6'd3 : q1 = 8'h1a;
            6'd4 : q1 = 8'h1b; 6'd5 : q1 = 8'h6e; 6'd6 : q1 = 8'h5a; 6'd7 : q1 = 8'ha0;
            6'd8 : q1 = 8'h52; 6'd9 : q1 = 8'h3b; 6'd10: q1 = 8'hd6; 6'd11: q1 = 8'hb3;
            6'd12: q1 = 8'h29; 6'd13: q1 = 8'he3; 6'd14: q1 = 8'h2f; 6'd15: q1 = 8'h84;
            6'd16: q1 = 8'h53; 6'd17: q1 = 8'hd1; 6'd18: q1 = 8'h00; 6'd19: q1 = 8'hed;
            6'd20: q1 = 8'h20; 6'd21: q1 = 8'hfc; 6'd22: q1 = 8'hb1; 6'd23: q1 = 8'h5b;
            6'd24: q1 = 8'h6a; 6'd25: q1 = 8'hcb; 6'd26: q1 = 8'hbe; 6'd27: q1 = 8'h39;
            6'd28: q1 = 8'h4a; 6'd29: q1 = 8'h4c; 6'd30: q1 = 8'h58; 6'd31: q1 = 8'hcf;
            6'd32: q1 = 8'hd0; 6'd33: q1 = 8'hef; 6'd34: q1 = 8'haa; 6'd35: q1 = 8'hfb;
            6'd36: q1 = 8'h43; 6'd37: q1 = 8'h4d; 6'd38: q1 = 8'h33; 6'd39: q1 = 8'h85;
            6'd40: q1 = 8'h45; 6'd41: q1 = 8'hf9; 6'd42: q1 = 8'h02; 6'd43: q1 = 8'h7f;
            6'd44: q1 = 8'h50; 6'd45: q1 = 8'h3c; 6'd46: q1 = 8'h9f; 6'd47: q1 = 8'ha8;
            6'd48: q1 = 8'h51; 6'd49: q1 = 8'ha3; 6'd50: q1 = 8'h40; 6'd51: q1 = 8'h8f;
            6'd52: q1 = 8'h92; 6'd53: q1 = 8'h9d; 6'd54: q1 = 8'h38; 6'd55: q1 = 8'hf5;
            6'd56: q1 = 8'hbc; 6'd57: q1 = 8'hb6; 6'd58: q1 = 8'hda; 6'd59: q1 = 8'h21;
            6'd60: q1 = 8'h10; 6'd61: q1 = 8'hff; 6'd62: q1 = 8'hf3; default: q1 = 8'hd2;
        endcase

    always_comb
        case (low)
            6'd0 : q2 = 8'hcd; 6'd1 : q2 = 8'h0c; 6'd2 : q2 = 8'h13; 6'd3 : q2 = 8'hec;
            6'd4 : q2 = 8'h5f; 6'd5 : q2 = 8'h97; 6'd6 : q2 = 8'h44; 6'd7 : q2 = 8'h17;
            6'd8 : q2 = 8'hc4; 6'd9 : q2 = 8'ha7; 6'd10: q2 = 8'h7e; 6'd11: q2 = 8'h3d;
            6'd12: q2 = 8'h64; 6'd13: q2 = 8'h5d; 6'd14: q2 = 8'h19; 6'd15: q2 = 8'h73;
            6'd16: q2 = 8'h60; 6'd17: q2 = 8'h81; 6'd18: q2 = 8'h4f; 6'd19: q2 = 8'hdc;
            6'd20: q2 = 8'h22; 6'd21: q2 = 8'h2a; 6'd22: q2 = 8'h90; 6'd23: q2 = 8'h88;
            6'd24: q2 = 8'h46; 6'd25: q2 = 8'hee; 6'd26: q2 = 8'hb8; 6'd27: q2 = 8'h14;
            6'd28: q2 = 8'hde; 6'd29: q2 = 8'h5e; 6'd30: q2 = 8'h0b; 6'd31: q2 = 8'hdb;
            6'd32: q2 = 8'he0; 6'd33: q2 = 8'h32; 6'd34: q2 = 8'h3a; 6'd35: q2 = 8'h0a;
            6'd36: q2 = 8'h49; 6'd37: q2 = 8'h06; 6'd38: q2 = 8'h24; 6'd39: q2 = 8'h5c;
            6'd40: q2 = 8'hc2; 6'd41: q2 = 8'hd3; 6'd42: q2 = 8'hac; 6'd43: q2 = 8'h62;
            6'd44: q2 = 8'h91; 6'd45: q2 = 8'h95; 6'd46: q2 = 8'he4; 6'd47: q2 = 8'h79;
            6'd48: q2 = 8'he7; 6'd49: q2 = 8'hc8; 6'd50: q2 = 8'h37; 6'd51: q2 = 8'h6d;
            6'd52: q2 = 8'h8d; 6'd53: q2 = 8'hd5; 6'd54: q2 = 8'h4e; 6'd55: q2 = 8'ha9;
            6'd56: q2 = 8'h6c; 6'd57: q2 = 8'h56; 6'd58: q2 = 8'hf4; 6'd59: q2 = 8'hea;
            6'd60: q2 = 8'h65; 6'd61: q2 = 8'h7a; 6'd62: q2 = 8'hae; default: q2 = 8'h08;
        endcase

    always_comb
        case (low)
            6'd0 : q3 = 8'hba; 6'd1 : q3 = 8'h78; 6'd2 : q3 = 8'h25; 6'd3 : q3 = 8'h2e;
            6'd4 : q3 = 8'h1c; 6'd5 : q3 = 8'ha6; 6'd6 : q3 = 8'hb4; 6'd7 : q3 = 8'hc6;
            6'd8 : q3 = 8'he8; 6'd9 : q3 = 8'hdd; 6'd10: q3 = 8'h74; 6'd11: q3 = 8'h1f;
            6'd12: q3 = 8'h4b; 6'd13: q3 = 8'hbd; 6'd14: q3 = 8'h8b; 6'd15: q3 = 8'h8a;
            6'd16: q3 = 8'h70; 6'd17: q3 = 8'h3e; 6'd18: q3 = 8'hb5; 6'd19: q3 = 8'h66;
            6'd20: q3 = 8'h48; 6'd21: q3 = 8'h03; 6'd22: q3 = 8'hf6; 6'd23: q3 = 8'h0e;
            6'd24: q3 = 8'h61; 6'd25: q3 = 8'h35; 6'd26: q3 = 8'h57; 6'd27: q3 = 8'hb9;
            6'd28: q3 = 8'h86; 6'd29: q3 = 8'hc1; 6'd30: q3 = 8'h1d; 6'd31: q3 = 8'h9e;
            6'd32: q3 = 8'he1; 6'd33: q3 = 8'hf8; 6'd34: q3 = 8'h98; 6'd35: q3 = 8'h11;
            6'd36: q3 = 8'h69; 6'd37: q3 = 8'hd9; 6'd38: q3 = 8'h8e; 6'd39: q3 = 8'h94;
            6'd40: q3 = 8'h9b; 6'd41: q3 = 8'h1e; 6'd42: q3 = 8'h87; 6'd43: q3 = 8'he9;
            6'd44: q3 = 8'hce; 6'd45: q3 = 8'h55; 6'd46: q3 = 8'h28; 6'd47: q3 = 8'hdf;
            6'd48: q3 = 8'h8c; 6'd49: q3 = 8'ha1; 6'd50: q3 = 8'h89; 6'd51: q3 = 8'h0d;
            6'd52: q3 = 8'hbf; 6'd53: q3 = 8'he6; 6'd54: q3 = 8'h42; 6'd55: q3 = 8'h68;
            6'd56: q3 = 8'h41; 6'd57: q3 = 8'h99; 6'd58: q3 = 8'h2d; 6'd59: q3 = 8'h0f;
            6'd60: q3 = 8'hb0; 6'd61: q3 = 8'h54; 6'd62: q3 = 8'hbb; default: q3 = 8'h16;
        endcase

    assign out = in[7] ? (in[6] ? q3 : q2) : (in[6] ? q1 : q0);
endmodule

`default_nettype wire
