#pragma once
/// Reads a file of unknown origin in a child process. Whatever a malicious file makes a parser do (crash,
/// loop, exhaust memory, open other files) becomes an error with exit code 3.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <motes/base/system/worker.h>

namespace motes::io::detail {

/// Answers one `request` of the parent; both sides see `shared`.
using Serve = std::function<std::string(std::string_view request, std::span<std::byte> shared)>;

class Jail {
 public:
  /// Memory allowed to the child for a file of this size: 1,100 times the size (deflate compresses at most
  /// 1,032-fold) plus 256 MB.
  static std::uint64_t memory_for(std::uint64_t file_bytes);

  /// `open` runs in the child and returns the function that answers there; its data exist only in the child.
  /// `target` is the file, for messages. Rethrows exceptions of `open`. Throws ResourceError if no process
  /// can be started. Takes about a millisecond.
  Jail(std::string target, std::uint64_t memory_bytes, const std::function<Serve()>& open);

  /// The answer to the request. `shared_bytes`: memory to share for it; shared() returns it until the next
  /// call. Rethrows exceptions of the child (InputError, ResourceError, std::bad_alloc); throws InputError if
  /// it died.
  std::string ask(std::string_view request, std::size_t shared_bytes = 0);
  std::span<const std::byte> shared() const { return shared_; }
  /// Returns the pages of the shared memory to the system.
  void release_shared();

 private:
  std::string answer();
  [[noreturn]] void fail_dead();

  std::string target_;
  std::span<std::byte> shared_;
  system::Worker worker_;
};

}  // namespace motes::io::detail
