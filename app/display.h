#pragma once
/// An X display to draw on off screen, where there is none by nature.

#include <string>

namespace motes::app {

/// A usable display for as long as it lives: the environment's DISPLAY where that can be opened and speaks
/// OpenGL (GLX); else an Xvfb of our own, with DISPLAY set to it. Nothing is shown on either. Must outlive
/// every window.
class Display {
 public:
  /// Throws ResourceError, saying what to install or run, where there is neither.
  Display();
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;
  bool own() const { return server_ > 0; }  ///< an Xvfb was started

 private:
  /// Held open throughout: a server whose last client leaves starts over, and drops who comes meanwhile.
  void* connection_ = nullptr;
  int server_ = -1;
  std::string former_;  ///< DISPLAY as it was
  bool had_former_ = false;
};

}  // namespace motes::app
