// party-sim: one party's sequencer, simulated, as a process that serves the engine over its
// standard input, which is one end of a Unix socket pair. The frames are described in
// crates/hdl/src/frame.rs. It ends when the engine does.
#include "core.hpp"
#include <cerrno>
#include <cstdio>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

constexpr uint32_t VERSION = 1;
// The longest frame: a batch's input is a few hundred KiB, a program a few.
constexpr uint32_t LONGEST = 64u << 20;
// Cycles between looks at the socket, and cycles without any sign of life after which it waits for
// the engine.
constexpr uint64_t LOOK = 128, LULL = 512;

struct Gone {};

void write_all(const uint8_t *from, size_t count) {
    while (count > 0) {
        ssize_t n = write(0, from, count);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) throw Gone{};
        from += n;
        count -= size_t(n);
    }
}

void say(char kind, int ctx, const Bytes &payload) {
    uint8_t head[8] = {uint8_t(kind), uint8_t(ctx), 0, 0};
    put32(head + 4, uint32_t(payload.size()));
    write_all(head, 8);
    write_all(payload.data(), payload.size());
}

void read_all(uint8_t *to, size_t count) {
    while (count > 0) {
        ssize_t n = read(0, to, count);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) throw Gone{};
        to += n;
        count -= size_t(n);
    }
}

class Party {
  public:
    void run() {
        greet();
        while (true) {
            // Nothing to do, or nothing can be done until the engine says more.
            bool stuck = core.idle() || core.cycles - last_sign > LULL;
            if (stuck) flush();
            while (heard(stuck)) {
                stuck = false;
                last_sign = core.cycles;
            }
            for (uint64_t i = 0; i < LOOK && !core.idle(); i++) cycle();
            flush();
        }
    }

  private:
    Core core;
    uint32_t instructions = 0, rows_in = 0, rows_out = 0;
    bool keyed = false, complete = false;
    uint64_t last_sign = 0;
    // From the engine to the core: bytes of the link by thread, and how many rows the core has room
    // for.
    std::array<std::deque<uint8_t>, CONTEXTS> rx;
    std::array<int, CONTEXTS> rx_beats_left{};
    std::array<int, CONTEXTS> tx_beats{};
    std::deque<int> credits;
    std::array<Bytes, CONTEXTS> tx;
    int turn = 0;

    void greet() {
        uint32_t facts[] = {VERSION, LANES, CORES, CONTEXTS, SLOTS, INSTRS, SCALARS, FLIGHT};
        Bytes payload(sizeof facts);
        for (size_t i = 0; i < sizeof facts / 4; i++) put32(payload.data() + 4 * i, facts[i]);
        say('H', 0, payload);
        rx_beats_left.fill(FLIGHT * CORES);
    }

    bool heard(bool wait) {
        pollfd fd{0, POLLIN, 0};
        int n = poll(&fd, 1, wait ? -1 : 0);
        if (n < 0 && errno != EINTR) throw Gone{};
        if (n <= 0) return false;
        uint8_t head[8];
        read_all(head, 8);
        uint32_t len = uint32_t(head[4]) | uint32_t(head[5]) << 8 | uint32_t(head[6]) << 16 | uint32_t(head[7]) << 24;
        if (head[2] || head[3] || len > LONGEST) throw std::runtime_error("a frame's head is none that the engine sends");
        Bytes payload(len);
        read_all(payload.data(), len);
        obey(char(head[0]), head[1], payload);
        return true;
    }

    static void need(bool ok, const char *what) {
        if (!ok) throw std::runtime_error(what);
    }

