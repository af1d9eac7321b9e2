/// Resizes two vectors in parallel.

#include <algorithm>
#include <cstdint>

#include <motes/base/make_room.h>
#include <motes/base/parallel_for.h>
#include <motes/base/system/memory.h>

namespace motes {
namespace {

void resize(std::vector<Index>& values, std::size_t count) {
  constexpr std::uintptr_t kPage = 4096, kHugePage = std::uintptr_t{1} << 21;
  if (count * sizeof(Index) >= kHugePage && values.capacity() < count) {
    values.reserve(count);
    const auto data = reinterpret_cast<std::uintptr_t>(values.data());
    const std::uintptr_t begin = (data + kPage - 1) / kPage * kPage;
    const std::uintptr_t end = (data + count * sizeof(Index)) / kPage * kPage;
    system::ask_large_pages(reinterpret_cast<void*>(begin), end - begin);
  }
  values.resize(count);
}

}  // namespace

void make_room(std::vector<Index>& a, std::size_t a_count, std::vector<Index>& b, std::size_t b_count,
               int threads) {
  constexpr std::size_t kWorthThreads = 1 << 17;
  parallel_for(a_count + b_count < kWorthThreads ? 1 : std::min(threads, 2), 2,
               [&](std::int64_t k) { k == 0 ? resize(a, a_count) : resize(b, b_count); });
}

}  // namespace motes
