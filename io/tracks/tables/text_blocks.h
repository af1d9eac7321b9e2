#pragma once
/// Large text files: rows are formatted by all threads and written block by block.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace motes::io::detail {

/// Writes `head` and then the text of rows [0, rows) to `path`, whole or not at all. format(begin, end, out)
/// appends the text of rows [begin, end) to `out`. It is called from several threads, once for each row; the
/// file's bytes do not depend on the number of threads. Only a few blocks of rows are in memory at a time.
/// Throws ResourceError (path and reason) if the disk fails.
void write_rows(const std::filesystem::path& path, const std::string& head, std::int64_t rows,
                const std::function<void(std::int64_t begin, std::int64_t end, std::string& out)>& format);

}  // namespace motes::io::detail
