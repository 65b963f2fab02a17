// sequencer-sim: three parties' sequencers and the links between them, cycle by cycle, on random
// batches whose results are compared with a plain run of the same microcode.
//
//   sequencer-sim MICROCODE [--latency N] [--threads N] [--batches N] [--seed N]
// latency: cycles of a link each way; threads: how many are used; batches: for each of them. Prints
// one JSON object.
#include "core.hpp"
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>

namespace {

struct Microcode {
    std::vector<uint64_t> words;
    uint32_t rows_in = 0, rows_out = 0, slots = 0, scalars = 0;
};

Microcode read_microcode(const std::string &path) {
    std::ifstream in(path);
    if (!in) throw std::runtime_error("cannot read " + path);
    Microcode code;
    std::string line;
    while (std::getline(in, line)) {
        if (line.rfind("//", 0) != 0) {
            if (!line.empty()) code.words.push_back(std::stoull(line, nullptr, 16));
            continue;
        }
        std::istringstream words(line.substr(2));
        std::string key, word;
        words >> key;
        if (key == "rows") words >> word >> code.rows_in >> word >> code.rows_out;
        if (key == "slots") words >> code.slots;
        if (key == "scalars") words >> code.scalars;
    }
    if (code.words.empty() || code.rows_out == 0) throw std::runtime_error(path + " is no microcode");
    if (code.slots > SLOTS) throw std::runtime_error("the program needs more slots than the core has");
    if (code.words.size() > INSTRS) throw std::runtime_error("the program is longer than the store");
    if (code.scalars > SCALARS) throw std::runtime_error("the program has more scalars than the core");
    return code;
}

std::mt19937_64 rng;

Bytes random_bytes(size_t count) {
    Bytes bytes(count);
    for (auto &b : bytes) b = uint8_t(rng());
    return bytes;
}

void add(uint8_t *to, const uint8_t *from, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] ^= from[i];
}

// Plain planes through the microcode.
Bytes plain(const Microcode &code, const std::vector<uint8_t> &scalars, const Bytes &input) {
    std::vector<Bytes> slots(SLOTS, Bytes(PLANE));
    Bytes output;
    size_t row = 0;
    for (uint64_t w : code.words) {
        unsigned op = unsigned(w >> 61), s = w >> 40 & 0xffff, a = w >> 26 & 0x1fff, b = w >> 13 & 0x1fff, d = w & 0x1fff;
        if (op == 0) break;
        Bytes result(PLANE, op == 2 ? 0 : scalars[s] ? 0xff : 0);
        if (op == 2) {
            for (int i = 0; i < PLANE; i++) result[i] = slots[a][i] & slots[b][i];
        } else if (op == 3) {
            result.assign(input.begin() + row * PLANE, input.begin() + (row + 1) * PLANE);
            row++;
        } else {
            if (w >> 59 & 1) add(result.data(), slots[a].data(), PLANE);
            if (w >> 58 & 1) add(result.data(), slots[b].data(), PLANE);
        }
        if (op == 4) output.insert(output.end(), result.begin(), result.end());
        else slots[d] = result;
    }
    return output;
}

// What is on its way, by the cycle in which it arrives.
template <class T> struct Link {
    uint64_t latency;
    std::deque<std::pair<uint64_t, T>> under_way;
    void send(uint64_t now, T value) { under_way.emplace_back(now + latency, value); }
    bool arrives(uint64_t now, T &value) {
        if (under_way.empty() || under_way.front().first > now) return false;
        value = under_way.front().second;
        under_way.pop_front();
        return true;
    }
};

uint64_t number(const char *text) {
    char *end = nullptr;
    uint64_t n = strtoull(text, &end, 10);
    if (end == text || *end) throw std::runtime_error(std::string("'") + text + "' is no number");
    return n;
}

