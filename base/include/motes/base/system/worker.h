#pragma once
/// A child process for work that may crash, hang or exhaust memory, such as parsing files of unknown
/// origin. The child is forked, communicates over a socket, returns large results in a block of shared
/// memory, and can open no file after it has called deny_files_and_programs. Linux only.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace motes::system {

/// One end of the connection between parent and child. The parent must not trust what it receives; callers
/// bound the length of messages.
class Channel {
 public:
  Channel(int socket, int memory) : socket_(socket), memory_(memory) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Sends a message. False if the other end is closed. O(size).
  bool send(std::string_view message);
  /// Receives the next message. False if the other end is closed, or the message is longer than `most` bytes.
  bool receive(std::string& message, std::size_t most);

  /// `bytes` of memory shared by both ends. Invalidates the result of an earlier call. Throws ResourceError
  /// if the system has no more.
  std::span<std::byte> share(std::size_t bytes);
  /// Returns the pages of the shared memory to the system.
  void empty_shared();
  /// Closes the connection, which the other end notices.
  void hang_up();

 private:
  void unmap();

  int socket_ = -1, memory_ = -1;
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

class Worker {
 public:
  struct Limits {
    std::uint64_t memory_bytes = 0;  ///< address space beyond that at the fork, without shared memory
    double cpu_s = 10;               ///< processor time until the first allow_cpu()
  };

  /// Forks; the child calls `body` with its end of the channel and exits when that returns. Only the
  /// calling thread exists in the child, so `body` must not start or wait for threads. Throws ResourceError
  /// if the system cannot start a process.
  Worker(const Limits& limits, const std::function<void(Channel&)>& body);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Channel& channel() { return channel_; }

  /// Ends the child if it is still running, and returns how it ended: "crashed (Segmentation fault)", "took
  /// more processor time than allowed" ...
  std::string end();

 private:
  struct Ends;
  Worker(const Limits& limits, const std::function<void(Channel&)>& body, const Ends& ends);

  Channel channel_;
  int child_ = -1;
};

/// Whether this process has a limit on its memory (ulimit -v). If so, a failed allocation may be due to the
/// limit rather than to a damaged file.
bool memory_is_limited();

/// For the child: allows this many more seconds of processor time from now on.
void allow_cpu(double seconds);

/// For the child: from now on it cannot open files or sockets or start programs, if the system can enforce
/// this.
void deny_files_and_programs();

}  // namespace motes::system
