#include "ecf.h"

#include <algorithm>
#include <cstring>

namespace evsurf {
namespace {

// A chunk is a word with the number of events and the two flags below, the first time in 64 bits, and
// then times, rows, columns and polarities, each packed by itself; all words are little-endian.
constexpr uint32_t kAllPacked = 2;      // rows, columns and polarities share 24 bits an event
constexpr uint32_t kColumnsPacked = 1;  // columns and polarities share 12 bits an event

// The bytes of a chunk, each taken once. Taking more than there are gives zeros and says `broken`.
class Bytes {
   public:
    Bytes(const uint8_t* bytes, int64_t size) : begin_(bytes), next_(bytes), end_(bytes + size) {}

    template <class Word>
    Word take() {
        Word word = 0;
        if (end_ - next_ < int64_t(sizeof(Word))) {
            broken_ = true;
            return word;
        }
        std::memcpy(&word, next_, sizeof(Word));
        next_ += sizeof(Word);
        return word;
    }

    bool broken() const { return broken_; }
    bool all_taken() const { return next_ == end_; }
    int64_t offset() const { return next_ - begin_; }

   private:
    const uint8_t* begin_;
    const uint8_t* next_;
    const uint8_t* end_;
    bool broken_ = false;
};

// A number of equal values: short ones beside the value itself, longer ones in 16 bits of their own.
uint32_t run_length(Bytes& in, uint32_t length, uint32_t longest) {
    return length == longest ? in.take<uint16_t>() : length;
}

template <class Value>
bool repeat(Value value, uint32_t times, int64_t& filled, int64_t count, Value* into) {
    if (times > count - filled) return false;
    std::fill_n(into + filled, times, value);
    filled += times;
    return true;
}

// Delay and run length share a byte; a delay of 15 says that the other half is four bits of a longer
// delay, the lowest first.
bool decode_times(Bytes& in, int64_t count, int64_t* t) {
    uint64_t now = in.take<uint64_t>();
    for (int64_t filled = 0; filled < count;) {
        uint8_t byte = in.take<uint8_t>();
        uint64_t delay = 0;
        for (int shift = 0; byte >> 4 == 15; shift += 4) {
            if (in.broken() || shift > 60) return false;
            delay |= uint64_t(byte & 15) << shift;
            byte = in.take<uint8_t>();
        }
        now += delay + (byte >> 4);
        const uint32_t length = run_length(in, byte & 15, 15);
        if (in.broken() || !repeat(int64_t(now), length, filled, count, t)) return false;
    }
    return true;
}

bool decode_rows(Bytes& in, int64_t count, uint16_t* y) {
    for (int64_t filled = 0; filled < count;) {
        const uint16_t word = in.take<uint16_t>();
        const uint32_t length = run_length(in, word & 31, 31);
        if (in.broken() || !repeat(uint16_t(word >> 5), length, filled, count, y)) return false;
    }
    return true;
}

bool decode_polarities(Bytes& in, int64_t count, uint8_t* p) {
    for (int64_t filled = 0; filled < count;) {
        const uint8_t byte = in.take<uint8_t>();
        const uint32_t length = run_length(in, byte & 127, 127);
        if (in.broken() || !repeat(uint8_t(byte >> 7), length, filled, count, p)) return false;
    }
    return true;
}

// A column, and five bits for which of the five columns right of it have the next events. The last
// word may speak of more events than there are.
bool decode_columns(Bytes& in, int64_t count, uint16_t* x) {
    for (int64_t filled = 0; filled < count;) {
        const uint16_t word = in.take<uint16_t>();
        if (in.broken()) return false;
        const uint16_t column = word >> 5;
        x[filled++] = column;
        for (int right = 1; right <= 5 && filled < count; ++right) {
            if (word >> (5 - right) & 1) x[filled++] = uint16_t(column + right);
        }
    }
    return true;
}

// Four values in three words, each value three quarters of a word long. The first and the last stand
// in one word; of the two between, one word has the upper quarters and its predecessor the lower ones.
template <class Word, class Put>
bool decode_packed(Bytes& in, int64_t count, const Put& put) {
    constexpr int part = sizeof(Word) * 2;  // Bits of a quarter of a word: a value has three quarters.
    constexpr auto low = [](int parts) { return Word((uint64_t(1) << (parts * part)) - 1); };
    for (int64_t i = 0; i < count; i += 4) {
        const Word a = in.take<Word>(), b = in.take<Word>(), c = in.take<Word>();
        if (in.broken()) return false;
        const Word values[4] = {
            Word(a >> part), Word((b >> (2 * part)) << part | (a & low(1))),
            Word((c >> (3 * part)) << (2 * part) | (b & low(2))), Word(c & low(3))};
        for (int64_t j = 0; j < 4 && i + j < count; ++j) put(i + j, values[j]);
    }
    return true;
}

}  // namespace

int64_t decode_ecf(
    const uint8_t* bytes, int64_t size, int64_t capacity, uint16_t* x, uint16_t* y, int64_t* t,
    uint8_t* p) {
    Bytes in(bytes, size);
    const uint32_t word = in.take<uint32_t>();
    const int64_t count = word >> 2;
    if (in.broken() || count > capacity) return -1;
    bool good = decode_times(in, count, t);
    if (word & kAllPacked) {
        good = good && decode_packed<uint32_t>(in, count, [&](int64_t i, uint32_t value) {
            y[i] = value >> 12 & 2047;
            x[i] = value >> 1 & 2047;
            p[i] = value & 1;
        });
    } else {
        good = good && decode_rows(in, count, y);
        if (word & kColumnsPacked) {
            good = good && decode_packed<uint16_t>(in, count, [&](int64_t i, uint16_t value) {
                x[i] = value >> 1;
                p[i] = value & 1;
            });
        } else {
            good = good && decode_columns(in, count, x) && decode_polarities(in, count, p);
        }
    }
    return good && in.all_taken() ? count : -1 - in.offset();
}

}  // namespace evsurf
