// A ray for each pixel, or several, meets every rectangle; the nearest is sampled. Textures are read from
// halved copies, between the two that come nearest to one texel a pixel: detail that a pixel cannot hold
// would flicker, and flicker is events.
#include "data/simulator/native/render.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/simulator/native/exact_math.h"
#include "native/parallel.h"

namespace evsurf {

namespace {

constexpr double kNearest = 1e-3;
constexpr double kTransparent = 1.0 / 256;
constexpr double kLeastSlant = 0.05;

inline double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// A rectangle as rays from one position see it.
struct Facing {
    double normal[3];
    double distance;             // of its plane from the camera, along the normal
    double at[2];                // of the camera, along the sides
    double low[2], high[2];      // pixels that hold its picture: x, y
};

// The pixels between the pictures of the corners; all of them where a corner is not in front.
void bound(const Rectangle& r, const View& view, Facing& f) {
    for (int axis = 0; axis < 2; ++axis) f.low[axis] = 1e300, f.high[axis] = -1e300;
    for (int corner = 0; corner < 4; ++corner) {
        const double u = corner & 1 ? r.half[0] : -r.half[0], v = corner & 2 ? r.half[1] : -r.half[1];
        double seen[3] = {0, 0, 0};
        for (int k = 0; k < 3; ++k) {
            const double offset = r.origin[k] + u * r.across[k] + v * r.down[k] - view.position[k];
            for (int axis = 0; axis < 3; ++axis) seen[axis] += view.axes[3 * k + axis] * offset;
        }
        for (int axis = 0; axis < 2; ++axis) {
            const double at = view.centre[axis] + view.focal[axis] * seen[axis] / seen[2];
            const bool ahead = seen[2] > kNearest;
            f.low[axis] = ahead ? std::min(f.low[axis], at) : -1e300;
            f.high[axis] = ahead ? std::max(f.high[axis], at) : 1e300;
            if (!ahead && axis == 1) {
                f.low[0] = f.low[1] = -1e300;
                f.high[0] = f.high[1] = 1e300;
                return;
            }
        }
    }
}

Facing face(const Rectangle& r, const View& view) {
    Facing f;
    for (int k = 0; k < 3; ++k) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        f.normal[k] = r.across[a] * r.down[b] - r.across[b] * r.down[a];
    }
    double to_camera[3];
    for (int k = 0; k < 3; ++k) to_camera[k] = view.position[k] - r.origin[k];
    f.distance = -dot(f.normal, to_camera);
    f.at[0] = dot(r.across, to_camera);
    f.at[1] = dot(r.down, to_camera);
    bound(r, view, f);
    return f;
}

inline int32_t wrapped(int64_t k, int32_t side, bool tiles) {
    if (tiles) return int32_t(uint64_t(k) & uint64_t(side - 1));
    return int32_t(std::min<int64_t>(std::max<int64_t>(k, 0), side - 1));
}

inline double floor_of(double x) {
    const double whole = double(int64_t(x));
    return whole - double(whole > x);
}

// Between the four texels around (u, v) of a level.
inline double between(const float* level, int32_t side, bool tiles, double u, double v) {
    u -= 0.5;
    v -= 0.5;
    const double u0 = floor_of(u), v0 = floor_of(v);
    const double fu = u - u0, fv = v - v0;
    const int32_t x0 = wrapped(int64_t(u0), side, tiles), x1 = wrapped(int64_t(u0) + 1, side, tiles);
    const float* const top = level + int64_t{wrapped(int64_t(v0), side, tiles)} * side;
    const float* const below = level + int64_t{wrapped(int64_t(v0) + 1, side, tiles)} * side;
    const double upper = double(top[x0]) + fu * (double(top[x1]) - double(top[x0]));
    const double lower = double(below[x0]) + fu * (double(below[x1]) - double(below[x0]));
    return upper + fv * (lower - upper);
}

// Where the levels of a texture that are nearest to some detail lie, and how they mix.
struct Detail {
    int64_t start[2];
    int32_t side[2];
    double scale[2];
    double mix;

    // `level` is how often the texture is halved.
    Detail(int32_t whole, double level) {
        const int coarsest = 31 - __builtin_clz(unsigned(whole));
        const int first = std::min(std::max(int(level), 0), coarsest), second = std::min(first + 1, coarsest);
        mix = level >= coarsest ? 0.0 : std::max(level, 0.0) - first;
        for (int k = 0; k < 2; ++k) {
            const int halved = k == 0 ? first : second;
            side[k] = whole >> halved;
            scale[k] = double(side[k]) / whole;
            // All finer levels: a geometric series of areas.
            start[k] = (int64_t{4} * whole * whole - int64_t{4} * side[k] * side[k]) / 3;
        }
    }
    double read(const float* levels, bool tiles, double u, double v) const {
        const double fine = between(levels + start[0], side[0], tiles, u * scale[0], v * scale[0]);
        if (mix == 0.0) return fine;
        const double coarse = between(levels + start[1], side[1], tiles, u * scale[1], v * scale[1]);
        return fine + mix * (coarse - fine);
    }
};

class Scene {
public:
    Scene(const View& view, const Rectangle* rectangles, int32_t count, const Texture* textures)
        : view_(view), rectangles_(rectangles), textures_(textures) {
        pixel_ = 2.0 / ((view.focal[0] + view.focal[1]) * view.samples);
        for (int32_t k = 0; k < count; ++k) facing_.push_back(face(rectangles[k], view));
    }

