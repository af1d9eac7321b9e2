#pragma once
/// A Zarr store in a folder: files by key. Files outside the folder are never opened.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "io/images/input_file.h"

namespace motes::io::detail::zarr {

using Json = nlohmann::json;

class Store {
 public:
  explicit Store(std::filesystem::path root);
  const std::filesystem::path& root() const { return root_; }

  /// A file of the store; null if it does not exist. Throws InputError for keys that leave the folder ('..',
  /// an absolute path, a link to elsewhere).
  std::unique_ptr<InputFile> open(const std::string& key) const;
  bool has(const std::string& key) const;
  bool has_folder(const std::string& key) const;
  /// A metadata file; empty if it does not exist. Throws InputError if it is not a JSON object, is nested
  /// deeper than 64 levels or larger than 64 MiB.
  std::optional<Json> json(const std::string& key) const;
  [[noreturn]] void fail(const std::string& key, const std::string& what) const;

 private:
  std::filesystem::path locate(const std::string& key) const;

  std::filesystem::path root_, canonical_;
};

/// "a/b" from "a" and "b"; empty parts are skipped.
std::string join(const std::string& a, const std::string& b);

/// The attributes of the group or array (.zattrs, or `attributes` in zarr.json); an empty object if there are
/// none.
Json attributes(const Store& store, const std::string& node);

/// The text under `name` in an object; empty if there is none.
std::string text_of(const Json& json, const char* name);

/// Whether the folder is a Zarr group or array of either version.
bool is_zarr(const std::filesystem::path& folder);

}  // namespace motes::io::detail::zarr
