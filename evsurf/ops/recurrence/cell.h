// The LSTM cell, forward and backward, once for every machine.
//
// V is whatever the machine computes with: a vector of sequences on a CPU, one float on a GPU. It
// offers +, -, *, fma(a, b, c) = a * b + c, sigmoid and tanh. Gate order is that of torch.nn.LSTM.
#pragma once

#if defined(__CUDACC__)
#define EVSURF_HD __host__ __device__ __forceinline__
#else
#define EVSURF_HD inline __attribute__((always_inline))
#endif

template <class V>
struct Gates {
    V i, f, g, o;
};

// z -> activations.
template <class V>
EVSURF_HD Gates<V> activate(const Gates<V>& z) {
    return {sigmoid(z.i), sigmoid(z.f), tanh(z.g), sigmoid(z.o)};
}

// c = f * c_previous + i * g
template <class V>
EVSURF_HD V next_memory(const Gates<V>& a, V c_previous) {
    return fma(a.f, c_previous, a.i * a.g);
}

// What the backward step of one unit needs to know of its forward step.
template <class V>
struct UnitTape {
    Gates<V> a;      // activations
    V c_previous;    // memory before the step
    V tanh_c;        // tanh of the memory after it
};

// Takes the gradients of h and c after the step; gives those of z, and of c before the step.
template <class V>
EVSURF_HD Gates<V> gate_gradients(const UnitTape<V>& u, V dh, V dc_after, V one, V& dc_before) {
    const V dc = fma(dh * u.a.o, fma(V{} - u.tanh_c, u.tanh_c, one), dc_after);
    Gates<V> dz;
    dz.o = dh * u.tanh_c * u.a.o * (one - u.a.o);
    dz.i = dc * u.a.g * u.a.i * (one - u.a.i);
    dz.f = dc * u.c_previous * u.a.f * (one - u.a.f);
    dz.g = dc * u.a.i * fma(V{} - u.a.g, u.a.g, one);
    dc_before = dc * u.a.f;
    return dz;
}
