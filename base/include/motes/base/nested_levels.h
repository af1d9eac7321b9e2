#pragma once
/// Parallel regions inside parallel regions.

#include <omp.h>

namespace motes {

/// Allows at least `levels` nested parallel regions during its lifetime. The setting is that of the calling
/// thread only (tested with libgomp 12 and libomp 14), and is restored afterwards.
class NestedLevels {
 public:
  explicit NestedLevels(int levels) : before_(omp_get_max_active_levels()) {
    if (levels > before_) omp_set_max_active_levels(levels);
  }
  ~NestedLevels() { omp_set_max_active_levels(before_); }
  NestedLevels(const NestedLevels&) = delete;
  NestedLevels& operator=(const NestedLevels&) = delete;

 private:
  int before_;
};

}  // namespace motes
