// lanes-sim: latency and initiation interval of the AND lanes and parties, counted cycle by cycle
// on random words whose results are compared with the formula (protocols.md §E) and with the plain
// product.
//
// Built for LANES other than 1 it has `party` alone, on short links.
//
//   lanes-sim and_lane | and_lane_ii2 | party | three_party [--words N] [--link N] [--seed N]
// words: how many are streamed without a pause. link: cycles of the links between parties
// (three_party has 1). Prints one JSON object; cycles is from the first result to the last. A party
// on short links has queues of DEPTH 64, on longer ones of DEEP.
#if LANES == 1
#include "Vand_lane.h"
#include "Vand_lane_ii2.h"
#include "Vparty_deep.h"
#include "Vthree_party.h"
#endif
#include "Vparty.h"
#include "aes.hpp"
#include "ports.hpp"
#include "verilated.h"
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int DEPTH = 64, DEEP = 1024;
// As long as the longest pipeline without a reset.
constexpr int RESET = 64;
// Cycles without a result after which a bench gives up.
constexpr uint64_t STUCK = 100'000;

std::mt19937_64 rng;

Block random_block() {
    Block b;
    for (auto &byte : b) byte = uint8_t(rng());
    return b;
}

Block operator^(Block a, const Block &b) {
    for (int i = 0; i < 16; i++) a[i] ^= b[i];
    return a;
}
Block operator&(Block a, const Block &b) {
    for (int i = 0; i < 16; i++) a[i] &= b[i];
    return a;
}

// A secret word as three shares.
using Shares = std::array<Block, 3>;
Shares random_shares() { return {random_block(), random_block(), random_block()}; }
Block open(const Shares &s) { return s[0] ^ s[1] ^ s[2]; }

Block counter(uint64_t word) {
    Block b{};
    for (int i = 0; i < 8; i++) b[i] = uint8_t(word >> (8 * i));
    return b;
}

// Share number i of a product: what party i makes with keys i and i − 1.
Block product(const Shares &x, const Shares &y, int i, const Block &ctr, const std::vector<Aes> &keys) {
    int n = (i + 1) % 3;
    return (x[i] & y[i]) ^ (x[i] & y[n]) ^ (x[n] & y[i]) ^ keys[i].encrypt(ctr) ^ keys[(i + 2) % 3].encrypt(ctr);
}

struct Counted {
    uint64_t latency = 0, words = 0, first = 0, last = 0;
    int depth = 0;
    void result(uint64_t now) {
        if (words++ == 0) first = now;
        last = now;
    }
};

#if LANES == 1
// The lanes, fed as party 0's: one word alone, then a stream.
template <class Model> struct Ready {
    static bool of(const Model &) { return true; }
};
template <> struct Ready<Vand_lane_ii2> {
    static bool of(const Vand_lane_ii2 &m) { return m.in_ready; }
};

template <class Model> Counted lane_bench(uint64_t words) {
    VerilatedContext context;
    Model m(&context);
    std::vector<Aes> keys{Aes(random_block()), Aes(random_block()), Aes(random_block())};
    set_port(m.rk_own, keys[0].round_keys.data(), 176);
    set_port(m.rk_prev, keys[2].round_keys.data(), 176);
    struct Fed {
        uint64_t at;
        Block z;
    };
    std::deque<Fed> under_way;
    Counted counted;
    auto stream = [&](uint64_t count, uint64_t first_word) {
        counted = Counted{counted.latency};
        uint64_t fed = 0;
        Shares x = random_shares(), y = random_shares();
        for (uint64_t now = 0; counted.words < count; now++) {
            if (now > counted.last + STUCK) throw std::runtime_error("no word comes out");
            Block ctr = counter(first_word + fed);
            m.in_valid = fed < count;
            set_port(m.in_counter, ctr.data(), 16);
            for (int h = 0; h < 2; h++) {
                set_port(m.x, x[h].data(), 16, 4 * h);
                set_port(m.y, y[h].data(), 16, 4 * h);
            }
            m.clk = 0;
            m.eval();
            if (m.out_valid) {
                Block z;
                get_port(m.z, z.data(), 16);
                if (under_way.empty() || z != under_way.front().z) throw std::runtime_error("a word is wrong");
                if (counted.words == 0) counted.latency = now - under_way.front().at;
                under_way.pop_front();
                counted.result(now);
            }
            if (m.in_valid && Ready<Model>::of(m)) {
                under_way.push_back({now, product(x, y, 0, ctr, keys)});
                fed++;
                x = random_shares(), y = random_shares();
            }
            m.clk = 1;
            m.eval();
        }
    };
    m.rst = 1;
    for (int i = 0; i < RESET; i++) {
        m.clk = 0;
        m.eval();
        m.clk = 1;
        m.eval();
    }
    m.rst = 0;
    stream(1, 0);
    stream(words, 1);
    return counted;
}

