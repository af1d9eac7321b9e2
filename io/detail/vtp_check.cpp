// The layout (VTK's "XML file formats"): a VTKFile element; below it DataArray elements whose values stand
// inline (ascii, or binary in base64) or behind <AppendedData>'s underscore (raw or base64) at their
// `offset`. Binary values begin with header words of `header_type`: the number of bytes or, where the file
// has a compressor, number of blocks, bytes a block, bytes of the last block, then each block's compressed
// bytes.

#include "io/detail/vtp_check.h"

#include <algorithm>
#include <array>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "io/detail/text.h"
#include "tracking/types/errors.h"

namespace motes::io::detail {
namespace {

/// Deflate shrinks at most about 1032-fold: what claims more is damaged.
constexpr std::uint64_t kMaxDeflateRatio = 1100;

constexpr std::array<std::string_view, 12> kTypes{"Int8",  "UInt8",  "Int16",   "UInt16",  "Int32",  "UInt32",
                                                  "Int64", "UInt64", "Float32", "Float64", "String", "Bit"};

/// The first `count` bytes that a base64 text holds; fewer where it ends or is no base64.
std::string decode_base64(std::string_view text, std::size_t count) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t buffer = 0;
  int bits = 0;
  for (const char c : text) {
    if (bytes.size() == count) break;
    const auto digit = kDigits.find(c);
    if (digit == std::string_view::npos) break;
    buffer = (buffer << 6 | static_cast<std::uint32_t>(digit)) & 0xffffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(buffer >> bits & 0xff);
  }
  return bytes;
}

class VtpCheck {
 public:
  VtpCheck(const std::filesystem::path& path, std::string_view bytes) : path_(path), bytes_(bytes) {}

