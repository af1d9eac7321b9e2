/// Reads MicroManager's metadata.txt.

#include "io/images/folders/micromanager.h"

#include <cmath>

#include "io/zarr/store.h"

namespace motes::io::detail {
namespace {

using zarr::Json;

std::optional<double> positive(const Json& summary, const char* name) {
  const auto found = summary.find(name);
  if (found == summary.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  return value > 0 && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<Calibration> read_micromanager(const std::filesystem::path& folder) {
  std::optional<Json> json = zarr::Store(folder).json("metadata.txt");
  if (!json) return std::nullopt;
  const auto summary = json->find("Summary");
  if (summary == json->end() || !summary->is_object()) return std::nullopt;
  Calibration found;
  found.source = "metadata (MicroManager)";
  found.x_um = found.y_um = positive(*summary, "PixelSize_um");
  if (const auto aspect = positive(*summary, "PixelAspect"); aspect && found.y_um) *found.y_um *= *aspect;
  found.z_um = positive(*summary, "z-step_um");
  if (const auto interval = positive(*summary, "Interval_ms")) found.dt_s = *interval / 1000;
  return found;
}

}  // namespace motes::io::detail
