// Mutated inputs for the native decoders of files, under the address and undefined-behaviour sanitizers.
//
//     decoders COUNT [SEED]
//
// Every input is decoded whole and in pieces, with and without vector instructions; all must agree, and
// what comes out must be in bounds and in order. Buffers have exactly the size that they are said to have.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "data/formats/native/decoder.h"
#include "data/formats/native/ecf.h"
#include "data/formats/native/text.h"

namespace {

const char* chosen_isa = "baseline";

}  // namespace

namespace evsurf {

const char* isa() { return chosen_isa; }

}  // namespace evsurf

namespace {

using namespace evsurf;
using namespace evsurf::formats;

using Bytes = std::vector<uint8_t>;
using Random = std::mt19937_64;

struct Events {
    std::vector<int64_t> columns[4];
    State state;
    Findings findings;
};

[[noreturn]] void fail(const char* what, const Bytes& input, int kind) {
    std::fprintf(stderr, "%s, kind %d, input:", what, kind);
    for (const uint8_t byte : input) std::fprintf(stderr, " %02x", byte);
    std::fprintf(stderr, "\n");
    std::abort();
}

uint64_t below(Random& random, uint64_t limit) { return random() % limit; }

const int kWord[] = {8, 4, 8, 8, 2, 5};
constexpr int kLayouts = 6;

void append(Bytes& bytes, uint64_t value, int size) {
    for (int k = 0; k < size; ++k) bytes.push_back(static_cast<uint8_t>(value >> (8 * k)));
}

// A stream as a camera could have sent it, in small.
Bytes likely_stream(Random& random, Layout layout, int words) {
    Bytes bytes;
    uint64_t time = below(random, 5000);
    for (int k = 0; k < words; ++k) {
        const uint64_t x = below(random, 70), y = below(random, 50), p = below(random, 2);
        const bool high = below(random, 12) == 0 || k == 0;
        time += below(random, 8) == 0 ? below(random, 200) : below(random, 2);
        switch (layout) {
            case Layout::dat: append(bytes, time | (x | y << 14 | p << 28) << 32, 8); break;
            case Layout::atis:
                append(bytes, x, 1);
                append(bytes, below(random, 20) ? y : 240, 1);
                append(bytes, p << 7 | time >> 16, 1);
                append(bytes, time >> 8, 1);
                append(bytes, time, 1);
                break;
            case Layout::evt2:
            case Layout::evt21:
            case Layout::evt21_swapped: {
                const uint64_t word = high ? uint64_t{8} << 28 | time >> 6
                                           : p << 28 | (time & 63) << 22 | x << 11 | y;
                const uint64_t mask = random() & random() & 0xFFFFFFFF;
                if (layout == Layout::evt2) append(bytes, word, 4);
                if (layout == Layout::evt21) append(bytes, word << 32 | mask, 8);
                if (layout == Layout::evt21_swapped) append(bytes, mask << 32 | word, 8);
                break;
            }
            case Layout::evt3:
                if (high) append(bytes, 0x8000 | time >> 12, 2);
                if (below(random, 3) == 0) append(bytes, 0x6000 | (time & 0xFFF), 2);
                if (below(random, 3) == 0 || k == 0) append(bytes, y, 2);
                if (below(random, 3)) {
                    append(bytes, 0x2000 | p << 11 | x, 2);
                } else {
                    append(bytes, 0x3000 | p << 11 | x, 2);
                    append(bytes, 0x4000 | below(random, 4096), 2);
                    append(bytes, 0x4000 | below(random, 4096), 2);
                    append(bytes, 0x5000 | below(random, 256), 2);
                }
                if (below(random, 30) == 0) append(bytes, 0xE014, 2);
                break;
        }
    }
    return bytes;
}

void mutate(Random& random, Bytes& bytes) {
    for (uint64_t times = below(random, 6); times > 0 && !bytes.empty(); --times) {
        const size_t at = below(random, bytes.size());
        const size_t length = std::min<size_t>(1 + below(random, 9), bytes.size() - at);
        const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        const auto to = from + static_cast<std::ptrdiff_t>(length);
        switch (below(random, 6)) {
            case 0: bytes[at] ^= static_cast<uint8_t>(1u << below(random, 8)); break;
            case 1: bytes[at] = static_cast<uint8_t>(random()); break;
            case 2: bytes.erase(from, to); break;
            case 3: std::fill(from, to, below(random, 2) ? 0xFF : 0x00); break;
            case 4: bytes.resize(at); break;
            default: {
                const Bytes copy(from, to);
                const auto place = static_cast<std::ptrdiff_t>(below(random, bytes.size()));
                bytes.insert(bytes.begin() + place, copy.begin(), copy.end());
            }
        }
    }
}

// Decodes with the bytes cut at one place and the room cut small, or neither.
Events decoded(Layout layout, const Rules& rules, const Bytes& input, size_t cut, int64_t room) {
    Events found;
    Stream stream{rules, {}, {}};
    Bytes rest;
    const size_t edges[] = {0, cut, input.size()};
    for (int part = 0; part < 2; ++part) {
        rest.insert(rest.end(), input.begin() + static_cast<std::ptrdiff_t>(edges[part]),
                    input.begin() + static_cast<std::ptrdiff_t>(edges[part + 1]));
        while (true) {
            // Of exactly this size, so that any step outside shows.
            const int64_t length = static_cast<int64_t>(rest.size());
            std::unique_ptr<uint8_t[]> bytes(new uint8_t[rest.size()]);
            std::copy(rest.begin(), rest.end(), bytes.get());
            const int64_t most = most_events(layout, bytes.get(), length);
            const int64_t capacity = room ? room : most + kSlack;
            std::unique_ptr<int16_t[]> x(new int16_t[capacity]), y(new int16_t[capacity]);
            std::unique_ptr<int64_t[]> t(new int64_t[capacity]);
            std::unique_ptr<uint8_t[]> p(new uint8_t[capacity]);
            Columns out{x.get(), y.get(), t.get(), p.get(), capacity};
            const int64_t taken = decode(layout, stream, bytes.get(), length, out);
            if (taken < 0 || taken > length || taken % kWord[int(layout)])
                fail("wrong number of bytes", input, int(layout));
            if (out.count > std::min(most, capacity)) fail("too many events", input, int(layout));
            for (int64_t i = 0; i < out.count; ++i) {
                const int64_t event[] = {x[i], y[i], t[i], p[i]};
                for (int c = 0; c < 4; ++c) found.columns[c].push_back(event[c]);
            }
            rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(taken));
            if (rest.size() < static_cast<size_t>(kWord[int(layout)])) break;
            if (taken == 0) fail("no progress", input, int(layout));
        }
    }
    finish(layout, stream);
    found.state = stream.state;
    found.findings = stream.findings;
    return found;
}

