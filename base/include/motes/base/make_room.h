#pragma once
/// Resizes the vectors of large answers quickly.

#include <cstddef>
#include <vector>

#include <motes/base/index.h>

namespace motes {

/// a.resize(a_count) and b.resize(b_count), in parallel if they are large and `threads` > 1, and on large
/// pages if memory is allocated: with small pages, the first touch of a million values takes longer than many
/// solves.
void make_room(std::vector<Index>& a, std::size_t a_count, std::vector<Index>& b, std::size_t b_count,
               int threads);

}  // namespace motes
