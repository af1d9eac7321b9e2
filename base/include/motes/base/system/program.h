#pragma once
/// This process and its child processes.
///
/// Programs that it starts end when this process ends in any way. They have their own process group, so that
/// Ctrl-C reaches only this process.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace motes::system {

/// How a program is ended: SIGTERM, which it can handle, or SIGKILL.
enum class Ending { request, kill };

/// File descriptors for the program's standard streams; -1: the null device.
struct ProgramFiles {
  int input = -1, output = -1, errors = -1;
  int kept = -1;  ///< one more that the program inherits under the same number; -1: none
};

/// The exit status of a program that is not installed.
inline constexpr int kNotInstalled = 127;

/// Starts the program words[0], found through PATH, with the other words as arguments. `ending`: how it
/// ends when this process ends. Returns its process number, or -1 with the reason in errno.
int start_program(const std::vector<std::string>& words, const ProgramFiles& files, Ending ending);

/// Waits until the program ends. Returns its exit status, or 128 plus the number of the signal that ended it.
int wait_for_program(int process);

/// Ends the program and waits. Returns as wait_for_program.
int end_program(int process, Ending ending);

/// The signal that ended a process.
struct EndingSignal {
  std::string name;         ///< the system's name for it
  bool by_request = false;  ///< SIGINT, SIGTERM or SIGHUP
  bool killed = false;      ///< SIGKILL, as from the system when memory runs out
};

/// Forks, and returns in the child, which continues the work while its parent watches. The parent never
/// returns: it waits for the child and exits with its exit code; if a signal ended the child, it calls
/// on_signal() and exits with code 4. It ignores the signals that ask a process to end, which the child
/// handles. The child is killed when its parent or the parent's own parent (a launcher of ranks) ends. If the
/// system cannot fork, this process returns. Must be called before threads are started.
void continue_in_watched_child(const std::function<void(const EndingSignal&)>& on_signal);

/// The process number of this process.
int this_process();

/// 16 hexadecimal digits that identify this process: they encode the machine, its current boot, the container
/// and the process number.
std::string process_mark();

/// Whether the process of that mark has ended. False if this is unknown: the mark is from another machine or
/// container, or from an earlier boot.
bool has_ended(std::string_view mark);

/// Seconds since this process was started; 0 if unknown.
double seconds_since_start();

/// Sets a variable in the environment of this process, or removes it if `value` is null. Not thread-safe.
void set_environment(const char* name, const char* value);

}  // namespace motes::system