int run(int argc, char **argv) {
    std::string path;
    uint64_t latency = 1, threads = CONTEXTS, batches = 1, seed = 1;
    for (int i = 1; i < argc; i++) {
        std::string arg = argv[i];
        if (arg.rfind("--", 0) != 0) {
            path = arg;
            continue;
        }
        if (++i == argc) throw std::runtime_error(arg + " takes a number");
        if (arg == "--latency") latency = number(argv[i]);
        else if (arg == "--threads") threads = number(argv[i]);
        else if (arg == "--batches") batches = number(argv[i]);
        else if (arg == "--seed") seed = number(argv[i]);
        else throw std::runtime_error("there is no option " + arg);
    }
    if (path.empty() || threads < 1 || threads > CONTEXTS || batches < 1 || latency < 1)
        throw std::runtime_error("usage: sequencer-sim MICROCODE [--latency 1…] [--threads 1…16] [--batches 1…] [--seed N]");
    Microcode code = read_microcode(path);
    rng.seed(seed);

    // Party i holds shares i and i + 1, and keys i and i − 1.
    std::array<Core, 3> cores;
    std::array<Bytes, 3> keys;
    for (auto &key : keys) key = random_bytes(16);
    std::vector<uint8_t> plain_scalars(code.scalars);
    std::vector<std::array<uint8_t, 3>> scalars(code.scalars);
    for (uint32_t s = 1; s < code.scalars; s++) {
        for (auto &share : scalars[s]) share = rng() & 1;
        plain_scalars[s] = scalars[s][0] ^ scalars[s][1] ^ scalars[s][2];
    }
    for (int i = 0; i < 3; i++) {
        cores[i].load_key(false, keys[i].data());
        cores[i].load_key(true, keys[(i + 2) % 3].data());
        for (uint32_t w = 0; w < code.words.size(); w++) cores[i].load_word(w, code.words[w]);
        for (uint32_t s = 0; s < code.scalars; s++) cores[i].load_scalar(s, scalars[s][i] | scalars[s][(i + 1) % 3] << 1);
        cores[i].rows(code.rows_in, code.rows_out);
        cores[i].cycles = 0;
    }

    // Batches, thread by thread in turn.
    std::deque<std::pair<int, Bytes>> expected;
    size_t planes = size_t(code.rows_in) * PLANE;
    for (uint64_t batch = 0; batch < batches * threads; batch++) {
        std::array<Bytes, 3> share;
        Bytes input(planes);
        for (auto &s : share) {
            s = random_bytes(planes);
            add(input.data(), s.data(), planes);
        }
        expected.emplace_back(int(batch % threads), plain(code, plain_scalars, input));
        Bytes counter(16);
        for (int b = 0; b < 4; b++) counter[12 + b] = uint8_t(batch >> (8 * b));
        for (int i = 0; i < 3; i++) {
            Bytes rows(2 * planes);
            for (uint32_t r = 0; r < code.rows_in; r++) {
                memcpy(&rows[2 * r * PLANE], &share[i][r * PLANE], PLANE);
                memcpy(&rows[(2 * r + 1) * PLANE], &share[(i + 1) % 3][r * PLANE], PLANE);
            }
            cores[i].job(int(batch % threads), counter.data(), rows.data());
        }
    }

    // Party i sends to i − 1; room for rows comes back the other way.
    std::array<Link<Beat>, 3> data;
    std::array<Link<int>, 3> credits;
    for (auto &l : data) l.latency = latency;
    for (auto &l : credits) l.latency = latency;
    uint64_t now = 0, done = 0, last = 0;
    std::array<std::array<std::deque<Bytes>, CONTEXTS>, 3> outputs;
    while (done < batches * threads) {
        for (int i = 0; i < 3; i++) {
            Beat beat;
            int ctx;
            if (data[(i + 1) % 3].arrives(now, beat)) cores[i].hear(beat);
            if (credits[(i + 2) % 3].arrives(now, ctx)) cores[i].credit(ctx);
            cores[i].cycle();
            if (cores[i].sent) data[i].send(now, cores[i].beat);
            if (cores[i].freed) credits[i].send(now, cores[i].freed_ctx);
            while (!cores[i].outputs.empty()) {
                auto &[from, bytes] = cores[i].outputs.front();
                outputs[i][from].push_back(std::move(bytes));
                cores[i].outputs.pop_front();
                done += i == 0;
                last = now;
            }
        }
        if (now++ > last + 50'000'000) throw std::runtime_error("the parties wait for each other");
    }
    for (uint64_t slack = 0; slack < 1000; slack++) {
        for (int i = 0; i < 3; i++) {
            cores[i].cycle();
            while (!cores[i].outputs.empty()) {
                auto &[from, bytes] = cores[i].outputs.front();
                outputs[i][from].push_back(std::move(bytes));
                cores[i].outputs.pop_front();
            }
        }
    }
    for (auto &[ctx, value] : expected) {
        for (int i = 0; i < 3; i++)
            if (outputs[i][ctx].empty()) throw std::runtime_error("a batch has no output");
        for (uint32_t r = 0; r < code.rows_out; r++) {
            Bytes sum(PLANE);
            for (int i = 0; i < 3; i++) {
                add(sum.data(), &outputs[i][ctx].front()[2 * r * PLANE], PLANE);
                if (memcmp(&outputs[i][ctx].front()[(2 * r + 1) * PLANE],
                           &outputs[(i + 1) % 3][ctx].front()[2 * r * PLANE], PLANE) != 0)
                    throw std::runtime_error("neighbours hold different shares");
            }
            if (memcmp(sum.data(), &value[r * PLANE], PLANE) != 0) throw std::runtime_error("a result is wrong");
        }
        for (int i = 0; i < 3; i++) outputs[i][ctx].pop_front();
    }
    // From the first AND to the last of party 0: filling and draining are in it.
    uint64_t cycles = cores[0].last_and - cores[0].first_and + CORES;
    printf("{\"lanes\":%d,\"threads\":%llu,\"batches\":%llu,\"link_latency\":%llu,\"instances\":%d,\"ands\":%llu,"
           "\"cycles\":%llu,\"total_cycles\":%llu}\n",
           LANES, (unsigned long long)threads, (unsigned long long)batches, (unsigned long long)latency, 8 * PLANE,
           (unsigned long long)(cores[0].ands * CORES), (unsigned long long)cycles, (unsigned long long)last);
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
