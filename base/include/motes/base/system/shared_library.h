#pragma once
/// Libraries that are loaded on demand, so that the program starts without them.

#include <string>

namespace motes::system {

/// Whether libraries that are loaded later can use the symbols of a library.
enum class Symbols { local, global };

/// A library that stays loaded until the process ends.
class SharedLibrary {
 public:
  /// Loads `file`, a path or a name that the system looks up. If that fails, `why_not` is the system's
  /// reason (it may be empty), and loaded() is false.
  SharedLibrary(const std::string& file, Symbols symbols, std::string& why_not);

  bool loaded() const { return handle_ != nullptr; }
  /// The address of a function, or nullptr.
  void* find(const char* symbol) const;

 private:
  void* handle_ = nullptr;
};

}  // namespace motes::system