    // The rays of one row of samples: the nearest rectangle of each, and how far along the ray.
    struct Row {
        std::vector<double> far, light, u, v, level;
        std::vector<int32_t> number;
    };

    // Rays are of unit length along the forward axis, so that the distance along one is its depth.
    void direction(double x, double y, double* d) const {
        const double right = (x - view_.centre[0]) / view_.focal[0], down = (y - view_.centre[1]) / view_.focal[1];
        for (int k = 0; k < 3; ++k)
            d[k] = view_.axes[3 * k] * right + view_.axes[3 * k + 1] * down + view_.axes[3 * k + 2];
    }

    void trace(double first_x, double apart, int32_t samples, double y, Row& row) const {
        row.far.assign(size_t(samples), 1e300);
        row.number.assign(size_t(samples), -1);
        double d0[3], d1[3];
        direction(first_x, y, d0);
        direction(first_x + apart, y, d1);
        for (int k = 0; k < 3; ++k) d1[k] -= d0[k];
        for (size_t k = 0; k < facing_.size(); ++k) {
            const Facing& f = facing_[k];
            const Rectangle& r = rectangles_[k];
            if (y < f.low[1] - 1 || y > f.high[1] + 1) continue;
            const double low = std::max((f.low[0] - first_x) / apart - 1, 0.0);
            const double high = std::min((f.high[0] - first_x) / apart + 1, samples - 1.0);
            if (low > high) continue;
            const double toward = dot(f.normal, d0), change = dot(f.normal, d1);
            const double last = toward + change * (samples - 1);
            // All rays of the row look away from the plane.
            if (toward * f.distance <= 0 && last * f.distance <= 0) continue;
            const double u0 = dot(r.across, d0), du = dot(r.across, d1);
            const double v0 = dot(r.down, d0), dv = dot(r.down, d1);
            double* const far = row.far.data();
            int32_t* const number = row.number.data();
            for (int32_t s = int32_t(low); s <= int32_t(high); ++s) {
                const double t = f.distance / (toward + change * s);
                const double u = f.at[0] + t * (u0 + du * s), v = f.at[1] + t * (v0 + dv * s);
                const bool hit = (t > kNearest) & (t < far[s]) & (std::fabs(u) <= r.half[0]) &
                                 (std::fabs(v) <= r.half[1]);
                far[s] = hit ? t : far[s];
                number[s] = hit ? int32_t(k) : number[s];
            }
        }
    }

    // Light along the rays of a row, and where a rectangle is that hides what is behind it.
    void shade(double first_x, double apart, double y, Row& row) const {
        const int32_t samples = int32_t(row.far.size());
        row.light.resize(size_t(samples));
        row.u.resize(size_t(samples));
        row.v.resize(size_t(samples));
        row.level.resize(size_t(samples));
        double d0[3], d1[3];
        direction(first_x, y, d0);
        direction(first_x + apart, y, d1);
        for (int k = 0; k < 3; ++k) d1[k] -= d0[k];
        for (int32_t from = 0, to; from < samples; from = to) {
            const int32_t number = row.number[size_t(from)];
            for (to = from + 1; to < samples && row.number[size_t(to)] == number;) ++to;
            if (number < 0) {
                for (int32_t s = from; s < to; ++s) row.light[size_t(s)] = view_.sky;
                continue;
            }
            place(rectangles_[number], facing_[size_t(number)], d0, d1, from, to, row);
            const Texture& texture = textures_[rectangles_[number].texture];
            for (int32_t s = from; s < to; ++s) {
                const size_t k = size_t(s);
                const Detail detail(texture.side, row.level[k]);
                row.light[k] = detail.read(texture.levels, texture.tiles, row.u[k], row.v[k]);
                if (!texture.mask) continue;
                double d[3];
                for (int axis = 0; axis < 3; ++axis) d[axis] = d0[axis] + d1[axis] * s;
                const double opaque = detail.read(texture.mask, texture.tiles, row.u[k], row.v[k]);
                row.light[k] = look_through(d, opaque, row.light[k], &row.far[k], &row.number[k]);
            }
        }
    }

private:
    // Texel and level of detail of the rays `from` to `to`, which all meet this rectangle.
    void place(const Rectangle& r, const Facing& f, const double* d0, const double* d1, int32_t from, int32_t to,
               Row& row) const {
        const double u0 = dot(r.across, d0), du = dot(r.across, d1), v0 = dot(r.down, d0), dv = dot(r.down, d1);
        const double toward0 = dot(f.normal, d0), dtoward = dot(f.normal, d1);
        const double square = dot(d0, d0), mixed = 2 * dot(d0, d1), step = dot(d1, d1);
        const double texels = r.texels * pixel_;
        const double* const far = row.far.data();
        double *const u = row.u.data(), *const v = row.v.data(), *const level = row.level.data();
        for (int32_t s = from; s < to; ++s) {
            const double k = s, t = far[s];
            u[s] = (f.at[0] + t * (u0 + du * k)) * r.texels + r.offset[0];
            v[s] = (f.at[1] + t * (v0 + dv * k)) * r.texels + r.offset[1];
            const double toward = toward0 + dtoward * k, length2 = square + k * (mixed + k * step);
            const double least = kLeastSlant * kLeastSlant * length2, slant = toward * toward;
            const double wide = texels * t, wide2 = wide * wide;
            // Texels a pixel, over the square root of the slant; in fourth powers, which saves the roots.
            level[s] = 0.25 * near_log2(wide2 * wide2 * length2 / (slant > least ? slant : least));
        }
    }

