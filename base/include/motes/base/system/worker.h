#pragma once
/// A child process for work that may crash, hang or ask for too much memory: a parser of files of unknown
/// origin. The child is forked, talks over a socket, hands large results back through a block of shared
/// memory, and can open no file once it has called close_the_door. Linux; the rest of the project sees no
/// part of this.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace motes::system {

/// One end of the conversation. The parent's end is not to be trusted by it: lengths are bounded by the
/// caller.
class Channel {
 public:
  Channel(int socket, int memory) : socket_(socket), memory_(memory) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// One message. False where the other end is gone. O(size).
  bool send(std::string_view message);
  /// The next message; false where the other end is gone, or the message is longer than `most` bytes.
  bool receive(std::string& message, std::size_t most);

  /// `bytes` of memory that both ends see. What an earlier call returned is gone. Throws ResourceError where
  /// the system refuses.
  std::span<std::byte> share(std::size_t bytes);
  /// Gives the pages of the shared memory back to the system.
  void empty_shared();
  /// No more messages: the other end sees the end of the conversation.
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
    std::uint64_t memory_bytes =
        0;              ///< on top of what the process has when it is forked, shared memory aside
    double cpu_s = 10;  ///< until the first allow_cpu()
  };

  /// Forks; the child calls `body` with its end and exits when that returns. Only the calling thread exists
  /// in the child, so `body` must start none and wait for none. Throws ResourceError where no process is to
  /// be had.
  Worker(const Limits& limits, const std::function<void(Channel&)>& body);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Channel& channel() { return channel_; }

  /// Ends the child, if it still lives, and says how it ended: "crashed (Segmentation fault)", "took more
  /// processor time than it may" ...
  std::string end();

 private:
  struct Ends;
  Worker(const Limits& limits, const std::function<void(Channel&)>& body, const Ends& ends);

  Channel channel_;
  int child_ = -1;
};

/// Whether this process has a limit on its memory (ulimit -v): a refused allocation is then the limit's
/// doing, and not a file's.
bool memory_is_limited();

/// In a child: from now on it may use this many more seconds of processor time.
void allow_cpu(double seconds);

/// In a child: from now on it can open no file or socket and start no program, where the system can forbid
/// it.
void close_the_door();

}  // namespace motes::system
