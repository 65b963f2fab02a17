// AES-128 encryption from FIPS-197's definitions: what the benches compare hardware with. Slow and
// not constant-time: its keys are the benches' own.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>

using Block = std::array<uint8_t, 16>;

class Aes {
  public:
    // The eleven round keys, one after the other.
    std::array<uint8_t, 176> round_keys;

    explicit Aes(const Block &key) {
        memcpy(round_keys.data(), key.data(), 16);
        uint8_t rcon = 1;
        for (int i = 16; i < 176; i += 4) {
            uint8_t word[4];
            memcpy(word, &round_keys[i - 4], 4);
            if (i % 16 == 0) {
                uint8_t first = word[0];
                for (int b = 0; b < 4; b++) word[b] = table()[b == 3 ? first : word[b + 1]];
                word[0] ^= rcon;
                rcon = twice(rcon);
            }
            for (int b = 0; b < 4; b++) round_keys[i + b] = round_keys[i - 16 + b] ^ word[b];
        }
    }

    Block encrypt(Block state) const {
        add(state, 0);
        for (int round = 1; round <= 10; round++) {
            Block next;
            for (int i = 0; i < 16; i++) next[i] = table()[state[(i + 4 * (i % 4)) % 16]];
            for (int c = 0; c < 16 && round < 10; c += 4) {
                uint8_t a[4], all = 0;
                for (int r = 0; r < 4; r++) all ^= a[r] = next[c + r];
                for (int r = 0; r < 4; r++) next[c + r] = a[r] ^ all ^ twice(a[r] ^ a[(r + 1) % 4]);
            }
            state = next;
            add(state, round);
        }
        return state;
    }

  private:
    static uint8_t twice(uint8_t a) { return uint8_t(a << 1 ^ (a >> 7) * 0x1b); }

    static uint8_t times(uint8_t a, uint8_t b) {
        uint8_t product = 0;
        for (; b; b >>= 1, a = twice(a)) product ^= (b & 1) * a;
        return product;
    }

    // a^254 (the inverse, or 0), then the affine map.
    static const std::array<uint8_t, 256> &table() {
        static const std::array<uint8_t, 256> made = [] {
            std::array<uint8_t, 256> t{};
            for (int a = 0; a < 256; a++) {
                uint8_t inverse = 1;
                for (int i = 0; i < 254; i++) inverse = times(inverse, uint8_t(a));
                uint8_t out = 0x63;
                for (int turn = 0; turn < 5; turn++) out ^= uint8_t(inverse << turn | inverse >> (8 - turn));
                t[a] = out;
            }
            return t;
        }();
        return made;
    }

    void add(Block &state, int round) const {
        for (int i = 0; i < 16; i++) state[i] ^= round_keys[16 * round + i];
    }
};