#endif

// Three parties, as three models with links of any length between them, or as one.
template <class Model> class Trio {
  public:
    explicit Trio(uint64_t latency) : link(latency) {
        for (auto &m : models) m = std::make_unique<Model>(&context);
        data.resize(latency);
        credits.resize(latency);
    }
    void rst(bool on) {
        for (auto &m : models) m->rst = on;
    }
    void key(int i, bool valid, bool which, const Block &k) {
        models[i]->key_valid = valid;
        models[i]->key_which = which;
        set_port(models[i]->key, k.data(), 16);
    }
    bool key_ready(int i) { return models[i]->key_ready; }
    void in(int i, bool valid, const uint8_t *beat) {
        models[i]->s_axis_tvalid = valid;
        set_port(models[i]->s_axis_tdata, beat, 64 * LANES);
        models[i]->m_axis_tready = 1;
    }
    bool in_ready(int i) { return models[i]->s_axis_tready; }
    bool out(int i, uint8_t *beat) {
        get_port(models[i]->m_axis_tdata, beat, 32 * LANES);
        return models[i]->m_axis_tvalid;
    }
    bool failed() { return models[0]->link_error || models[1]->link_error || models[2]->link_error; }
    void low() {
        for (int i = 0; i < 3; i++) {
            auto &[valid, words] = data.front()[(i + 1) % 3];
            models[i]->rx_valid = valid;
            set_port(models[i]->rx_data, words.data(), 16 * LANES);
            models[i]->tx_credit = credits.front()[(i + 2) % 3];
            models[i]->clk = 0;
            models[i]->eval();
        }
    }
    void high() {
        data.pop_front();
        credits.pop_front();
        data.emplace_back();
        credits.emplace_back();
        for (int i = 0; i < 3; i++) {
            auto &[valid, words] = data.back()[i];
            valid = models[i]->tx_valid;
            get_port(models[i]->tx_data, words.data(), 16 * LANES);
            credits.back()[i] = models[i]->rx_credit;
        }
        for (auto &m : models) {
            m->clk = 1;
            m->eval();
        }
    }

  private:
    uint64_t link;
    VerilatedContext context;
    std::array<std::unique_ptr<Model>, 3> models;
    // What left in the cycles before, by its sender.
    std::deque<std::array<std::pair<bool, std::array<uint8_t, 16 * LANES>>, 3>> data;
    std::deque<std::array<bool, 3>> credits;
};

