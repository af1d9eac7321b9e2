/// Loads and parses an XML file.

#include "io/tracks/xml/xml_file.h"

#include <algorithm>
#include <string_view>

#include <motes/base/errors.h>

#include "io/files/text.h"

namespace motes::io::detail {

std::string at_byte(const std::filesystem::path& path, std::ptrdiff_t offset) {
  return path.string() + ", byte " + std::to_string(offset);
}

XmlFile::XmlFile(const std::filesystem::path& path) : path_(path) {
  const std::string bytes = read_whole_file(path);
  const pugi::xml_parse_result parsed = document_.load_buffer(bytes.data(), bytes.size());
  if (!parsed) {
    throw InputError(at_byte(path, parsed.offset) + ": malformed XML: " + parsed.description() +
                     "; restore the file or export it again");
  }
}

std::string XmlFile::at(const pugi::xml_node& node) const { return at_byte(path_, node.offset_debug() - 1); }

std::string xml_start(const std::filesystem::path& path) {
  constexpr std::size_t kStart = 1 << 16;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  const std::string start = read_file_start(path, kStart);
  std::string_view text = start;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text.starts_with('<') ? std::string(text) : std::string();
}

}  // namespace motes::io::detail
