// Memory that need not be cleared: room that grows, and large outputs that are used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace evsurf {

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
            numbers_.reset(new (kAlignment) T[static_cast<size_t>(wanted)]);
            capacity_ = wanted;
        }
        return numbers_.get();
    }
    T* get() const { return numbers_.get(); }

private:
    // A vector that straddles two lines of the cache costs two accesses.
    static constexpr std::align_val_t kAlignment{64};
    struct Free {
        void operator()(T* numbers) const { ::operator delete[](numbers, kAlignment); }
    };
    std::unique_ptr<T[], Free> numbers_;
    int64_t capacity_ = 0;
};

// Large outputs, kept when they are done with and used again: pages fresh from the system cost more than
// the arithmetic of a large surface. Fresh ones are asked for as huge pages, which take 512 times fewer
// faults. Safe to call from any thread.
void* take_pages(size_t bytes);
void give_back_pages(void* memory, size_t bytes);

}  // namespace evsurf
