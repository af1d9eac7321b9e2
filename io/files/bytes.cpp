/// Little-endian numbers and texts, with bounds checks.

#include "io/files/bytes.h"

#include <limits>
#include <stdexcept>

namespace motes::io::detail {

void put_number(std::string& out, double value) { put(out, std::bit_cast<std::uint64_t>(value)); }

void put_numbers(std::string& out, const std::vector<double>& values) {
  out.reserve(out.size() + values.size() * sizeof(double));
  for (const double value : values) put_number(out, value);
}

void put_text(std::string& out, std::string_view text) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("a text of 4 GiB or more");
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

std::vector<double> Source::numbers(std::uint64_t count) {
  if (count > left() / sizeof(double)) ok_ = false;
  std::vector<double> values;
  if (!ok_) return values;
  values.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) values.push_back(real());
  return values;
}

}  // namespace motes::io::detail
