#pragma once
/// File descriptors, pipes to and from other programs, and files in memory.

#include <chrono>
#include <cstddef>
#include <span>
#include <string>

namespace motes::system {

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  int number() const { return number_; }  ///< -1: none
  void close();

 private:
  int number_ = -1;
};

/// A pipe. Programs that are started later do not inherit its ends (see ProgramFiles).
struct Pipe {
  Descriptor read_end, write_end;
};
/// `error` is 0, or the system's error number.
Pipe make_pipe(int& error);

/// A file in memory without a name, which started programs do not inherit. `error` is as above.
Descriptor make_memory_file(int& error);

/// Writes all bytes. Returns 0 or the system's error number, for instance EPIPE if the reader has ended.
int write_all(const Descriptor& to, std::span<const std::byte> bytes);

/// Reads up to the first newline, which is not returned. Empty if the writer ends or the time `most` has
/// passed before it.
std::string read_line(const Descriptor& from, std::chrono::milliseconds most);

/// The last `most` bytes of a file, or all if there are fewer.
std::string read_tail(const Descriptor& file, std::size_t most);

}  // namespace motes::system
