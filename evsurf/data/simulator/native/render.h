// Pictures of textured rectangles in space, as a pinhole camera sees them. The rays are in render.cpp.
#pragma once

#include <cstdint>

namespace evsurf {

// Halved copies of a square picture that tiles the plane, from `side` (a power of two) down to 1, one after
// another. The mask says how opaque it is, or is null.
struct Texture {
    const float* levels;
    const float* mask;
    int32_t side;
    int32_t tiles;               // 0: outside of the picture, its border goes on
};

struct Rectangle {
    double origin[3], across[3], down[3];  // the middle, and unit vectors along its sides
    double half[2];              // extents along them
    double texels;               // of the finest level, in a unit of length
    double offset[2];            // of the texture, in texels, at the middle
    int32_t texture;
    int32_t pad = 0;
};

struct View {
    int32_t height, width;
    double focal[2], centre[2];  // x, y
    double axes[9];              // columns: the camera's right, down and forward in the world
    double position[3];
    double sky;
    int32_t samples;             // along each side of a pixel
};

// Intensity; with one sample a pixel also, where not null, the depth along the forward axis (0: sky) and the
// number of the rectangle there (-1: sky).
void render(const View& view, const Rectangle* rectangles, int32_t count, const Texture* textures,
            int threads, float* intensity, double* depth, int16_t* seen);

}  // namespace evsurf
