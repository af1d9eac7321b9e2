#pragma once
/// The number types that image files store, and their conversion to the voxel types of frames.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <motes/io/frame_source.h>

namespace motes::io::detail {

enum class SampleType : std::uint8_t { bit, u8, i8, u16, i16, u32, i32, u64, i64, f16, f32, f64 };

/// The type of integers or real numbers of this width; none for other widths. One unsigned bit is `bit`.
std::optional<SampleType> integer_type(bool is_signed, int bits);
std::optional<SampleType> real_type(int bits);

std::string_view to_string(SampleType type);  ///< "i16" ...
int bits_of(SampleType type);

/// u8 and u16 stay as they are, bits become u8, all else becomes f32.
VoxelType voxel_type(SampleType type);

/// Whether samples have the bytes of their voxels.
bool is_voxel_type(SampleType type);

/// Bytes of a row of `width` samples; rows of bits end at whole bytes, as in TIFF.
std::int64_t row_bytes(SampleType type, std::int64_t width);

/// Converts rows of `width` samples in the machine's byte order to voxels of voxel_type(type); `samples` and
/// `voxels` hold equally many rows. Bits become 0 and 1, the first of a byte its highest. Returns why not, as
/// "holds ...; what to do", where the values do not fit: integers that a 32-bit float does not keep exactly
/// (they may be labels), numbers beyond its range, and 64-bit floats that it hardly tells apart (a small
/// range on a large offset). Empty: converted. O(values).
std::string convert_samples(SampleType type, std::int64_t width, std::span<const std::byte> samples,
                            std::span<std::byte> voxels);

/// Adds a note for the user where samples become 32-bit floats.
void note_conversion(SeriesInfo& info, SampleType stored);

}  // namespace motes::io::detail
