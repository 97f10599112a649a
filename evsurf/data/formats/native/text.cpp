#include "text.h"

#include <charconv>
#include <cstring>

namespace evsurf {

namespace {

constexpr int64_t kBeyondTime = (int64_t(1) << 62) + 1;

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr bool kLittleEndian = true;
#else
constexpr bool kLittleEndian = false;
#endif

constexpr int kPowers = 20;
constexpr uint64_t kTen[kPowers] = {1u,
                                    10u,
                                    100u,
                                    1000u,
                                    10000u,
                                    100000u,
                                    1000000u,
                                    10000000u,
                                    100000000u,
                                    1000000000u,
                                    10000000000u,
                                    100000000000u,
                                    1000000000000u,
                                    10000000000000u,
                                    100000000000000u,
                                    1000000000000000u,
                                    10000000000000000u,
                                    100000000000000000u,
                                    1000000000000000000u,
                                    10000000000000000000u};

// (-1)^negative * mantissa * 10^exponent, and a little more if digits were left out.
struct Number {
    uint64_t mantissa = 0;
    int64_t exponent = 0;
    bool negative = false;
    bool more = false;
};

bool is_digit(char c) {
    return static_cast<unsigned char>(c - '0') < 10;
}

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

bool is_separator(char c) {
    return c == ',' || c == ';';
}

const char* skip_blanks(const char* at, const char* end) {
    while (at < end && is_blank(*at)) ++at;
    return at;
}

constexpr uint64_t kRoomForADigit = (UINT64_MAX - 9) / 10;
constexpr uint64_t kRoomForEight = 99999999999u;

// The digits at the front of eight bytes, of which the first is in the lowest: how many there are, and
// their value. All eight are looked at in one word, because a loop over digits mispredicts its end.
int leading_digits(uint64_t word, uint64_t& value) {
    word ^= 0x3030303030303030u;
    const uint64_t others = (word | (word + 0x7676767676767676u)) & 0x8080808080808080u;
    if (others == 0) {
        value = word;
    } else {
        const int bits = __builtin_ctzll(others) - 7;
        if (bits == 0) return 0;
        value = word << (64 - bits);
    }
    value = (value * 10 + (value >> 8)) & 0x00ff00ff00ff00ffu;
    value = (value * 100 + (value >> 16)) & 0x0000ffff0000ffffu;
    value = (value * 10000 + (value >> 32)) & 0xffffffffu;
    return others == 0 ? 8 : (__builtin_ctzll(others) - 7) / 8;
}

// All digits from here, as more of the mantissa; those behind the point each lower the exponent.
const char* read_digits(const char* at, const char* end, bool behind_point, Number& n) {
    while (kLittleEndian && end - at >= 8 && n.mantissa <= kRoomForEight) {
        uint64_t word, value;
        std::memcpy(&word, at, 8);
        const int count = leading_digits(word, value);
        if (count == 0) return at;
        n.mantissa = n.mantissa * kTen[count] + value;
        n.exponent -= behind_point ? count : 0;
        at += count;
        if (count < 8) return at;
    }
    for (; at < end && is_digit(*at); ++at) {
        const unsigned digit = static_cast<unsigned>(*at - '0');
        if (n.mantissa <= kRoomForADigit) {
            n.mantissa = 10 * n.mantissa + digit;
            n.exponent -= behind_point;
        } else {
            n.more |= digit != 0;
            n.exponent += !behind_point;
        }
    }
    return at;
}

const char* read_exponent(const char* at, const char* end, Number& n) {
    bool down = false;
    if (at < end && (*at == '+' || *at == '-')) down = *at++ == '-';
    const char* const first = at;
    int64_t exponent = 0;
    for (; at < end && is_digit(*at); ++at) {
        if (exponent < 100000) exponent = 10 * exponent + (*at - '0');
    }
    n.exponent += down ? -exponent : exponent;
    return at == first ? nullptr : at;
}

// A decimal number, as far as it goes; null where there is none.
const char* read_number(const char* at, const char* end, Number& n) {
    if (at < end && (*at == '-' || *at == '+')) n.negative = *at++ == '-';
    const char* const first = at;
    at = read_digits(at, end, false, n);
    int64_t digits = at - first;
    if (at < end && *at == '.') {
        const char* const behind = ++at;
        at = read_digits(at, end, true, n);
        digits += at - behind;
    }
    if (digits == 0) return nullptr;
    if (at < end && (*at == 'e' || *at == 'E')) return read_exponent(at + 1, end, n);
    return at;
}

// mantissa * 10^power to the nearest whole number, ties to even; false where it is too large.
bool scaled(uint64_t mantissa, int64_t power, bool more, uint64_t& result) {
    if (power == 0 || mantissa == 0 || power < -(kPowers - 1)) {
        result = power == 0 ? mantissa : 0;
        return true;
    }
    if (power >= 0) {
        if (power >= kPowers || mantissa > UINT64_MAX / kTen[power]) return false;
        result = mantissa * kTen[power];
        return true;
    }
    const uint64_t step = kTen[-power];
    const uint64_t rest = mantissa % step;
    result = mantissa / step;
    const uint64_t short_of_next = step - rest;
    if (rest > short_of_next || (rest == short_of_next && (more || (result & 1) != 0))) ++result;
    return true;
}

int64_t as_time(const Number& n, int power) {
    uint64_t size;
    const bool fits = scaled(n.mantissa, n.exponent + power, n.more, size);
    if (!fits || size > uint64_t(kBeyondTime)) size = uint64_t(kBeyondTime);
    return n.negative ? -int64_t(size) : int64_t(size);
}

// Whether the number is whole, and then its value, or -1 where it is below 0 or beyond int16.
bool as_coordinate(const Number& n, int16_t& result) {
    uint64_t size = n.mantissa;
    if (n.exponent != 0 && size != 0) {
        if (n.exponent < 0) {
            if (n.exponent <= -kPowers || n.more || size % kTen[-n.exponent] != 0) return false;
            size /= kTen[-n.exponent];
        } else if (!scaled(size, n.exponent, false, size)) {
            size = UINT64_MAX;
        }
    }
    result = size > INT16_MAX || (n.negative && size != 0) ? int16_t(-1) : int16_t(size);
    return true;
}

bool starts_with(const char* at, const char* end, const char* small, int64_t length) {
    if (end - at < length) return false;
    for (int64_t i = 0; i < length; ++i) {
        if ((at[i] | 0x20) != small[i]) return false;
    }
    return true;
}

enum class Polarity : uint8_t { off, on, none };

// 0, 1, -1, true or false.
const char* read_polarity(const char* at, const char* end, Polarity& p) {
    if (starts_with(at, end, "true", 4)) {
        p = Polarity::on;
        return at + 4;
    }
    if (starts_with(at, end, "false", 5)) {
        p = Polarity::off;
        return at + 5;
    }
    Number n;
    at = read_number(at, end, n);
    if (at == nullptr) return nullptr;
    int16_t value;
    if (n.mantissa == 0) {
        p = n.more ? Polarity::none : Polarity::off;
    } else if (const bool minus = n.negative; n.negative = false, as_coordinate(n, value) && value == 1) {
        p = minus ? Polarity::off : Polarity::on;
    } else {
        p = Polarity::none;
    }
    return at;
}

struct Event {
    int16_t x, y;
    int64_t t;
    Polarity p;
};

// Past a field, the blanks behind it and one separator; null where the field goes on.
const char* past_field(const char* at, const char* end) {
    if (at == nullptr || at == end || *at == '\n') return at;
    if (!is_blank(*at) && !is_separator(*at)) return nullptr;
    at = skip_blanks(at, end);
    return at < end && is_separator(*at) ? skip_blanks(at + 1, end) : at;
}

enum class Role : uint8_t { ignored, x, y, t, p };

constexpr int kMostFields = 64;

const char* read_field(const char* at, const char* end, Role role, int power, Event& event) {
    Number n;
    switch (role) {
        case Role::x:
            at = read_number(at, end, n);
            return at != nullptr && as_coordinate(n, event.x) ? at : nullptr;
        case Role::y:
            at = read_number(at, end, n);
            return at != nullptr && as_coordinate(n, event.y) ? at : nullptr;
        case Role::t:
            at = read_number(at, end, n);
            if (at != nullptr) event.t = as_time(n, power);
            return at;
        case Role::p:
            return read_polarity(at, end, event.p);
        default:
            while (at < end && !is_blank(*at) && !is_separator(*at) && *at != '\n') ++at;
            return at;
    }
}

// To the end of a line with exactly these fields; null for other lines.
const char* read_line(
    const char* at, const char* end, const Role* roles, int fields, int power, Event& event) {
    for (int i = 0; i < fields; ++i) {
        if (at == end || *at == '\n') return nullptr;
        at = past_field(read_field(at, end, roles[i], power, event), end);
        if (at == nullptr) return nullptr;
    }
    return at == end || *at == '\n' ? at : nullptr;
}

const char* line_end(const char* at, const char* end) {
    const void* newline = std::memchr(at, '\n', static_cast<size_t>(end - at));
    return newline == nullptr ? end : static_cast<const char*>(newline);
}

// Past the last end of a line.
const char* whole_lines(const char* text, const char* end) {
    while (end > text && end[-1] != '\n') --end;
    return end;
}

}  // namespace

TextFound parse_events(
    const char* text, int64_t length, bool last, const TextLayout& layout, int64_t capacity,
    const TextColumns& out) {
    Role roles[kMostFields] = {};
    const int fields = layout.fields < kMostFields ? layout.fields : kMostFields;
    for (int i = 0; i < 4; ++i) {
        const int place = layout.places[i];
        if (place >= 0 && place < fields) roles[place] = static_cast<Role>(i + 1);
    }
    TextFound found = {};
    const char* const stop = last ? text + length : whole_lines(text, text + length);
    const char* line = text;
    while (line < stop && found.events < capacity) {
        const char* end = skip_blanks(line, stop);
        if (end < stop && *end != '\n' && *end != '#' && *end != '%') {
            Event event = {};
            end = read_line(end, stop, roles, fields, layout.power, event);
            if (end == nullptr) {
                if (found.bad_lines++ == 0) found.first_bad = line - text;
            } else if (event.p == Polarity::none) {
                if (found.bad_polarities++ == 0) found.first_polarity = line - text;
            } else {
                const int64_t i = found.events++;
                out.x[i] = event.x;
                out.y[i] = event.y;
                out.t[i] = event.t;
                out.p[i] = event.p == Polarity::on;
            }
        }
        if (end == nullptr || (end < stop && *end != '\n')) end = line_end(line, stop);
        line = end < stop ? end + 1 : stop;
    }
    found.consumed = line - text;
    return found;
}

namespace {

char* put(char* at, uint64_t value) {
    return std::to_chars(at, at + 20, value).ptr;
}

char* put_decimals(char* at, uint64_t millionths) {
    for (int i = 5; i >= 0; --i) {
        at[i] = static_cast<char>('0' + millionths % 10);
        millionths /= 10;
    }
    return at + 6;
}

}  // namespace

int64_t format_events(
    const int16_t* x, const int16_t* y, const int64_t* t, const uint8_t* p, int64_t events,
    TextStyle style, char* out) {
    char* at = out;
    const bool seconds = style == TextStyle::seconds;
    const char between = seconds ? ' ' : ',';
    for (int64_t i = 0; i < events; ++i) {
        const bool before = t[i] < 0;
        const uint64_t size = before ? uint64_t(0) - uint64_t(t[i]) : uint64_t(t[i]);
        if (seconds) {
            if (before) *at++ = '-';
            at = put(at, size / 1000000);
            *at++ = '.';
            at = put_decimals(at, size % 1000000);
            *at++ = between;
        }
        at = put(at, uint64_t(x[i]));
        *at++ = between;
        at = put(at, uint64_t(y[i]));
        *at++ = between;
        if (!seconds) {
            if (before) *at++ = '-';
            at = put(at, size);
            *at++ = between;
        }
        *at++ = p[i] != 0 ? '1' : '0';
        *at++ = '\n';
    }
    return at - out;
}

}  // namespace evsurf
