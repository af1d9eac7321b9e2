#pragma once
/// Numbers and texts as little-endian bytes, with bounds checks.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace motes::io::detail {

template <class Unsigned>
void put(std::string& out, Unsigned value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}
void put_number(std::string& out, double value);
void put_numbers(std::string& out, const std::vector<double>& values);
/// A u32 length, then the bytes. Throws std::length_error for 4 GiB or more.
void put_text(std::string& out, std::string_view text);

/// Takes values from the front of bytes. Once bytes are missing, ok() is false and all values are 0 or empty.
class Source {
 public:
  explicit Source(std::string_view bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  std::size_t left() const { return bytes_.size(); }

  std::string_view take(std::uint64_t count) {
    if (!ok_ || count > bytes_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = bytes_.substr(0, static_cast<std::size_t>(count));
    bytes_.remove_prefix(taken.size());
    return taken;
  }

  template <class Unsigned>
  Unsigned number() {
    Unsigned value = 0;
    const std::string_view raw = take(sizeof value);
    for (std::size_t i = 0; i < raw.size(); ++i) {
      value |= static_cast<Unsigned>(static_cast<Unsigned>(static_cast<unsigned char>(raw[i])) << (8 * i));
    }
    return value;
  }
  double real() { return std::bit_cast<double>(number<std::uint64_t>()); }

  std::vector<double> numbers(std::uint64_t count);
  std::string text() { return std::string(take(number<std::uint32_t>())); }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace motes::io::detail