    void obey(char kind, int ctx, const Bytes &payload) {
        need(ctx < CONTEXTS, "there is no thread of that number");
        // Loading ticks the core without a look at its streams.
        if (kind == 'K' || kind == 'M' || kind == 'S' || kind == 'P') need(core.idle(), "a batch is under way");
        switch (kind) {
        case 'K':
            need(payload.size() == 32, "keys have 32 bytes");
            core.load_key(false, payload.data());
            core.load_key(true, payload.data() + 16);
            need(core.keys_loaded(), "the core did not take the keys");
            keyed = true;
            break;
        case 'M':
            need(!payload.empty() && payload.size() % 8 == 0, "microcode comes in words of 8 bytes");
            need(payload.size() / 8 <= INSTRS, "the microcode is longer than the store");
            instructions = uint32_t(payload.size() / 8);
            for (uint32_t i = 0; i < instructions; i++) core.load_word(i, get64(payload.data() + 8 * i));
            break;
        case 'S':
            need(payload.size() <= SCALARS, "there are more scalars than places");
            for (uint32_t i = 0; i < payload.size(); i++) core.load_scalar(i, payload[i]);
            break;
        case 'P':
            need(payload.size() == 8 && instructions > 0, "the program's rows come after its microcode");
            rows_in = uint32_t(get64(payload.data()));
            rows_out = uint32_t(get64(payload.data()) >> 32);
            need(rows_in < 65536 && rows_out > 0, "a program has at most 65535 input rows, and an output row");
            core.rows(rows_in, rows_out);
            complete = true;
            break;
        case 'J':
            need(keyed && complete, "a batch comes after keys and program");
            need(payload.size() == 16 + size_t(rows_in) * 2 * PLANE, "a batch's input has another length");
            // They would be taken for the new batch's.
            need(rx[ctx].empty(), "words of the link are left from the batch before");
            core.job(ctx, payload.data(), payload.data() + 16);
            break;
        case 'R':
            need(payload.size() % BEAT == 0, "words of the link come in whole beats");
            rx[ctx].insert(rx[ctx].end(), payload.begin(), payload.end());
            break;
        case 'Z': {
            Bytes numbers(16);
            for (int i = 0; i < 8; i++) {
                numbers[i] = uint8_t(core.cycles >> (8 * i));
                numbers[8 + i] = uint8_t(core.ands >> (8 * i));
            }
            say('Z', 0, numbers);
            break;
        }
        default:
            throw std::runtime_error("a frame of an unknown kind");
        }
    }

    void cycle() {
        // One beat a cycle from the engine's queues, thread after thread, as long as the core has
        // room.
        for (int i = 0; i < CONTEXTS; i++) {
            int ctx = (turn + i) % CONTEXTS;
            if (rx[ctx].empty() || rx_beats_left[ctx] == 0) continue;
            Beat beat{ctx, {}};
            std::copy_n(rx[ctx].begin(), BEAT, beat.words.begin());
            rx[ctx].erase(rx[ctx].begin(), rx[ctx].begin() + BEAT);
            rx_beats_left[ctx]--;
            core.hear(beat);
            turn = ctx + 1;
            break;
        }
        if (!credits.empty()) {
            core.credit(credits.front());
            credits.pop_front();
        }
        core.cycle();
        if (core.freed) rx_beats_left[core.freed_ctx] += CORES;
        if (core.sent) {
            int ctx = core.beat.ctx;
            tx[ctx].insert(tx[ctx].end(), core.beat.words.begin(), core.beat.words.end());
            // The engine has room for whatever comes.
            if (++tx_beats[ctx] % CORES == 0) credits.push_back(ctx);
        }
        if (core.worked || core.sent || core.freed || !core.outputs.empty()) last_sign = core.cycles;
        while (!core.outputs.empty()) {
            auto [ctx, bytes] = std::move(core.outputs.front());
            core.outputs.pop_front();
            flush();
            say('O', ctx, bytes);
        }
    }

    void flush() {
        for (int ctx = 0; ctx < CONTEXTS; ctx++) {
            if (tx[ctx].empty()) continue;
            say('T', ctx, tx[ctx]);
            tx[ctx].clear();
        }
    }
};

} // namespace

int main() {
    // It holds a party's keys and shares: no core dumps, and no debuggers of the same user.
    prctl(PR_SET_DUMPABLE, 0);
    try {
        Party().run();
    } catch (const Gone &) {
        return 0;
    } catch (const std::exception &e) {
        try {
            std::string text = e.what();
            say('X', 0, Bytes(text.begin(), text.end()));
        } catch (const Gone &) {
        }
        return 1;
    }
}