bool same(const Events& a, const Events& b) {
    for (int c = 0; c < 4; ++c) {
        if (a.columns[c] != b.columns[c]) return false;
    }
    return std::memcmp(&a.findings, &b.findings, sizeof(Findings)) == 0 &&
           a.state.position == b.state.position && a.state.latest == b.state.latest &&
           a.state.triggers == b.state.triggers;
}

void check_stream(Random& random, bool newer) {
    const Layout layout = Layout(below(random, kLayouts));
    Bytes input = likely_stream(random, layout, static_cast<int>(1 + below(random, 60)));
    mutate(random, input);
    const Rules rules{static_cast<int32_t>(below(random, 2) ? 64 : 32767),
                      static_cast<int32_t>(below(random, 2) ? 48 : 32767), below(random, 4) == 0};
    chosen_isa = "baseline";
    const Events whole = decoded(layout, rules, input, input.size(), 0);
    for (size_t i = 0; i < whole.columns[0].size(); ++i) {
        const int64_t x = whole.columns[0][i], y = whole.columns[1][i], t = whole.columns[2][i];
        if (x < 0 || x >= rules.width || y < 0 || y >= rules.height || t < 0)
            fail("out of bounds", input, int(layout));
        if (i > 0 && !rules.keep_unsorted && t < whole.columns[2][i - 1])
            fail("out of order", input, int(layout));
        if (whole.columns[3][i] > 1) fail("no polarity", input, int(layout));
    }
    if (newer) chosen_isa = "avx2";
    const size_t cut = below(random, input.size() + 1);
    const int64_t room = below(random, 2) ? kSlack + static_cast<int64_t>(below(random, 40)) : 0;
    if (!same(whole, decoded(layout, rules, input, cut, room)))
        fail("another cut, other events", input, int(layout));
}