  void run() {
    parse();
    read_file_attributes();
    find_appended_data();
    check_element(file_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(path_.string() + ": damaged VTK file: " + what + "; restore the file or write it anew");
  }

  /// The XML without the appended data, which may be raw bytes.
  void parse() {
    const auto start = bytes_.find("<AppendedData");
    std::string xml(bytes_.substr(0, start));
    if (start != std::string_view::npos) xml += "</VTKFile>";
    const pugi::xml_parse_result parsed = document_.load_buffer(xml.data(), xml.size());
    if (!parsed)
      fail("malformed XML at byte " + std::to_string(parsed.offset) + " (" + parsed.description() + ")");
    file_ = document_.child("VTKFile");
    if (!file_) fail("there is no VTKFile element");
    if (std::string_view(file_.attribute("type").value()) != "PolyData" || !file_.child("PolyData")) {
      throw InputError(path_.string() + ": this VTK file holds no PolyData; give a file of tracks");
    }
  }

  void read_file_attributes() {
    const std::string_view header = file_.attribute("header_type").as_string("UInt32");
    if (header != "UInt32" && header != "UInt64") fail("header_type is neither UInt32 nor UInt64");
    word_bytes_ = header == "UInt64" ? 8 : 4;
    const std::string_view order = file_.attribute("byte_order").value();
    if (order != "LittleEndian" && order != "BigEndian") fail("byte_order is missing or unknown");
    big_endian_ = order == "BigEndian";
    compressed_ = static_cast<bool>(file_.attribute("compressor"));
    for (const pugi::xml_attribute& attribute : file_.attributes()) {
      constexpr std::array<std::string_view, 5> kKnown{"type", "version", "byte_order", "header_type",
                                                       "compressor"};
      if (std::find(kKnown.begin(), kKnown.end(), attribute.name()) == kKnown.end()) {
        fail(std::string("VTKFile has the unknown attribute ") + attribute.name());
      }
    }
  }

  void find_appended_data() {
    const auto start = bytes_.find("<AppendedData");
    if (start == std::string_view::npos) return;
    const auto tag_end = bytes_.find('>', start);
    if (tag_end == std::string_view::npos) fail("its AppendedData is cut off");
    const std::string_view tag = bytes_.substr(start, tag_end - start);
    raw_ = tag.find("\"raw\"") != std::string_view::npos || tag.find("'raw'") != std::string_view::npos;
    const auto underscore = bytes_.find_first_not_of(" \t\r\n", tag_end + 1);
    if (underscore == std::string_view::npos || bytes_[underscore] != '_')
      fail("its AppendedData is cut off");
    const auto end = bytes_.rfind("</AppendedData>");
    if (end == std::string_view::npos || end <= underscore)
      fail("its AppendedData has no end: the file is cut off");
    appended_ = bytes_.substr(underscore + 1, end - underscore - 1);
  }

  void check_element(const pugi::xml_node& element) {
    for (const pugi::xml_attribute& attribute : element.attributes()) check_count(attribute);
    const std::string_view name = element.name();
    if (name == "DataArray" || name == "Array") {
      check_array(element);
      return;
    }
    for (const pugi::xml_node& child : element.children()) {
      if (child.type() == pugi::node_element) check_element(child);
    }
  }

  /// Every NumberOf...="n" must fit the file.
  void check_count(const pugi::xml_attribute& attribute) const {
    const std::string_view name = attribute.name();
    if (!name.starts_with("NumberOf")) return;
    const auto count = parse_integer(trimmed(attribute.value()));
    const bool components = name == "NumberOfComponents";
    if (!count || *count < (components ? 1 : 0)) fail(std::string(name) + " is no count");
    if (static_cast<std::uint64_t>(*count) > largest() || (components && *count > 1024)) {
      fail(std::string(name) + " is more than the file can hold");
    }
  }

  std::uint64_t largest() const { return bytes_.size() * kMaxDeflateRatio; }

  void check_array(const pugi::xml_node& array) const {
    const std::string name = array.attribute("Name").value();
    if (std::find(kTypes.begin(), kTypes.end(), array.attribute("type").value()) == kTypes.end()) {
      fail("the array " + name + " has no known type");
    }
    const std::string_view format = array.attribute("format").value();
    if (format == "appended") {
      const auto offset = parse_integer(trimmed(array.attribute("offset").value()));
      if (!offset || *offset < 0 || static_cast<std::uint64_t>(*offset) >= appended_.size()) {
        fail("the array " + name + " lies outside the appended data");
      }
      check_blocks(name, appended_.substr(static_cast<std::size_t>(*offset)), raw_);
    } else if (format == "binary") {
      std::string_view text = array.text().get();
      text = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
      check_blocks(name, text, false);
    } else if (format != "ascii") {
      fail("the array " + name + " has no known format");
    }
  }

  void check_blocks(const std::string& name, std::string_view data, bool raw) const {
    const std::size_t words = compressed_ ? 3 : 1;
    const std::string header =
        raw ? std::string(data.substr(0, words * word_bytes_)) : decode_base64(data, words * word_bytes_);
    const auto first = word(header, 0);
    if (!first) fail("the array " + name + " is cut off");
    if (!compressed_) {
      if (*first > data.size()) fail("the array " + name + " is longer than the file");
      return;
    }
    if (*first == 0) return;  // no blocks
    const auto block = word(header, 1), last = word(header, 2);
    if (!block || !last) fail("the array " + name + " is cut off");
    if (*block == 0 || *block > largest() || *last > *block || *first > data.size() / word_bytes_) {
      fail("the array " + name + " has impossible block sizes");
    }
    if (*first > largest() / *block + 1) fail("the array " + name + " is more than the file can hold");
    if (raw) check_compressed_sizes(name, data, *first);
  }

  void check_compressed_sizes(const std::string& name, std::string_view data, std::uint64_t blocks) const {
    std::uint64_t left = data.size();
    const std::uint64_t header = (3 + blocks) * word_bytes_;
    if (header > left) fail("the array " + name + " is cut off");
    left -= header;
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const auto size = word(data, 3 + i);
      if (!size || *size > left) fail("the array " + name + " is cut off");
      left -= *size;
    }
  }

  std::optional<std::uint64_t> word(std::string_view data, std::uint64_t index) const {
    const std::size_t begin = static_cast<std::size_t>(index) * word_bytes_;
    if (begin + word_bytes_ > data.size()) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < word_bytes_; ++i) {
      const std::size_t at = big_endian_ ? i : word_bytes_ - 1 - i;
      value = value << 8 | static_cast<unsigned char>(data[begin + at]);
    }
    return value;
  }

  const std::filesystem::path& path_;
  std::string_view bytes_, appended_;
  pugi::xml_document document_;
  pugi::xml_node file_;
  std::size_t word_bytes_ = 4;
  bool big_endian_ = false, compressed_ = false, raw_ = false;
};

}  // namespace

void check_vtp(const std::filesystem::path& path, std::string_view bytes) { VtpCheck(path, bytes).run(); }

}  // namespace motes::io::detail
