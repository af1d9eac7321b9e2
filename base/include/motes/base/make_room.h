#pragma once
/// Room for large answers.

#include <cstddef>
#include <vector>

#include <motes/base/index.h>

namespace motes {

/// a.resize(a_count) and b.resize(b_count), side by side where that is worth it and `threads` allow it, and
/// where memory is new with pages as large as the system grants: page by page, the first touch of a million
/// values takes longer than many a solve.
void make_room(std::vector<Index>& a, std::size_t a_count, std::vector<Index>& b, std::size_t b_count,
               int threads);

}  // namespace motes
