#pragma once
/// A named numeric column carried along with points or tracks.

#include <string>
#include <vector>

namespace motes {

struct PropertyColumn {
  std::string name;
  std::vector<double> values;  ///< one per point (or track); NaN where the source had none
};

}  // namespace motes
