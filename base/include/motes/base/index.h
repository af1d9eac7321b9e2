#pragma once
/// Integer types for graphs and matrices, and their conversion to array subscripts.

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <motes/base/host_device.h>

namespace motes {

using Index = std::int32_t;   ///< a row, a column or a vertex; -1 means none
using Offset = std::int64_t;  ///< a position in a CSR array

/// Converts a non-negative integer to an array subscript without a conversion warning.
template <std::integral Integer>
MOTES_HOST_DEVICE constexpr std::size_t at(Integer i) {
  return static_cast<std::size_t>(i);
}

}  // namespace motes
