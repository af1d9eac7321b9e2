/// Child processes with limits on memory, time and system calls, on Linux (fork, rlimits, seccomp).

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <motes/base/errors.h>
#include <motes/base/large_blocks.h>
#include <motes/base/system/worker.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MOTES_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MOTES_SANITIZED 1
#endif
#endif
#ifndef MOTES_SANITIZED
#define MOTES_SANITIZED 0
#endif

namespace motes::system {
namespace {

constexpr int kChildSocket = 3, kChildMemory = 4;

[[noreturn]] void refused(const std::string& what) {
  throw ResourceError("cannot start a process for reading:  " + what + ": " + std::strerror(errno) +
                      "; raise the limits on processes and files, or set input.trusted: true");
}

bool write_all(int fd, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t done = ::send(fd, bytes, count, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes += done;
    count -= static_cast<std::size_t>(done);
  }
  return true;
}

bool read_all(int fd, char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t done = ::recv(fd, bytes, count, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes += done;
    count -= static_cast<std::size_t>(done);
  }
  return true;
}

/// Address space of this process in bytes; 0 if unknown.
std::uint64_t address_space() {
  unsigned long long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%llu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Sets a soft limit, at most to the hard one.
void set_soft_limit(decltype(RLIMIT_AS) which, std::uint64_t value) {
  rlimit limit{};
  if (getrlimit(which, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(value, limit.rlim_max);
  setrlimit(which, &limit);
}

void limit_memory(std::uint64_t more) {
  if (MOTES_SANITIZED) return;  // shadow memory takes terabytes of address space
  const std::uint64_t there = address_space();
  if (there == 0) return;
  rlimit now{};
  getrlimit(RLIMIT_AS, &now);
  set_soft_limit(RLIMIT_AS, std::min<std::uint64_t>(now.rlim_cur, more > ~there ? ~0ULL : there + more));
}

/// Detaches the child from its parent: open files, signal handlers, core dumps, the terminal.
void leave_parent(int socket, int memory) {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU}) std::signal(number, SIG_DFL);
  // The child ends when the parent does; the parent finishes its current frame first.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ}) std::signal(number, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int a = fcntl(socket, F_DUPFD, 10), b = fcntl(memory, F_DUPFD, 10);
  dup2(a, kChildSocket);
  dup2(b, kChildMemory);
  syscall(SYS_close_range, 5U, ~0U, 0U);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0) {
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    if (!MOTES_SANITIZED) dup2(null, STDERR_FILENO);  // hides messages of the C library from the user
    close(null);
  }
  set_soft_limit(RLIMIT_CORE, 0);
}

}  // namespace

Channel::~Channel() {
  unmap();
  hang_up();
  if (memory_ >= 0) close(memory_);
}

void Channel::hang_up() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

void Channel::unmap() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
  mapped_ = nullptr;
  mapped_bytes_ = 0;
}

bool Channel::send(std::string_view message) {
  const std::uint64_t length = message.size();
  std::array<char, sizeof length> head{};
  std::memcpy(head.data(), &length, sizeof length);
  return socket_ >= 0 && write_all(socket_, head.data(), head.size()) &&
         write_all(socket_, message.data(), message.size());
}

bool Channel::receive(std::string& message, std::size_t most) {
  std::uint64_t length = 0;
  std::array<char, sizeof length> head{};
  if (socket_ < 0 || !read_all(socket_, head.data(), head.size())) return false;
  std::memcpy(&length, head.data(), sizeof length);
  if (length > most) return false;
  message.resize(static_cast<std::size_t>(length));
  return read_all(socket_, message.data(), message.size());
}

std::span<std::byte> Channel::share(std::size_t bytes) {
  if (bytes > mapped_bytes_) {
    unmap();
    const off_t there = lseek(memory_, 0, SEEK_END);  // it only grows; the other end cannot shrink it
    if (there < static_cast<off_t>(bytes) && ftruncate(memory_, static_cast<off_t>(bytes)) != 0)
      throw ResourceError(std::string("cannot share memory: ") + std::strerror(errno) + "; free memory");
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
    if (at == MAP_FAILED)
      throw ResourceError(std::string("cannot share memory: ") + std::strerror(errno) + "; free memory");
    mapped_ = at;
    mapped_bytes_ = bytes;
  }
  return {static_cast<std::byte*>(mapped_), bytes};
}

void Channel::empty_shared() {
  const off_t there = lseek(memory_, 0, SEEK_END);
  if (there > 0) fallocate(memory_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, there);
}

struct Worker::Ends {
  int parent = -1, child = -1, memory = -1;
};