#if LANES == 1
template <> class Trio<Vthree_party> {
  public:
    explicit Trio(uint64_t latency) : model(&context) {
        if (latency != 1) throw std::runtime_error("three_party has links of 1 cycle");
    }
    void rst(bool on) { model.rst = on; }
    void key(int i, bool valid, bool which, const Block &k) {
        bit(model.key_valid, i, valid);
        bit(model.key_which, i, which);
        set_port(model.key, k.data(), 16, 4 * i);
    }
    bool key_ready(int i) { return model.key_ready >> i & 1; }
    void in(int i, bool valid, const uint8_t *beat) {
        bit(model.s_axis_tvalid, i, valid);
        set_port(model.s_axis_tdata, beat, 64 * LANES, 16 * LANES * i);
        bit(model.m_axis_tready, i, true);
    }
    bool in_ready(int i) { return model.s_axis_tready >> i & 1; }
    bool out(int i, uint8_t *beat) {
        get_port(model.m_axis_tdata, beat, 32 * LANES, 8 * LANES * i);
        return model.m_axis_tvalid >> i & 1;
    }
    bool failed() { return model.link_error; }
    void low() {
        model.clk = 0;
        model.eval();
    }
    void high() {
        model.clk = 1;
        model.eval();
    }

  private:
    template <class Port> static void bit(Port &port, int i, bool on) {
        port = Port((port & ~(1u << i)) | unsigned(on) << i);
    }
    VerilatedContext context;
    Vthree_party model;
};
#endif

template <class Model> Counted party_bench(uint64_t words, uint64_t latency) {
    Trio<Model> trio(latency);
    std::array<Block, 3> secret{random_block(), random_block(), random_block()};
    std::vector<Aes> keys(secret.begin(), secret.end());
    std::array<uint8_t, 64 * LANES> nothing{};
    auto cycle = [&] {
        trio.low();
        trio.high();
    };
    for (int i = 0; i < 3; i++) {
        trio.key(i, false, false, secret[i]);
        trio.in(i, false, nothing.data());
    }
    trio.rst(true);
    for (uint64_t i = 0; i < RESET + latency; i++) cycle();
    trio.rst(false);
    for (int i = 0; i < 3; i++) {
        for (int which = 0; which < 2; which++) {
            trio.key(i, true, which, secret[which ? (i + 2) % 3 : i]);
            bool taken = false;
            for (int n = 0; n < 1000 && !taken; n++) {
                trio.low();
                taken = trio.key_ready(i);
                trio.high();
            }
            if (!taken) throw std::runtime_error("a party takes no key");
            trio.key(i, false, false, secret[i]);
        }
    }
    // Expansion, and counters from 0.
    for (int n = 0; n < RESET; n++) cycle();

    using Beat = std::array<std::pair<Shares, Shares>, LANES>;
    auto random_beat = [] {
        Beat beat;
        for (auto &[x, y] : beat) x = random_shares(), y = random_shares();
        return beat;
    };
    Counted counted;
    uint64_t number = 0;
    auto stream = [&](uint64_t count) {
        counted = Counted{counted.latency};
        std::deque<Beat> beats;  // from the first that a party still waits for
        std::array<uint64_t, 3> fed{}, made{};
        std::deque<std::array<std::array<uint8_t, 32 * LANES>, 3>> outputs;
        uint64_t opened = 0, entered = 0;
        for (uint64_t now = 0; opened < count; now++) {
            if (now > counted.last + STUCK) throw std::runtime_error("no beat comes out");
            for (int i = 0; i < 3; i++) {
                while (fed[i] < count && beats.size() <= fed[i] - opened) beats.push_back(random_beat());
                std::array<uint8_t, 64 * LANES> tdata{};
                for (int n = 0; n < LANES && fed[i] < count; n++) {
                    auto &[x, y] = beats[fed[i] - opened][n];
                    for (int h = 0; h < 2; h++) {
                        memcpy(&tdata[64 * n + 16 * h], x[(i + h) % 3].data(), 16);
                        memcpy(&tdata[64 * n + 32 + 16 * h], y[(i + h) % 3].data(), 16);
                    }
                }
                trio.in(i, fed[i] < count, tdata.data());
            }
            trio.low();
            for (int i = 0; i < 3; i++) {
                std::array<uint8_t, 32 * LANES> beat;
                if (trio.out(i, beat.data())) {
                    while (outputs.size() <= made[i] - opened) outputs.emplace_back();
                    outputs[made[i]++ - opened][i] = beat;
                    if (i == 0) {
                        if (counted.words == 0) counted.latency = now - entered;
                        counted.result(now);
                    }
                }
                if (fed[i] < count && trio.in_ready(i)) {
                    if (i == 0 && fed[i] == 0) entered = now;
                    fed[i]++;
                }
            }
            trio.high();
            if (trio.failed()) throw std::runtime_error("a party reports an error of its link");
            // Beats that all three have made.
            while (opened < made[0] && opened < made[1] && opened < made[2]) {
                for (int n = 0; n < LANES; n++) {
                    auto &[x, y] = beats.front()[n];
                    Shares own, next;
                    for (int i = 0; i < 3; i++) {
                        memcpy(own[i].data(), &outputs.front()[i][32 * n], 16);
                        memcpy(next[i].data(), &outputs.front()[i][32 * n + 16], 16);
                        if (own[i] != product(x, y, i, counter(number + n), keys))
                            throw std::runtime_error("a share is wrong");
                    }
                    for (int i = 0; i < 3; i++)
                        if (next[i] != own[(i + 1) % 3]) throw std::runtime_error("neighbours hold different shares");
                    if (open(own) != (open(x) & open(y))) throw std::runtime_error("a product is wrong");
                }
                number += LANES;
                beats.pop_front();
                outputs.pop_front();
                opened++;
            }
        }
    };
    stream(1);
    stream(words);
    return counted;
}

