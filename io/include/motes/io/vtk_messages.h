#pragma once
/// VTK's complaints, kept from standard error.

#include <memory>
#include <string>

namespace motes::io {

/// Collects what VTK reports while it lives, in place of printing it. VTK reports through globals: one such
/// object at a time, a second waits.
class VtkMessages {
 public:
  VtkMessages();
  ~VtkMessages();
  VtkMessages(const VtkMessages&) = delete;
  VtkMessages& operator=(const VtkMessages&) = delete;
  bool any() const;           ///< an error or warning was reported
  std::string first() const;  ///< the first one, on one line

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace motes::io
