#pragma once
/// Vectors of many gigabytes on large pages, since the first touch of their pages takes longer than filling
/// them.

#include <cstddef>
#include <functional>
#include <vector>

#include <motes/base/execution.h>

namespace motes {

/// A hint to the system to use large pages.
void advise_large_pages(void* begin, std::size_t bytes);

/// As values.resize(size, value), on large pages.
template <class Value>
void size_large(std::vector<Value>& values, std::size_t size, Value value = {}) {
  values.reserve(size);
  advise_large_pages(values.data(), size * sizeof(Value));
  values.resize(size, value);
}

/// Runs the jobs in parallel, for instance to resize several vectors (each can be resized by only one
/// thread).
void run_side_by_side(const Execution& execution, const std::vector<std::function<void()>>& jobs);

}  // namespace motes
