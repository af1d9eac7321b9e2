/// Samples become floats value by value; what a float cannot hold is refused, with the value.

#include "io/images/sample_type.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "io/files/half.h"

namespace motes::io::detail {
namespace {

constexpr std::array<int, 12> kBits{1, 8, 8, 16, 16, 32, 32, 64, 64, 16, 32, 64};

/// Fewer steps of a 32-bit float than this in a page's range are too few to find spots in.
constexpr double kFewestSteps = 256;

template <class T>
T sample_at(std::span<const std::byte> samples, std::size_t i) {
  T value;
  std::memcpy(&value, samples.data() + i * sizeof(T), sizeof(T));
  return value;
}

void store(std::span<std::byte> voxels, std::size_t i, float value) {
  std::memcpy(voxels.data() + i * sizeof(float), &value, sizeof(float));
}

template <class T>
std::string convert_integers(std::span<const std::byte> samples, std::span<std::byte> voxels) {
  constexpr T kExact = sizeof(T) < 4 ? std::numeric_limits<T>::max() : T{1} << 24;
  for (std::size_t i = 0; i < voxels.size() / sizeof(float); ++i) {
    const T value = sample_at<T>(samples, i);
    bool exact = value <= kExact;
    if constexpr (std::numeric_limits<T>::is_signed && sizeof(T) >= 4) exact = exact && value >= -kExact;
    if (!exact)
      return fmt::format(
          "holds the integer {}, and beyond 16777216 (2^24) they are not read exactly; export it with "
          "smaller "
          "values, or intensities as 32-bit float",
          value);
    store(voxels, i, static_cast<float>(value));
  }
  return "";
}

std::string convert_reals(std::span<const std::byte> samples, std::span<std::byte> voxels) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool exact = true;
  for (std::size_t i = 0; i < voxels.size() / sizeof(float); ++i) {
    const auto value = sample_at<double>(samples, i);
    if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max())
      return fmt::format("holds the value {:.9g}, beyond 32-bit floats; divide by a constant first", value);
    const auto narrow = static_cast<float>(value);
    store(voxels, i, narrow);
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
    exact = exact && static_cast<double>(narrow) == value;
  }
  if (exact) return "";
  const auto largest = static_cast<float>(std::max(std::abs(low), std::abs(high)));
  const double step = static_cast<double>(std::nextafter(largest, std::numeric_limits<float>::infinity())) -
                      static_cast<double>(largest);
  if (high > low && (high - low) / step < kFewestSteps)
    return fmt::format(
        "holds values from {:.9g} to {:.9g}, which 32-bit floats hardly tell apart; subtract a constant "
        "first",
        low, high);
  return "";
}

void expand_bits(std::int64_t width, std::span<const std::byte> samples, std::span<std::byte> voxels) {
  const auto columns = static_cast<std::size_t>(width);
  const auto stride = static_cast<std::size_t>(row_bytes(SampleType::bit, width));
  for (std::size_t row = 0; row < voxels.size() / columns; ++row)
    for (std::size_t x = 0; x < columns; ++x)
      voxels[row * columns + x] = (samples[row * stride + x / 8] >> (7 - x % 8)) & std::byte{1};
}

}  // namespace

std::optional<SampleType> integer_type(bool is_signed, int bits) {
  switch (bits) {
    case 1:
      return is_signed ? std::nullopt : std::optional(SampleType::bit);
    case 8:
      return is_signed ? SampleType::i8 : SampleType::u8;
    case 16:
      return is_signed ? SampleType::i16 : SampleType::u16;
    case 32:
      return is_signed ? SampleType::i32 : SampleType::u32;
    case 64:
      return is_signed ? SampleType::i64 : SampleType::u64;
    default:
      return std::nullopt;
  }
}

std::optional<SampleType> real_type(int bits) {
  if (bits == 16) return SampleType::f16;
  if (bits == 32) return SampleType::f32;
  if (bits == 64) return SampleType::f64;
  return std::nullopt;
}

std::string_view to_string(SampleType type) {
  constexpr std::array<std::string_view, 12> kNames{"1-bit", "u8",  "i8",  "u16", "i16", "u32",
                                                    "i32",   "u64", "i64", "f16", "f32", "f64"};
  return kNames[static_cast<std::size_t>(type)];
}

int bits_of(SampleType type) { return kBits[static_cast<std::size_t>(type)]; }

VoxelType voxel_type(SampleType type) {
  if (type == SampleType::u8 || type == SampleType::bit) return VoxelType::u8;
  return type == SampleType::u16 ? VoxelType::u16 : VoxelType::f32;
}

bool is_voxel_type(SampleType type) {
  return type == SampleType::u8 || type == SampleType::u16 || type == SampleType::f32;
}

std::int64_t row_bytes(SampleType type, std::int64_t width) {
  const int bits = bits_of(type);
  return bits < 8 ? (width + 7) / 8 : width * (bits / 8);
}

std::string convert_samples(SampleType type, std::int64_t width, std::span<const std::byte> samples,
                            std::span<std::byte> voxels) {
  switch (type) {
    case SampleType::bit:
      expand_bits(width, samples, voxels);
      return "";
    case SampleType::i8:
      return convert_integers<std::int8_t>(samples, voxels);
    case SampleType::i16:
      return convert_integers<std::int16_t>(samples, voxels);
    case SampleType::u32:
      return convert_integers<std::uint32_t>(samples, voxels);
    case SampleType::i32:
      return convert_integers<std::int32_t>(samples, voxels);
    case SampleType::u64:
      return convert_integers<std::uint64_t>(samples, voxels);
    case SampleType::i64:
      return convert_integers<std::int64_t>(samples, voxels);
    case SampleType::f16:
      for (std::size_t i = 0; i < voxels.size() / sizeof(float); ++i)
        store(voxels, i, static_cast<float>(sample_at<Half>(samples, i)));
      return "";
    case SampleType::f64:
      return convert_reals(samples, voxels);
    case SampleType::u8:
    case SampleType::u16:
    case SampleType::f32:
      std::copy(samples.begin(), samples.end(), voxels.begin());
  }
  return "";
}

void note_conversion(SeriesInfo& info, SampleType stored) {
  if (is_voxel_type(stored) || stored == SampleType::bit) return;
  info.notes.push_back(fmt::format("{} values are read as 32-bit floats", to_string(stored)));
}

}  // namespace motes::io::detail