Worker::Worker(const Limits& limits, const std::function<void(Channel&)>& body)
    : Worker(limits, body, [] {
        Ends ends;
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) refused("no socket");
        ends.parent = pair[0];
        ends.child = pair[1];
        ends.memory = memfd_create("motes", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (ends.memory < 0) {
          const int error = errno;
          close(pair[0]);
          close(pair[1]);
          errno = error;
          refused("no shared memory");
        }
        fcntl(ends.memory, F_ADD_SEALS, F_SEAL_SHRINK);
        return ends;
      }()) {}

Worker::Worker(const Limits& limits, const std::function<void(Channel&)>& body, const Ends& ends)
    : channel_(ends.parent, ends.memory) {
  child_ = fork();
  if (child_ == 0) {
    keep_blocks_of_child_in_memory();
    leave_parent(ends.child, ends.memory);
    limit_memory(limits.memory_bytes);
    allow_cpu(limits.cpu_s);
    try {
      Channel channel(kChildSocket, kChildMemory);
      body(channel);
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  const int error = errno;
  close(ends.child);
  errno = error;
  if (child_ < 0) refused("fork");
}

Worker::~Worker() { end(); }

std::string Worker::end() {
  channel_.hang_up();
  if (child_ < 0) return "ended";
  int status = 0;
  pid_t ended = waitpid(child_, &status, WNOHANG);
  bool killed_here = false;
  if (ended == 0) {
    // The child may be about to die from its last request, or may wait for more. A short wait shows which, so
    // that the reason is known.
    for (int tries = 0; ended == 0 && tries < 20; ++tries) {
      usleep(500);
      ended = waitpid(child_, &status, WNOHANG);
    }
    if (ended == 0) {
      kill(child_, SIGKILL);
      killed_here = true;
      do {
        ended = waitpid(child_, &status, 0);  // a child that was already dying gives its own reason
      } while (ended < 0 && errno == EINTR);
    }
  }
  child_ = -1;
  if (MOTES_SANITIZED && ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) != 0) std::abort();
  if (ended > 0 && WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    if (number == SIGXCPU) return "took more processor time than allowed";
    if (number == SIGKILL && killed_here) return "ended";
    if (number == SIGKILL) return "was killed, perhaps for lack of memory";
    return std::string("crashed (") + strsignal(number) + ")";
  }
  return "ended";
}

bool memory_is_limited() {
  rlimit space{}, data{};
  getrlimit(RLIMIT_AS, &space);
  getrlimit(RLIMIT_DATA, &data);
  return space.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY;
}

void allow_cpu(double seconds) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto spent = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  set_soft_limit(RLIMIT_CPU, static_cast<std::uint64_t>(std::ceil(spent + seconds + 1)));
}

void deny_files_and_programs() {
  if (MOTES_SANITIZED) return;  // sanitizers open files for the lines in their reports
#if defined(__x86_64__) || defined(__aarch64__)
#if defined(__x86_64__)
  constexpr unsigned kMachine = AUDIT_ARCH_X86_64;
#else
  constexpr unsigned kMachine = AUDIT_ARCH_AARCH64;
#endif
  constexpr unsigned kDenied[] = {
#ifdef SYS_open
      SYS_open,
      SYS_creat,
      SYS_unlink,
      SYS_rename,
      SYS_link,
      SYS_symlink,
      SYS_fork,
      SYS_vfork,
#endif
      SYS_openat,
      SYS_execve,
      SYS_execveat,
      SYS_socket,
      SYS_connect,
      SYS_bind,
      SYS_unlinkat,
      SYS_renameat2,
      SYS_linkat,
      SYS_symlinkat,
      SYS_ptrace,
      SYS_kill,
      SYS_process_vm_writev,
      SYS_clone,
#ifdef SYS_openat2
      SYS_openat2,
#endif
#ifdef SYS_clone3
      SYS_clone3,
#endif
  };
  constexpr std::size_t kCount = std::size(kDenied);
  std::array<sock_filter, kCount + 6> rules{};
  std::size_t n = 0;
  const auto add = [&](std::uint16_t code, std::uint8_t if_true, std::uint8_t if_false, std::uint32_t value) {
    rules[n++] = {code, if_true, if_false, value};
  };
  add(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, arch));
  add(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kMachine);
  add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
  add(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr));
  for (std::size_t i = 0; i < kCount; ++i)
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint8_t>(kCount - i), 0, kDenied[i]);
  add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
  add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM);
  const sock_fprog program{static_cast<unsigned short>(n), rules.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
#endif
}

}  // namespace motes::system
