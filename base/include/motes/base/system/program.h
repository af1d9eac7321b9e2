#pragma once
/// This process, and other programs, started beside it. They end when this process ends, in whatever way, and
/// are in a process group of their own: Ctrl-C is for this process to answer.

#include <string>
#include <vector>

namespace motes::system {

/// How a program is ended: by a request, or at once.
enum class Ending { request, kill };

/// File descriptors that the program has; -1: nothing is read, or what is written is lost.
struct ProgramFiles {
  int input = -1, output = -1, errors = -1;
  int kept = -1;  ///< one that keeps its number; -1: none
};

/// The exit status of a program that is not installed.
inline constexpr int kNotInstalled = 127;

/// Starts words[0], looked for in PATH, with the words after it as arguments. `ending`: what happens to it
/// when this process ends. Returns the process's number, or -1 with the reason in errno.
int start_program(const std::vector<std::string>& words, const ProgramFiles& files, Ending ending);

/// Waits until it has ended. Returns its exit status; after a signal 128 and the signal's number.
int wait_for_program(int process);

/// Ends it and waits. Returns as wait_for_program.
int end_program(int process, Ending ending);

/// The number of this process.
int this_process();

/// Seconds since this process was started; 0 where the system does not say.
double seconds_since_start();

}  // namespace motes::system
