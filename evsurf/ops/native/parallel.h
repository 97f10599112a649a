// Loops over threads that let exceptions out.
#pragma once

#include <cstdint>
#include <exception>

#if defined(_OPENMP)
#include <omp.h>
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#define EVSURF_FORKS 1
#endif
#endif

namespace evsurf {

// Whether this process was forked from one that had loaded the core. The threads of OpenMP do not come
// along, and its runtime would wait for them for ever.
inline bool& was_forked() {
    static bool forked = false;
    return forked;
}

inline void watch_forks() {
#if defined(EVSURF_FORKS)
    pthread_atfork(nullptr, nullptr, [] { was_forked() = true; });
#endif
}

inline int thread_number() {
#if defined(_OPENMP)
    return omp_get_thread_num();
#else
    return 0;
#endif
}

// body(k) for k in [0, count), in any order, by at most this many threads, and by one in a forked process.
// An exception that a body throws is thrown again here, once every thread has stopped.
template <class Body>
void parallel_for(int64_t count, int threads, Body body) {
#if defined(_OPENMP)
    std::exception_ptr failure;
    if (threads > 1 && count > 1 && !was_forked()) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int64_t k = 0; k < count; ++k) {
            try {
                body(k);
            } catch (...) {
#pragma omp critical(evsurf_failure)
                failure = std::current_exception();
            }
        }
        if (failure) std::rethrow_exception(failure);
        return;
    }
#else
    (void)threads;
#endif
    for (int64_t k = 0; k < count; ++k) body(k);
}

}  // namespace evsurf
