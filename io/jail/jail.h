#pragma once
/// Reads a file of unknown origin in a child process, so that whatever a malicious file makes a parser do
/// (crash, loop, exhaust memory, open other files) ends in one line and exit code 3.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <motes/base/system/worker.h>

namespace motes::io::detail {

/// `request` comes from the parent, the answer goes back; `shared` is seen by both.
using Serve = std::function<std::string(std::string_view request, std::span<std::byte> shared)>;

class Jail {
 public:
  /// Memory that the child may take, of a file of this size: 1,100 times the file (deflate shrinks at most
  /// 1,032 times) and 256 MB.
  static std::uint64_t memory_for(std::uint64_t file_bytes);

  /// `open` runs in the child and returns what answers there; whatever it keeps lives in the child. `target`
  /// is the file, for messages. What `open` throws is thrown here. Throws ResourceError if no process can
  /// be started. Takes about a millisecond.
  Jail(std::string target, std::uint64_t memory_bytes, const std::function<Serve()>& open);

  /// The answer. `shared_bytes`: how much memory to share meanwhile; it is at shared() until the next call.
  /// Throws what the child threw (InputError, ResourceError, std::bad_alloc), and InputError where it died.
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