// Chunks and lines have no stream behind them: they are only to stay inside their buffers.
void check_chunk(Random& random) {
    Bytes input;
    append(input, below(random, 40) << 2 | below(random, 4), 4);
    for (uint64_t n = below(random, 120); n > 0; --n) append(input, random(), 1);
    mutate(random, input);
    const int64_t capacity = static_cast<int64_t>(below(random, 64));
    std::unique_ptr<uint8_t[]> bytes(new uint8_t[input.size()]);
    std::copy(input.begin(), input.end(), bytes.get());
    std::unique_ptr<uint16_t[]> x(new uint16_t[capacity]), y(new uint16_t[capacity]);
    std::unique_ptr<int64_t[]> t(new int64_t[capacity]);
    std::unique_ptr<uint8_t[]> p(new uint8_t[capacity]);
    const int64_t found = decode_ecf(
        bytes.get(), static_cast<int64_t>(input.size()), capacity, x.get(), y.get(), t.get(), p.get());
    if (found > capacity || -1 - found > static_cast<int64_t>(input.size()))
        fail("wrong number of events in a chunk", input, -1);
}

void check_lines(Random& random) {
    static const char letters[] = "0123456789 ,.-+eE\n\t\r;#x";
    Bytes input;
    for (uint64_t n = below(random, 8); n > 0; --n) {
        char line[64];
        std::snprintf(line, sizeof(line), "%d.%06d %d %d %d\n", int(below(random, 99)),
                      int(below(random, 1000000)), int(below(random, 300)), int(below(random, 300)),
                      int(below(random, 3)) - 1);
        input.insert(input.end(), line, line + std::strlen(line));
    }
    for (uint64_t n = below(random, 6); n > 0 && !input.empty(); --n) {
        input[below(random, input.size())] =
            static_cast<uint8_t>(letters[below(random, sizeof(letters) - 1)]);
    }
    mutate(random, input);
    const int64_t capacity = 1 + static_cast<int64_t>(below(random, 8));
    std::unique_ptr<char[]> text(new char[input.size()]);
    std::copy(input.begin(), input.end(), text.get());
    std::unique_ptr<int16_t[]> x(new int16_t[capacity]), y(new int16_t[capacity]);
    std::unique_ptr<int64_t[]> t(new int64_t[capacity]);
    std::unique_ptr<uint8_t[]> p(new uint8_t[capacity]);
    const TextLayout layout{4, {1, 2, 0, 3}, static_cast<int32_t>(below(random, 3)) * 3};
    const TextFound found = parse_events(
        text.get(), static_cast<int64_t>(input.size()), below(random, 2) != 0, layout, capacity,
        {x.get(), y.get(), t.get(), p.get()});
    if (found.events > capacity || found.consumed > static_cast<int64_t>(input.size()))
        fail("wrong number of events in lines", input, -2);
}

}  // namespace

int main(int arguments, char** argument) {
    const int64_t count = arguments > 1 ? std::atoll(argument[1]) : 1000;
    Random random(arguments > 2 ? std::strtoull(argument[2], nullptr, 10) : 0);
    bool newer = false;
#if defined(EVSURF_X86)
    newer = __builtin_cpu_supports("avx2");
#endif
    for (int64_t k = 0; k < count; ++k) {
        switch (below(random, 8)) {
            case 0: check_chunk(random); break;
            case 1: check_lines(random); break;
            default: check_stream(random, newer);
        }
    }
    std::printf("%lld inputs, nothing found\n", static_cast<long long>(count));
}
