/// Maps keys to files of the store's folder.

#include "io/zarr/store.h"

#include <algorithm>
#include <string_view>

#include <motes/base/errors.h>

#include "io/files/open_error.h"

namespace motes::io::detail::zarr {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kLargestJson = 64 << 20;
constexpr int kDeepestJson = 64;
constexpr std::size_t kLongestKey = 4096;

bool is_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && (text[i] == '{' || text[i] == '[')) {
      if (++depth > kDeepestJson) return true;
    } else if (!quoted && (text[i] == '}' || text[i] == ']')) {
      --depth;
    }
  }
  return false;
}

bool is_inside(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

}  // namespace

Store::Store(fs::path root) : root_(std::move(root)) {
  std::error_code error;
  canonical_ = fs::canonical(root_, error);
  if (error) fail_to_open(root_, "open the folder", error.value());
}

void Store::fail(const std::string& key, const std::string& what) const {
  throw InputError((root_ / key).string() + ": " + what);
}

fs::path Store::locate(const std::string& key) const {
  const fs::path relative(key);
  const bool good = key.size() <= kLongestKey && key.find('\0') == std::string::npos &&
                    !relative.is_absolute() &&
                    std::none_of(relative.begin(), relative.end(),
                                 [](const fs::path& part) { return part == ".." || part == "."; });
  if (!good)
    throw InputError(root_.string() + ": the metadata name '" + key.substr(0, 200) +
                     "', which leaves the store");
  return root_ / relative;
}

std::unique_ptr<InputFile> Store::open(const std::string& key) const {
  const fs::path path = locate(key);
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (type == fs::file_type::not_found) return nullptr;  // most chunks of a sparse array are missing
  if (error) fail_to_open(path, "open", error.value());
  const fs::path canonical = fs::canonical(path, error);
  if (error) fail_to_open(path, "open", error.value());  // for instance a broken link
  if (!is_inside(canonical, canonical_))
    fail(key, "is a link that leaves the store and is not followed; copy its target into the store");
  return std::make_unique<InputFile>(path);
}

bool Store::has(const std::string& key) const {
  std::error_code ignored;
  return fs::is_regular_file(locate(key), ignored);
}

bool Store::has_folder(const std::string& key) const {
  std::error_code ignored;
  return fs::is_directory(locate(key), ignored);
}

std::optional<Json> Store::json(const std::string& key) const {
  if (!has(key)) return std::nullopt;
  const std::unique_ptr<InputFile> file = open(key);
  if (!file) return std::nullopt;
  if (file->size() > kLargestJson) fail(key, "is larger than 64 MiB, too large for metadata");
  const std::string text = file->head(static_cast<std::size_t>(file->size()));
  if (is_deep(text)) fail(key, "is nested deeper than 64 levels, too deep for metadata");
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) fail(key, "is not a JSON object: the metadata are damaged; copy the store again");
  return json;
}

std::string join(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a + b;
  return a + "/" + b;
}

Json attributes(const Store& store, const std::string& node) {
  if (const auto v3 = store.json(join(node, "zarr.json"))) {
    const auto found = v3->find("attributes");
    return found != v3->end() && found->is_object() ? *found : Json::object();
  }
  return store.json(join(node, ".zattrs")).value_or(Json::object());
}

std::string text_of(const Json& json, const char* name) {
  if (!json.is_object()) return {};
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_zarr(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : {"zarr.json", ".zgroup", ".zarray", ".zattrs"}) {
    if (fs::is_regular_file(folder / name, ignored)) return true;
  }
  return false;
}

}  // namespace motes::io::detail::zarr