    // The light of a ray whose first rectangle is not opaque; `far` and `number` become those of the first
    // that nearly is.
    double look_through(const double* d, double opaque, double first, double* far, int32_t* number) const {
        double through = 1.0 - opaque, sum = opaque * first, at = *far;
        bool solid = opaque >= 0.5;
        if (!solid) *far = 0.0, *number = -1;
        while (through >= kTransparent) {
            const int32_t next = behind(d, at, &at);
            if (next < 0) return sum + through * view_.sky;
            const Rectangle& r = rectangles_[next];
            const Facing& f = facing_[size_t(next)];
            const Texture& texture = textures_[r.texture];
            const double u = (f.at[0] + at * dot(r.across, d)) * r.texels + r.offset[0];
            const double v = (f.at[1] + at * dot(r.down, d)) * r.texels + r.offset[1];
            const double toward = dot(f.normal, d), length2 = dot(d, d);
            const double slant = std::max(toward * toward, kLeastSlant * kLeastSlant * length2);
            const double wide = r.texels * at * pixel_, wide2 = wide * wide;
            const Detail detail(texture.side, 0.25 * near_log2(wide2 * wide2 * length2 / slant));
            opaque = texture.mask ? detail.read(texture.mask, texture.tiles, u, v) : 1.0;
            sum += through * opaque * detail.read(texture.levels, texture.tiles, u, v);
            if (!solid && opaque >= 0.5) {
                solid = true;
                *far = at;
                *number = next;
            }
            through *= 1.0 - opaque;
        }
        return sum;
    }

    // The next rectangle on the ray beyond this distance.
    int32_t behind(const double* d, double nearest, double* far) const {
        int32_t found = -1;
        *far = 1e300;
        for (size_t k = 0; k < facing_.size(); ++k) {
            const Facing& f = facing_[k];
            const Rectangle& r = rectangles_[k];
            const double t = f.distance / dot(f.normal, d);
            if (!(t > nearest && t < *far)) continue;
            if (std::fabs(f.at[0] + t * dot(r.across, d)) > r.half[0]) continue;
            if (std::fabs(f.at[1] + t * dot(r.down, d)) > r.half[1]) continue;
            *far = t;
            found = int32_t(k);
        }
        return found;
    }

    const View& view_;
    double pixel_;               // its side, at distance 1
    const Rectangle* rectangles_;
    const Texture* textures_;
    std::vector<Facing> facing_;
};

}  // namespace

void render(const View& view, const Rectangle* rectangles, int32_t count, const Texture* textures,
            int threads, float* intensity, double* depth, int16_t* seen) {
    const Scene scene(view, rectangles, count, textures);
    const int32_t n = view.samples, across = view.width * n;
    const double apart = 1.0 / n, weight = 1.0 / (double(n) * n);
    parallel_for(view.height, threads, [&](int64_t y) {
        Scene::Row row;
        std::vector<double> sums(size_t(view.width), 0.0);
        for (int32_t k = 0; k < n; ++k) {
            const double row_y = double(y) + (k + 0.5) * apart - 0.5;
            scene.trace(0.5 * apart - 0.5, apart, across, row_y, row);
            scene.shade(0.5 * apart - 0.5, apart, row_y, row);
            for (int32_t s = 0; s < across; ++s) sums[size_t(s / n)] += row.light[size_t(s)];
        }
        for (int32_t x = 0; n == 1 && x < view.width; ++x) {
            const int64_t at = y * view.width + x;
            const int32_t number = row.number[size_t(x)];
            if (depth) depth[at] = number < 0 ? 0.0 : row.far[size_t(x)];
            if (seen) seen[at] = int16_t(number);
        }
        for (int32_t x = 0; x < view.width; ++x)
            intensity[y * view.width + x] = float(sums[size_t(x)] * weight);
    });
}

}  // namespace evsurf
