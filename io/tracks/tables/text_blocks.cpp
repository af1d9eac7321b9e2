/// Formats and writes rows in blocks, a few blocks per thread at a time.

#include "io/tracks/tables/text_blocks.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <omp.h>

#include <motes/base/execution.h>
#include <motes/base/parallel_for.h>
#include <motes/base/system/files.h>
#include <motes/io/atomic_file.h>

#include "io/files/disk_error.h"

namespace motes::io::detail {
namespace {

constexpr std::int64_t kRows = 1 << 13;  // per block; its text stays in a core's cache

/// The temporary file at `path`; errors name the target.
class Output {
 public:
  Output(const std::filesystem::path& path, const std::filesystem::path& target) : target_(target) {
    int error = 0;
    file_ = system::GrowingFile(path, error);
    check("cannot create", error);
  }

  void write(std::string_view text, std::int64_t at) const {
    check("cannot write", file_.write_at(at, text));
  }
  void close() { check("cannot write", file_.close()); }

 private:
  void check(const char* doing, int error) const {
    if (error != 0) fail_on_disk(target_, doing, error);
  }

  std::filesystem::path target_;
  system::GrowingFile file_;
};

}  // namespace

void write_rows(const std::filesystem::path& path, const std::string& head, std::int64_t rows,
                const std::function<void(std::int64_t begin, std::int64_t end, std::string& out)>& format) {
  write_atomically(path, [&](const std::filesystem::path& temporary) {
    Output file(temporary, path);
    file.write(head, 0);
    const int threads = thread_count({omp_get_max_threads()});
    const std::int64_t blocks = (rows + kRows - 1) / kRows;
    std::vector<std::string> texts(static_cast<std::size_t>(std::min<std::int64_t>(blocks, 8 * threads)));
    std::vector<std::int64_t> offsets(texts.size() + 1, static_cast<std::int64_t>(head.size()));
    for (std::int64_t done = 0; done < blocks; done += std::ssize(texts)) {
      const std::int64_t now = std::min(std::ssize(texts), blocks - done);
      parallel_for(threads, now, [&](std::int64_t i) {
        std::string& text = texts[static_cast<std::size_t>(i)];
        text.clear();
        const std::int64_t begin = (done + i) * kRows;
        format(begin, std::min(rows, begin + kRows), text);
      });
      for (std::int64_t i = 0; i < now; ++i) {
        const auto k = static_cast<std::size_t>(i);
        offsets[k + 1] = offsets[k] + std::ssize(texts[k]);
      }
      parallel_for(threads, now, [&](std::int64_t i) {
        const auto k = static_cast<std::size_t>(i);
        file.write(texts[k], offsets[k]);
      });
      offsets[0] = offsets[static_cast<std::size_t>(now)];
    }
    file.close();
  });
}

}  // namespace motes::io::detail
