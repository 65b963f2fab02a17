// One Verilated sequencer, a cycle at a time, with queues where its streams are: what both
// simulators share.
//
// A plane of a batch is 16·WORDS bytes; word c·LANES + n is that of core c in lane n, so that beat
// c of a row has words c·LANES … c·LANES + LANES − 1.
#pragma once
#include "Vsequencer.h"
#include "ports.hpp"
#include "verilated.h"
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

// What the model was built with: hdl/sim/build gives the same numbers to Verilator.
constexpr int CORES = 5;
constexpr int WORDS = CORES * LANES;
constexpr int PLANE = 16 * WORDS;
constexpr int BEAT = 16 * LANES;

using Bytes = std::vector<uint8_t>;

inline uint64_t get64(const uint8_t *from) {
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--) v = v << 8 | from[i];
    return v;
}

// A beat of a link: LANES words of one thread.
struct Beat {
    int ctx;
    std::array<uint8_t, BEAT> words;
};

class Core {
  public:
    // Beats that left in the last cycle (at most one), and rows whose room came free.
    bool sent = false;
    Beat beat{};
    bool freed = false;
    int freed_ctx = 0;
    // Whether an instruction was issued.
    bool worked = false;
    // Statistics.
    uint64_t cycles = 0, ands = 0, first_and = 0, last_and = 0;

    Core() : model(&context) {
        model.rst = 1;
        model.out_tready = 1;
        // As long as the longest pipeline without a reset.
        for (int i = 0; i < 64; i++) tick();
        model.rst = 0;
        tick();
        cycles = 0;
    }

    // Loads one of the two PRF keys.
    void load_key(bool prev, const uint8_t *key) {
        model.key_which = prev;
        set_port(model.key, key, 16);
        model.key_valid = 1;
        bool taken = false;
        for (int i = 0; i < 100 && !taken; i++) taken = tick_key();
        model.key_valid = 0;
        if (!taken) throw std::runtime_error("the core takes no key");
        for (int i = 0; i < 64; i++) tick();
    }

    bool keys_loaded() { return model.keys_loaded; }

    void load_word(uint32_t address, uint64_t word) {
        if (address >= INSTRS) throw std::runtime_error("the microcode is longer than the store");
        model.mc_we = 1;
        model.mc_addr = address;
        model.mc_data = word;
        tick();
        model.mc_we = 0;
    }

    void load_scalar(uint32_t address, int shares) {
        if (address >= SCALARS) throw std::runtime_error("there are more scalars than places");
        model.sc_we = 1;
        model.sc_addr = address;
        model.sc_data = shares & 3;
        tick();
        model.sc_we = 0;
    }

    void rows(uint32_t in, uint32_t out) {
        model.rows_in = in;
        rows_in = in;
        rows_out = out;
    }

    // A batch: first counter (16 bytes), then rows_in rows, own plane and next plane each.
    void job(int ctx, const uint8_t *counter, const uint8_t *input) {
        Job job{ctx, {}};
        memcpy(job.counter.data(), counter, 16);
        jobs.push_back(job);
        for (uint32_t r = 0; r < rows_in; r++, input += 2 * PLANE) {
            for (int c = 0; c < CORES; c++) {
                std::array<uint8_t, 2 * BEAT> pair;
                for (int n = 0; n < LANES; n++) {
                    memcpy(&pair[32 * n], input + 16 * (c * LANES + n), 16);
                    memcpy(&pair[32 * n + 16], input + PLANE + 16 * (c * LANES + n), 16);
                }
                input_beats.push_back(pair);
            }
        }
    }

    bool idle() { return jobs.empty() && model.idle == (1u << CONTEXTS) - 1 && !model.out_tvalid; }

    // What the next cycle brings from the link and the left neighbour.
    void hear(const Beat &heard) {
        model.rx_valid = 1;
        model.rx_ctx = heard.ctx;
        set_port(model.rx_data, heard.words.data(), BEAT);
    }
    void credit(int ctx) {
        model.tx_credit = 1;
        model.tx_credit_ctx = ctx;
    }

    void cycle() {
        model.job_valid = !jobs.empty();
        if (!jobs.empty()) {
            model.job_ctx = jobs.front().ctx;
            set_port(model.job_counter, jobs.front().counter.data(), 16);
        }
        model.in_tvalid = !input_beats.empty();
        if (!input_beats.empty()) set_port(model.in_tdata, input_beats.front().data(), 2 * BEAT);
        model.clk = 0;
        model.eval();
        bool job_taken = model.job_valid && model.job_ready;
        bool input_taken = model.in_tvalid && model.in_tready;
        if (model.link_error) throw std::runtime_error("a neighbour broke the link's flow control");
        if (model.out_tvalid) take_output();
        sent = model.tx_valid;
        if (sent) {
            beat.ctx = model.tx_ctx;
            get_port(model.tx_data, beat.words.data(), BEAT);
        }
        freed = model.rx_credit;
        freed_ctx = model.rx_credit_ctx;
        worked = model.working;
        if (model.issued) {
            if (ands == 0) first_and = cycles;
            last_and = cycles;
            ands++;
        }
        model.clk = 1;
        model.eval();
        cycles++;
        if (job_taken) jobs.pop_front();
        if (input_taken) input_beats.pop_front();
        model.rx_valid = 0;
        model.tx_credit = 0;
    }

    // Whole outputs: rows_out rows, own plane and next plane each.
    std::deque<std::pair<int, Bytes>> outputs;

  private:
    struct Job {
        int ctx;
        std::array<uint8_t, 16> counter;
    };
    VerilatedContext context;
    Vsequencer model;
    uint32_t rows_in = 0, rows_out = 0;
    std::deque<Job> jobs;
    std::deque<std::array<uint8_t, 2 * BEAT>> input_beats;
    struct Output {
        Bytes bytes;
        uint32_t beats = 0;
    };
    std::array<Output, CONTEXTS> under_way;

    void take_output() {
        int ctx = model.out_ctx;
        Output &out = under_way[ctx];
        if (out.beats == 0) out.bytes.assign(size_t(rows_out) * 2 * PLANE, 0);
        uint32_t row = out.beats / CORES, c = out.beats % CORES;
        uint8_t pair[2 * BEAT];
        get_port(model.out_tdata, pair, 2 * BEAT);
        uint8_t *to = out.bytes.data() + size_t(row) * 2 * PLANE;
        for (int n = 0; n < LANES; n++) {
            memcpy(to + 16 * (c * LANES + n), pair + 32 * n, 16);
            memcpy(to + PLANE + 16 * (c * LANES + n), pair + 32 * n + 16, 16);
        }
        if (++out.beats == rows_out * CORES) {
            outputs.emplace_back(ctx, std::move(out.bytes));
            out = Output{};
        }
    }

    void tick() {
        model.clk = 0;
        model.eval();
        model.clk = 1;
        model.eval();
    }

    bool tick_key() {
        model.clk = 0;
        model.eval();
        bool taken = model.key_ready;
        model.clk = 1;
        model.eval();
        return taken;
    }
};
