/// Compares an earlier run's configuration with the current one, and removes its outputs.

#include "app/run/earlier_run.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <system_error>

#include <motes/base/errors.h>
#include <motes/io/vtk_tracks.h>

#include "app/options/options.h"

namespace motes::app {
namespace {

/// The sections whose keys affect the results.
constexpr std::array<std::string_view, 3> kSections{"input.", "detection.", "linking."};

/// A text about the first key that differs; none if all agree.
std::optional<std::string> difference(const std::filesystem::path& earlier, const Config& given) {
  Config before;
  try {
    load_yaml(earlier, before);
  } catch (const Error&) {
    return "its config.yaml is of another version, or damaged";
  }
  before = without_policy(before);
  const Config config = without_policy(given);
  for (const Option& option : options()) {
    const bool decides = std::any_of(kSections.begin(), kSections.end(), [&](std::string_view section) {
      return option.path.starts_with(section);
    });
    if (!decides) continue;
    const std::string then = to_text(option.get(before)), now = to_text(option.get(config));
    if (then != now) return option.path + " was " + (then.empty() ? "empty" : then) + " and is " + now;
  }
  return std::nullopt;
}

}  // namespace

void refuse_other_run(const std::filesystem::path& dir, const Config& config) {
  const std::filesystem::path earlier = dir / "config.yaml";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(earlier, ignored)) return;
  if (const auto what = difference(earlier, config)) {
    throw UsageError(dir.string() + ": holds the results of another run (" + *what +
                     "); choose another folder with -o, or overwrite them with --force");
  }
}

void remove_earlier_outputs(const std::filesystem::path& dir, const std::vector<WrittenFile>& written) {
  // The earlier report; the new one is written at the end.
  std::error_code ignored;
  for (const char* report : {"report.json", "report.html"}) std::filesystem::remove(dir / report, ignored);
  constexpr std::array<const char*, 7> kOutputs{"tracks.h5",     "tracks.csv", "tracks.vtp", "pairs.csv",
                                                "tracks.vtkhdf", "frames.pvd", "preview.png"};
  for (const std::string name : kOutputs) {
    const bool now = std::any_of(written.begin(), written.end(),
                                 [&](const WrittenFile& file) { return file.name == name; });
    if (now) continue;
    if (name == "frames.pvd") io::remove_frames_pvd(dir / name);
    std::filesystem::remove(dir / name, ignored);
  }
}

}  // namespace motes::app
