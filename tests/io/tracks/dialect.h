#pragma once
/// Tables of other programs, for tests.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <motes/io/tables.h>

#include "tests/io/track_samples.h"

namespace motes::testing {

class Dialect {
 public:
  explicit Dialect(std::string_view text, const std::string& name = "t.csv") : path_(dir_ / name) {
    spill(path_, text);
  }
  const std::filesystem::path& path() const { return path_; }
  io::PointTable points(const io::TableOptions& options = {}) const {
    return io::read_points_csv(path_, options);
  }
  TrackSet tracks(const io::TableOptions& options = {}) {
    return io::read_tracks_csv(path_, options, &notes);
  }
  std::string refusal(const io::TableOptions& options = {}) const {
    return error_of<Error>([&] { io::read_points_csv(path_, options); });
  }
  bool noted(std::string_view words) const {
    return std::any_of(notes.begin(), notes.end(),
                       [&](const auto& n) { return n.find(words) != std::string::npos; });
  }
  std::vector<std::string> notes;

 private:
  TempDir dir_;
  std::filesystem::path path_;
};

inline io::TableOptions unit(io::TableUnit u) {
  io::TableOptions options;
  options.unit = u;
  return options;
}

inline io::TableOptions columns(std::map<std::string, std::string> names,
                                io::TableUnit u = io::TableUnit::um) {
  io::TableOptions options = unit(u);
  options.columns = std::move(names);
  return options;
}

}  // namespace motes::testing