uint64_t positive(const char *text) {
    char *end = nullptr;
    uint64_t n = strtoull(text, &end, 10);
    if (end == text || *end || n == 0) throw std::runtime_error(std::string("'") + text + "' is no number above 0");
    return n;
}

int run(int argc, char **argv) {
    std::string design;
    uint64_t words = 2000, link = 1, seed = 1;
    for (int i = 1; i < argc; i++) {
        std::string arg = argv[i];
        if (arg.rfind("--", 0) != 0) {
            design = arg;
            continue;
        }
        if (++i == argc) throw std::runtime_error(arg + " takes a number");
        if (arg == "--words") words = positive(argv[i]);
        else if (arg == "--link") link = positive(argv[i]);
        else if (arg == "--seed") seed = positive(argv[i]);
        else throw std::runtime_error("there is no option " + arg);
    }
    rng.seed(seed);
    // Streams of one word have no interval.
    if (words < 2) words = 2;
    Counted counted;
    bool deep = 27 + 2 * link > DEPTH;
#if LANES == 1
    if (design == "and_lane") counted = lane_bench<Vand_lane>(words);
    else if (design == "and_lane_ii2") counted = lane_bench<Vand_lane_ii2>(words);
    else if (design == "party" && deep) counted = party_bench<Vparty_deep>(words, link);
    else if (design == "three_party") counted = party_bench<Vthree_party>(words, link);
    else
#endif
    if (design == "party" && !(deep && LANES > 1)) counted = party_bench<Vparty>(words, link);
    else throw std::runtime_error("usage: lanes-sim and_lane|and_lane_ii2|party|three_party [--words N] [--link N] [--seed N]");
    bool queues = design == "party" || design == "three_party";
    printf("{\"design\":\"%s\",\"lanes\":%d,\"link\":%llu,\"depth\":%d,\"latency\":%llu,\"words\":%llu,\"cycles\":%llu}\n",
           design.c_str(), queues ? LANES : 1, (unsigned long long)(queues ? link : 0),
           !queues ? 0 : deep ? DEEP : DEPTH, (unsigned long long)counted.latency, (unsigned long long)counted.words,
           (unsigned long long)(counted.last - counted.first));
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception &e) {
        fprintf(stderr, "error: %s\n", e.what());
        return 1;
    }
}
