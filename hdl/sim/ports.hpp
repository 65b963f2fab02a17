// Bytes in and out of the ports of Verilated models.
#pragma once
#include <cstdint>

inline void put32(uint8_t *to, uint32_t v) {
    for (int i = 0; i < 4; i++) to[i] = uint8_t(v >> (8 * i));
}

// A port wider than 64 bits is an array of 32-bit words, the lowest first; `at` is the port's word
// to begin with.
template <class Port> void set_port(Port &port, const uint8_t *bytes, int count, int at = 0) {
    for (int i = 0; i < count / 4; i++) {
        port[at + i] = uint32_t(bytes[4 * i]) | uint32_t(bytes[4 * i + 1]) << 8 | uint32_t(bytes[4 * i + 2]) << 16 |
                       uint32_t(bytes[4 * i + 3]) << 24;
    }
}
template <class Port> void get_port(const Port &port, uint8_t *bytes, int count, int at = 0) {
    for (int i = 0; i < count / 4; i++) put32(bytes + 4 * i, port[at + i]);
}
