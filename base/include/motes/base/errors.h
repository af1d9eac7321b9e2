#pragma once
/// The exceptions of this project. Every message is one line: what is wrong, where (file:line, key path or
/// byte offset), and what to do. The type determines the exit code of the command line.

#include <stdexcept>
#include <string>

namespace motes {

/// Exit codes of the `motes` executable.
enum class ExitCode : int { ok = 0, usage = 2, input = 3, resources = 4, interrupted = 130 };

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& what) : std::runtime_error(what), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// Wrong options or configuration keys (exit code 2).
struct UsageError : Error {
  explicit UsageError(const std::string& what) : Error(ExitCode::usage, what) {}
};
/// Unreadable, truncated or nonsensical input data (exit code 3).
struct InputError : Error {
  explicit InputError(const std::string& what) : Error(ExitCode::input, what) {}
};
/// Not enough memory or disk space, missing permissions, or a failing device (exit code 4).
struct ResourceError : Error {
  explicit ResourceError(const std::string& what) : Error(ExitCode::resources, what) {}
};
/// The user interrupted the work (exit code 130); finished parts are kept.
struct Interrupted : Error {
  explicit Interrupted(const std::string& what) : Error(ExitCode::interrupted, what) {}
};

}  // namespace motes
