// Loops over threads that let exceptions out, and memory that need not be cleared.
#pragma once

#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>

#if defined(_OPENMP)
#include <omp.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace evsurf {

inline int thread_number() {
#if defined(_OPENMP)
    return omp_get_thread_num();
#else
    return 0;
#endif
}

// body(k) for k in [0, count), in any order, by at most this many threads. An exception that a body
// throws is thrown again here, once every thread has stopped.
template <class Body>
void parallel_for(int64_t count, int threads, Body body) {
#if defined(_OPENMP)
    std::exception_ptr failure;
    if (threads > 1 && count > 1) {
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

// Room for numbers that the user of it writes before reading; grows, and is never cleared.
template <class T>
class Room {
public:
    T* at_least(int64_t count) {
        if (count > capacity_) {
            // Half as much again, so that slowly growing demands do not allocate each time.
            const int64_t wanted = count + (capacity_ > 0 ? count / 2 : 0);
            numbers_.reset();
            capacity_ = 0;
            numbers_.reset(new T[static_cast<size_t>(wanted)]);
            capacity_ = wanted;
        }
        return numbers_.get();
    }
    T* get() const { return numbers_.get(); }

private:
    std::unique_ptr<T[]> numbers_;
    int64_t capacity_ = 0;
};

// Large fresh outputs cost more in page faults than in arithmetic; huge pages take 512 times fewer.
inline void ask_for_huge_pages(void* memory, int64_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr uintptr_t page = uintptr_t{1} << 21;
    const uintptr_t begin = (reinterpret_cast<uintptr_t>(memory) + page - 1) & ~(page - 1);
    const uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + static_cast<uintptr_t>(bytes)) & ~(page - 1);
    // Only a wish: where the system declines, nothing but time is lost.
    if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)bytes;
#endif
}

}  // namespace evsurf
