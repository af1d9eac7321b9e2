#pragma once
/// A named column of numbers, one for each point or track.

#include <string>
#include <vector>

namespace motes {

struct PropertyColumn {
  std::string name;
  std::vector<double> values;  ///< [points] or [tracks]; NaN: no value
};

}  // namespace motes
