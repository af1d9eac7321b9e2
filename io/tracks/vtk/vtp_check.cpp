// The layout (VTK's "XML file formats"): a VTKFile element with DataArray elements. Their values are inline
// (ascii, or binary in base64), or after the underscore of <AppendedData> (raw or base64) at their `offset`.
// Binary values begin with header words of `header_type`: the number of bytes or, if the file has a
// compressor, the number of blocks, bytes per block, bytes of the last block, then the compressed bytes of
// each block.

#include "io/tracks/vtk/vtp_check.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <pugixml.hpp>

#include <motes/base/errors.h>

#include "io/files/text.h"

namespace motes::io::detail {
namespace {

/// Deflate compresses at most about 1032-fold: larger claims mean damage.
constexpr std::uint64_t kMaxDeflateRatio = 1100;

/// The largest nesting of elements, since VTK and the check below descend recursively.
constexpr int kDeepest = 256;

struct Type {
  std::string_view name;
  std::uint64_t bytes;  ///< smallest size of a value
};
constexpr std::array<Type, 11> kTypes{{{"Int8", 1},
                                       {"UInt8", 1},
                                       {"Int16", 2},
                                       {"UInt16", 2},
                                       {"Int32", 4},
                                       {"UInt32", 4},
                                       {"Int64", 8},
                                       {"UInt64", 8},
                                       {"Float32", 4},
                                       {"Float64", 8},
                                       {"String", 1}}};

/// The first `count` bytes of a base64 text; fewer if it is shorter or not valid base64.
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
    throw InputError(path_.string() + ": damaged VTK file: " + what + "; restore the file or write it again");
  }

  /// The XML without the appended data, which may be raw bytes. VTK ends the document at the first '>' after
  /// the first "<AppendedData".
  void parse() {
    const auto start = bytes_.find("<AppendedData");
    const auto end = start == std::string_view::npos ? start : bytes_.find('>', start);
    if (start != end && end == std::string_view::npos) fail("its AppendedData is truncated");
    std::string xml(bytes_.substr(0, end));
    if (end != std::string_view::npos) xml += xml.ends_with('/') ? "></VTKFile>" : "/></VTKFile>";
    // VTK would expand the entities and defaults that a DOCTYPE declares, and also read UTF-16.
    if (xml.find("<!DOCTYPE") != std::string::npos) fail("it declares a document type");
    if (xml.find('\0') != std::string::npos) fail("its XML has null bytes");
    const pugi::xml_parse_result parsed =
        document_.load_buffer(xml.data(), xml.size(), pugi::parse_default, pugi::encoding_utf8);
    if (!parsed)
      fail("malformed XML at byte " + std::to_string(parsed.offset) + " (" + parsed.description() + ")");
    // VTK also parses elements beside the root.
    check_depth(document_);
    file_ = document_.child("VTKFile");
    if (!file_) fail("there is no VTKFile element");
    if (std::string_view(file_.attribute("type").value()) != "PolyData" || !file_.child("PolyData")) {
      throw InputError(path_.string() + ": this VTK file has no PolyData; give a file of tracks");
    }
  }

  /// Checks, without recursion, that no element is nested deeper than in valid files.
  void check_depth(const pugi::xml_node& root) const {
    struct Walker : pugi::xml_tree_walker {
      int deepest = 0;
      bool for_each(pugi::xml_node&) override {
        deepest = std::max(deepest, depth());
        return deepest <= kDeepest;
      }
    } walker;
    pugi::xml_node node = root;
    node.traverse(walker);
    if (walker.deepest > kDeepest)
      fail("its elements are nested more than " + std::to_string(kDeepest) + " deep");
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
    const pugi::xml_node element = file_.child("AppendedData");
    if (!element) fail("its AppendedData is not the last element of VTKFile");
    raw_ = std::string_view(element.attribute("encoding").value()) == "raw";
    const auto tag_end = bytes_.find('>', start);
    const auto underscore = bytes_.find_first_not_of(" \t\r\n", tag_end + 1);
    if (underscore == std::string_view::npos || bytes_[underscore] != '_')
      fail("its AppendedData is truncated");
    const auto end = bytes_.rfind("</AppendedData>");
    if (end == std::string_view::npos || end <= underscore)
      fail("its AppendedData has no end: the file is truncated");
    appended_ = bytes_.substr(underscore + 1, end - underscore - 1);
  }

  void check_element(const pugi::xml_node& element) {
    for (const pugi::xml_attribute& attribute : element.attributes()) check_count(attribute);
    if (is_array(element)) check_array(element);
    for (const pugi::xml_node& child : element.children()) {
      if (child.type() != pugi::node_element || is_array(element)) continue;
      // VTK treats every child here as an array.
      if (holds_arrays(element) && !is_array(child))
        fail(std::string(element.name()) + " has the unknown element " + child.name());
      check_element(child);
    }
  }

  static bool holds_arrays(const pugi::xml_node& element) {
    constexpr std::array<std::string_view, 8> kGroups{"FieldData", "PointData", "CellData", "Points",
                                                      "Verts",     "Lines",     "Strips",   "Polys"};
    return std::find(kGroups.begin(), kGroups.end(), element.name()) != kGroups.end();
  }

  static bool is_array(const pugi::xml_node& element) {
    const std::string_view name = element.name();
    return name == "DataArray" || name == "Array";
  }

