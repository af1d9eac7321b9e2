#pragma once
/// The CPU's team (see fit_window_rules.h): a window's columns are the lanes of a vector. Vector types are
/// used because compilers do not vectorise such short loops at every level of optimisation.

#include <cstdint>
#include <cstring>
#include <vector>

#include "tracking/detect/fit/fit_window_rules.h"

namespace motes::tracking::detect {

template <class T, int Width>
struct Lanes {
  typedef T Type __attribute__((vector_size(Width * sizeof(T))));
};

template <int Width>
struct VectorTeam {
  static constexpr int kWidth = Width;
  using Floats = typename Lanes<float, Width>::Type;
  using Ints = typename Lanes<std::int32_t, Width>::Type;

  MOTES_LANES void load(const float* from, Floats& to) const { std::memcpy(&to, from, sizeof(to)); }
  MOTES_LANES void store(float* to, const Floats& from) const { std::memcpy(to, &from, sizeof(from)); }
  MOTES_LANES void index(Floats& to) const {
    for (int i = 0; i < Width; ++i) to[i] = static_cast<float>(i);
  }
  /// `end`: the end of the array that holds the row.
  template <class T>
  MOTES_LANES void load_voxels(const T* row, const T* end, int lanes, Floats& to) const {
    typename Lanes<T, Width>::Type voxels{};
    if (end - row >= Width)
      std::memcpy(&voxels, row, sizeof(voxels));
    else
      std::memcpy(&voxels, row, static_cast<std::size_t>(lanes) * sizeof(T));
    Floats at;
    index(at);
    const Floats none{}, last = Floats{} + static_cast<float>(lanes);
    to = __builtin_convertvector(voxels, Floats);
    to = at < last ? to : none;
  }
  template <class Use>
  MOTES_LANES void each(int n, const Use& use) const {
    for (int i = 0; i < n; ++i) use(i);
  }
  MOTES_LANES void sync() const {}
};

/// The working memory of one thread.
struct FitMemory {
  /// For windows of `rows` rows with `width` columns.
  FitMemory(int rows, int width)
      : floats(static_cast<std::size_t>((2 * rows + rules::kMostNumbers) * width)),
        scratch{profiles, totals, floats.data() + 2 * rows * width} {
    window.values = floats.data();
    window.weights = window.values + rows * width;
  }
  FitMemory(const FitMemory&) = delete;
  FitMemory& operator=(const FitMemory&) = delete;

  std::vector<float> floats;
  rules::FitProfiles profiles[2];
  double totals[rules::kMostNumbers];
  rules::FitScratch scratch;
  rules::Window window{};
};

}  // namespace motes::tracking::detect
