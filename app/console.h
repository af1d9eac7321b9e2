#pragma once
/// The output of a command: results go to standard output, everything else to standard error.

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace motes::app {

class Console {
 public:
  /// `terminal`: standard error is a terminal, so a progress bar can be drawn.
  Console(std::ostream& out, std::ostream& err, bool terminal) : out_(out), err_(err), terminal_(terminal) {}

  void set_quiet(bool quiet) { quiet_ = quiet; }
  /// Reserves standard output for the JSON: print() does nothing from now on.
  void reserve_output_for_json() { json_on_output_ = true; }

  bool quiet() const { return quiet_; }
  bool terminal() const { return terminal_; }
  std::ostream& err() { return err_; }

  /// Prints a result and a line end to standard output. Throws ResourceError if the output cannot be written;
  /// a pipe closed by its reader is not an error.
  void print(std::string_view text);
  /// Prints the JSON result to standard output, even if quiet.
  void print_json(std::string_view text);
  /// Prints information during the run to standard error.
  void note(std::string_view text);
  /// As note(), marked as a warning. The report lists it, too.
  void warn(const std::string& text);
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void write(std::string_view text);

  std::ostream& out_;
  std::ostream& err_;
  bool terminal_ = false, quiet_ = false, json_on_output_ = false;
  std::vector<std::string> warnings_;
};

/// The text with control characters replaced by '?', since units and names come from files and a terminal
/// might act on them. Line ends and tabs are kept.
std::string printable(std::string_view text);

/// Writes the text as one_line returns it, without allocating.
void write_one_line(std::ostream& out, std::string_view text);

/// The text on one line: line ends and other control characters become blanks. The middle of a text of more
/// than 2000 bytes is left out.
std::string one_line(std::string_view text);

}  // namespace motes::app