  /// Every NumberOf...="n" must be possible for the file's size.
  void check_count(const pugi::xml_attribute& attribute) const {
    const std::string_view name = attribute.name();
    if (!name.starts_with("NumberOf")) return;
    const auto count = parse_integer(trimmed(attribute.value()));
    const bool components = name == "NumberOfComponents";
    if (!count || *count < (components ? 1 : 0)) fail(std::string(name) + " is not a count");
    if (static_cast<std::uint64_t>(*count) > largest() || (components && *count > 1024)) {
      fail(std::string(name) + " is more than the file can have");
    }
  }

  std::uint64_t largest() const { return bytes_.size() * kMaxDeflateRatio; }

  static std::uint64_t count(const pugi::xml_node& node, const char* name) {
    return static_cast<std::uint64_t>(parse_integer(trimmed(node.attribute(name).value())).value_or(0));
  }

  /// The least number of tuples that the array must have, by its parent elements.
  static std::uint64_t least_tuples(const pugi::xml_node& array) {
    const pugi::xml_node group = array.parent(), piece = group.parent();
    const std::string_view kind = group.name();
    if (kind == "FieldData") return count(array, "NumberOfTuples");
    if (kind == "Points" || kind == "PointData") return count(piece, "NumberOfPoints");
    std::uint64_t cells = 0;
    for (const std::string cell : {"Verts", "Lines", "Strips", "Polys"}) {
      if (kind == cell || kind == "CellData") cells += count(piece, ("NumberOf" + cell).c_str());
    }
    const bool connectivity = std::string_view(array.attribute("Name").value()) == "connectivity";
    return connectivity ? std::min<std::uint64_t>(cells, 1) : cells;
  }

  void check_array(const pugi::xml_node& array) const {
    const std::string name = array.attribute("Name").value();
    const auto type = std::find_if(kTypes.begin(), kTypes.end(), [&](const Type& known) {
      return known.name == array.attribute("type").value();
    });
    if (type == kTypes.end()) fail("the array " + name + " has an unknown type");
    const std::uint64_t components = std::max<std::uint64_t>(1, count(array, "NumberOfComponents"));
    const std::uint64_t least = least_tuples(array) * components * type->bytes;
    const std::string_view format = array.attribute("format").value();
    if (format != "appended" && array.attribute("offset"))  // VTK would read from there
      fail("the array " + name + " has an offset, but is not appended");
    if (format == "appended") {
      const auto offset = parse_integer(trimmed(array.attribute("offset").value()));
      if (!offset || *offset < 0 || static_cast<std::uint64_t>(*offset) >= appended_.size()) {
        fail("the array " + name + " is outside the appended data");
      }
      check_blocks(name, appended_.substr(static_cast<std::size_t>(*offset)), raw_, least);
    } else if (format == "binary") {
      check_blocks(name, inline_text(array), false, least);
    } else if (format != "ascii") {
      fail("the array " + name + " has an unknown format");
    }
  }

  /// What VTK reads as the values of an inline array: from the first '>' on, even if that is in an attribute.
  std::string_view inline_text(const pugi::xml_node& array) const {
    std::string_view text = bytes_.substr(static_cast<std::size_t>(array.offset_debug()));
    text = text.substr(std::min(text.find('>'), text.size() - 1) + 1);
    text = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return text.substr(0, text.find('<'));
  }

  /// Checks the header words, and that the values have at least `least` bytes.
  void check_blocks(const std::string& name, std::string_view data, bool raw, std::uint64_t least) const {
    const std::size_t header_bytes = (compressed_ ? 3 : 1) * word_bytes_;
    const std::string header =
        raw ? std::string(data.substr(0, header_bytes)) : decode_base64(data, header_bytes);
    const auto first = word(header, 0);
    if (!first) fail("the array " + name + " is truncated");
    std::uint64_t bytes = *first;
    if (compressed_ && *first == 0 && word(header, 2).value_or(1) != 0) {  // VTK would look for that block
      fail("the array " + name + " has impossible block sizes");
    } else if (compressed_ && *first > 0) {
      bytes = block_bytes(name, data, header);
      const auto all = static_cast<std::size_t>(3 + *first) * word_bytes_;
      check_compressed_sizes(name, raw ? std::string(data.substr(0, all)) : decode_base64(data, all), *first,
                             data.size() - std::min(data.size(), all));
    } else if (const std::uint64_t held = raw ? data.size() : data.size() / 4 * 3;
               bytes > held - std::min<std::uint64_t>(held, header_bytes)) {
      fail("the array " + name + " is longer than the file");
    }
    if (bytes < least) fail("the array " + name + " is too short");
  }

  /// Uncompressed length of all blocks.
  std::uint64_t block_bytes(const std::string& name, std::string_view data, std::string_view header) const {
    const auto blocks = word(header, 0), block = word(header, 1), last = word(header, 2);
    if (!block || !last) fail("the array " + name + " is truncated");
    if (*block == 0 || *block > largest() || *last > *block || *blocks > data.size() / word_bytes_ ||
        *blocks - 1 > largest() / *block) {
      fail("the array " + name + " has impossible block sizes");
    }
    return (*blocks - 1) * *block + (*last == 0 ? *block : *last);
  }

  void check_compressed_sizes(const std::string& name, std::string_view header, std::uint64_t blocks,
                              std::uint64_t left) const {
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const auto size = word(header, 3 + i);
      if (!size || *size > left) fail("the array " + name + " is truncated");
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
