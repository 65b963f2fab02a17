//! 128-bit blocks, bit-matrix transposition, GF(2^128), GF(2^61-1).
