// Large blocks of memory, kept for the next output of their size.
#include "native/memory.h"

#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace evsurf {

namespace {

// What lies unused is at most this; a training step holds a surface or two at a time.
constexpr size_t kMostKept = size_t{256} << 20;

void* from_system(size_t bytes) {
#if defined(__linux__)
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    // Only a wish: where the system declines, nothing but time is lost.
    madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
#else
    void* memory = std::malloc(bytes);
    if (!memory) throw std::bad_alloc();
    return memory;
#endif
}

void to_system(void* memory, size_t bytes) {
#if defined(__linux__)
    munmap(memory, bytes);
#else
    (void)bytes;
    std::free(memory);
#endif
}

struct Block {
    void* memory;
    size_t bytes;
};

struct Kept {
    std::mutex mutex;
    std::vector<Block> blocks;  // oldest first
    size_t bytes = 0;
};

// Never destroyed: outputs may outlive everything else at the end of a process.
Kept& kept() {
    static Kept* const all = new Kept;
    return *all;
}

}  // namespace

void* take_pages(size_t bytes) {
    {
        Kept& all = kept();
        const std::lock_guard<std::mutex> lock(all.mutex);
        for (size_t k = all.blocks.size(); k-- > 0;) {
            if (all.blocks[k].bytes != bytes) continue;
            void* const memory = all.blocks[k].memory;
            all.blocks.erase(all.blocks.begin() + static_cast<std::ptrdiff_t>(k));
            all.bytes -= bytes;
            return memory;
        }
    }
    return from_system(bytes);
}

void give_back_pages(void* memory, size_t bytes) {
    Kept& all = kept();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (bytes > kMostKept) return to_system(memory, bytes);
    while (all.bytes + bytes > kMostKept) {
        to_system(all.blocks.front().memory, all.blocks.front().bytes);
        all.bytes -= all.blocks.front().bytes;
        all.blocks.erase(all.blocks.begin());
    }
    all.blocks.push_back({memory, bytes});
    all.bytes += bytes;
}

}  // namespace evsurf
