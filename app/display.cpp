/// Opens a display, or starts Xvfb.
///
/// Running the whole program again under xvfb-run would be simpler, but a library call must not replace its
/// caller's process (tests run commands in theirs). Xvfb reports the display number that it chose
/// (-displayfd), so none has to be guessed. It ends with this process, and has its own process group:
/// Ctrl-C must not end it before this process, since Xlib ends a program that loses its display.

#include "app/display.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include <X11/Xlib.h>

#include <motes/base/errors.h>
#include <motes/base/system/descriptor.h>
#include <motes/base/system/program.h>

namespace motes::app {
namespace {

constexpr std::chrono::seconds kStartTime{20};

struct Opened {
  ::Display* connection = nullptr;  ///< null if the display cannot be used
  std::string why_not;
};

/// Tries the display before VTK does, which would abort the program.
Opened open_display(const char* name) {
  if (name == nullptr || *name == '\0') return {nullptr, "DISPLAY is not set"};
  const std::string called = "DISPLAY=" + std::string(name);
  ::Display* display = XOpenDisplay(name);
  if (display == nullptr) return {nullptr, called + " cannot be opened"};
  int opcode = 0, event = 0, error = 0;
  if (XQueryExtension(display, "GLX", &opcode, &event, &error) != 0) return {display, ""};
  XCloseDisplay(display);
  return {nullptr, called + " has no OpenGL (GLX)"};
}

[[noreturn]] void give_up(const std::string& why) {
  throw ResourceError(
      "render draws through an X display, and " + why +
      "; install Xvfb (apt-get install xvfb), which motes then starts by itself, or give it a "
      "display: xvfb-run -a motes render ...");
}

/// Starts Xvfb, which writes the number of its display to `write_end`.
int start_server(int write_end) {
  return system::start_program({"Xvfb", "-displayfd", std::to_string(write_end), "-screen", "0", "64x64x24",
                                "-nolisten", "tcp", "-noreset", "+extension", "GLX"},
                               {.kept = write_end}, system::Ending::request);
}

}  // namespace

Display::Display() {
  const char* given = std::getenv("DISPLAY");
  const auto [connection, why] = open_display(given);
  connection_ = connection;
  if (connection_ != nullptr) return;
  had_former_ = given != nullptr;
  if (had_former_) former_ = given;

  int error = 0;
  system::Pipe pipe = system::make_pipe(error);
  if (error != 0) give_up(why + " (no pipe to Xvfb: " + std::strerror(error) + ")");
  const int server = start_server(pipe.write_end.number());
  error = errno;
  if (server < 0) give_up(why + " (Xvfb cannot be started: " + std::strerror(error) + ")");
  pipe.write_end.close();
  const std::string number = system::read_line(pipe.read_end, kStartTime);
  pipe.read_end.close();
  if (number.empty()) {
    const bool missing = system::end_program(server, system::Ending::request) == system::kNotInstalled;
    give_up(why + (missing ? ", and Xvfb is not installed" : ", and Xvfb does not start"));
  }
  const std::string name = ":" + number;
  const Opened own = open_display(name.c_str());
  if (own.connection == nullptr) {
    system::end_program(server, system::Ending::request);
    give_up(why + ", and of Xvfb's " + own.why_not);
  }
  connection_ = own.connection;
  server_ = server;
  system::set_environment("DISPLAY", name.c_str());
}

Display::~Display() {
  XCloseDisplay(static_cast<::Display*>(connection_));
  if (server_ <= 0) return;
  system::set_environment("DISPLAY", had_former_ ? former_.c_str() : nullptr);
  system::end_program(server_, system::Ending::request);
}

}  // namespace motes::app
