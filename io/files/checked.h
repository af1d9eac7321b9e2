#pragma once
/// Arithmetic on sizes from files, which can have any value.

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>

namespace motes::io::detail {

/// The product of non-negative factors; none if one is negative or the product overflows int64.
inline std::optional<std::int64_t> checked_product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (factor < 0 || __builtin_mul_overflow(product, factor, &product)) return std::nullopt;
  }
  return product;
}

}  // namespace motes::io::detail
