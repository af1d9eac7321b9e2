#pragma once
/// Skips that say so. A test that cannot run calls MOTES_SKIP(reason): the process then exits with CTest's
/// SKIP_RETURN_CODE (77) when nothing failed. With MOTES_REQUIRE_GPU=1 a skip for want of a GPU fails.

#include <filesystem>
#include <string>

#include <motes/base/gpu/device.h>

namespace motes::testing {

void note_skip(const std::string& reason);
/// As note_skip for want of a GPU; throws where MOTES_REQUIRE_GPU=1 forbids that.
void note_gpu_skip(const std::string& reason);
bool skipped();

/// Folder of real data (environment MOTES_DATA, else the configured folder), or empty when it is not there.
std::filesystem::path data_dir();

/// A fresh folder under the system's temporary folder, removed when the object dies.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace motes::testing

#define MOTES_SKIP(reason)               \
  do {                                   \
    ::motes::testing::note_skip(reason); \
    return;                              \
  } while (false)

/// Leaves the test, with a message, where this build or machine has no GPU.
#define MOTES_NEED_GPU()                                            \
  do {                                                              \
    const auto report_ = ::gpu::list_devices();                     \
    if (!report_.devices.empty()) break;                            \
    ::motes::testing::note_gpu_skip("no GPU: " + report_.why_none); \
    return;                                                         \
  } while (false)

/// Leaves the test, with a message, unless the real data folder holds `relative`; else defines `variable` as
/// its path.
#define MOTES_NEED_DATA(variable, relative)                                         \
  const std::filesystem::path variable = ::motes::testing::data_dir() / (relative); \
  if (::motes::testing::data_dir().empty() || !std::filesystem::exists(variable))   \
  MOTES_SKIP("real data not here: " + std::string(relative) + " (set MOTES_DATA to its folder)")
