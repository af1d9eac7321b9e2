#pragma once
/// An XML file in memory, with positions for error messages.

#include <cstddef>
#include <filesystem>
#include <string>

#include <pugixml.hpp>

namespace motes::io::detail {

class XmlFile {
 public:
  /// Throws InputError with the byte offset for malformed XML.
  explicit XmlFile(const std::filesystem::path& path);
  const pugi::xml_document& document() const { return document_; }
  /// "FILE, byte N": the position of the element's '<'.
  std::string at(const pugi::xml_node& node) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  pugi::xml_document document_;
};

/// "FILE, byte N".
std::string at_byte(const std::filesystem::path& path, std::ptrdiff_t offset);

/// The start of the file if it is XML, without byte order mark and leading blanks; else empty.
std::string xml_start(const std::filesystem::path& path);

}  // namespace motes::io::detail
