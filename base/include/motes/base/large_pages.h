#pragma once
/// Vectors of many gigabytes: their first touch costs more than what is written to them.

#include <cstddef>
#include <functional>
#include <vector>

#include <motes/base/execution.h>

namespace motes {

/// Asks for large pages where the system has them; no more than a hint.
void advise_large_pages(void* begin, std::size_t bytes);

/// resize(), on large pages.
template <class Value>
void size_large(std::vector<Value>& values, std::size_t size, Value value = {}) {
  values.reserve(size);
  advise_large_pages(values.data(), size * sizeof(Value));
  values.resize(size, value);
}

/// Runs the jobs side by side: a vector is touched by one thread, but several vectors by several.
void run_side_by_side(const Execution& execution, const std::vector<std::function<void()>>& jobs);

}  // namespace motes
