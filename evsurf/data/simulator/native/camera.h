// The camera of the simulator: pictures in, events out. The equations are in camera.cpp.
#pragma once

#include <cstdint>
#include <vector>

namespace evsurf {

struct CameraSettings {
    int32_t height, width;
    double on, off;          // thresholds of log intensity
    double spread;           // standard deviation of a pixel's threshold, relative to it
    double floor;            // added to intensities before the logarithm
    double refractory;       // microseconds
    bool hold;               // a pixel in its refractory period keeps its reference
    bool settled;            // references start at the first picture, without a random offset
    double cutoff;           // Hz of the photoreceptor's low pass, 0: none
    double leak, shot;       // events per second and pixel, 0: none
    int32_t hot_pixels;      // pixels that fire by themselves
    double hot_least, hot_most;  // Hz
    uint64_t seed;
};

class Camera {
public:
    explicit Camera(const CameraSettings& settings);

    // The first picture, at this time in microseconds.
    void start(const float* intensity, double t);
    // A later picture: light changed linearly in between, in its logarithm. Gives the number of events,
    // which `take` writes. The result does not depend on the number of threads.
    int64_t step(const float* intensity, double t, int threads);
    void take(int16_t* x, int16_t* y, int64_t* t, uint8_t* p, double* exact_t) const;
    // Reference, latest log intensity and both thresholds of every pixel.
    void state(double* reference, double* light, double* on, double* off) const;

private:
    struct Fired {
        double t;
        int32_t pixel;
        uint8_t on;
    };

    void step_rows(const float* intensity, double t0, double t1, int32_t first, int32_t last,
                   std::vector<Fired>& fired);
    void fire_between(int64_t pixel, double ta, double tb, double from, double to,
                      std::vector<Fired>& fired);
    void fire_hot(double t0, double t1, std::vector<Fired>& fired);
    void sort(const std::vector<std::vector<Fired>>& parts, double t0, double t1);

    CameraSettings settings_;
    int64_t steps_ = 0;
    double now_ = 0;
    std::vector<double> on_, off_, reference_, light_, last_, leak_;
    struct Hot {
        int32_t pixel;
        double rate, next;   // Hz, microseconds
        uint64_t drawn;
    };
    std::vector<Hot> hot_;
    std::vector<std::vector<Fired>> parts_;
    std::vector<Fired> sorted_;
    std::vector<int32_t> counts_;
};

}  // namespace evsurf
