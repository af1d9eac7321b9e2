/// Draws the progress bar, or prints plain lines.

#include "app/progress.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include <motes/base/system/terminal.h>
#include <motes/base/timer.h>

namespace motes::app {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBarInterval = std::chrono::milliseconds(100);
constexpr auto kLineInterval = std::chrono::seconds(5);
constexpr std::size_t kBarWidth = 24;

}  // namespace

std::string counted(std::int64_t count, std::string_view units) {
  if (count == 1 && units.ends_with('s')) units.remove_suffix(1);
  return fmt::format("{} {}", count, units);
}

std::string progress_line(std::string_view label, double share, std::string_view state, std::size_t columns) {
  constexpr std::size_t kBrackets = 4, kLeastBar = 4;  // " [] "
  const std::size_t text = label.size() + state.size() + kBrackets;
  const std::size_t bar = text + kLeastBar > columns ? 0 : std::min(kBarWidth, columns - text);
  std::string line(label);
  if (bar > 0) {
    const auto filled = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(bar));
    line += " [" + std::string(filled, '#') + std::string(bar - filled, '-') + "]";
  }
  line += ' ';
  line += state;
  return line.substr(0, columns);
}

std::string duration_text(double seconds) {
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(seconds);
  if (seconds < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string rate_text(double per_second) {
  return per_second < 999.5 ? fmt::format("{:.3g}", per_second) : fmt::format("{:.0f}", per_second);
}

ProgressBar::ProgressBar(Console& console, std::string label, std::string unit, std::int64_t total)
    : console_(console),
      label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      start_(Clock::now()),
      last_shown_(start_) {}

ProgressBar::~ProgressBar() {
  if (bar_drawn_) console_.err() << '\n' << std::flush;
}

double ProgressBar::seconds() const { return seconds_since(start_); }

std::string ProgressBar::state() const {
  const double elapsed = seconds();
  std::string text = fmt::format("{}/{}", done_, counted(total_, unit_));
  if (done_ > 0 && elapsed > 0) {
    const double rate = static_cast<double>(done_) / elapsed;
    text += fmt::format(", {}/s, {} left", rate_text(rate),
                        duration_text(static_cast<double>(total_ - done_) / rate));
  }
  return text;
}

void ProgressBar::draw(const std::string& line) {
  const std::size_t wipe = drawn_ > line.size() ? drawn_ - line.size() : 0;
  console_.err() << '\r' << line << std::string(wipe, ' ') << std::flush;
  drawn_ = line.size();
  bar_drawn_ = true;
}

bool ProgressBar::due() {
  if (console_.quiet()) return false;  // first, since reading the clock for a million pairs takes .1 s
  const auto now = Clock::now();
  if (console_.terminal() ? now - last_shown_ < kBarInterval : now - last_shown_ < kLineInterval)
    return false;
  last_shown_ = now;
  return true;
}

void ProgressBar::advance(std::int64_t steps) {
  done_ += steps;
  if (done_ >= total_ || !due()) return;
  const double share = total_ > 0 ? static_cast<double>(done_) / static_cast<double>(total_) : 1;
  // One column less: in the last one, the cursor would start a new line on some terminals.
  if (console_.terminal())
    draw(progress_line(label_, share, state(), system::terminal_columns() - 1));
  else
    console_.note(label_ + ": " + state());
}

void ProgressBar::tell(const std::string& step) {
  if (!due()) return;
  const std::string line = fmt::format("{}: {}, {}", label_, step, duration_text(seconds()));
  if (console_.terminal())
    draw(line.substr(0, system::terminal_columns() - 1));
  else
    console_.note(line);
}

void ProgressBar::wipe() {
  if (bar_drawn_) console_.err() << '\r' << std::string(drawn_, ' ') << '\r' << std::flush;
  bar_drawn_ = false;
  drawn_ = 0;
}

void ProgressBar::finish() {
  if (console_.quiet()) return;
  wipe();
  const double elapsed = seconds();
  const double rate = elapsed > 0 ? static_cast<double>(done_) / elapsed : 0;
  console_.note(fmt::format("{}: {} in {} ({}/s)", label_, counted(done_, unit_), duration_text(elapsed),
                            rate_text(rate)));
}

}  // namespace motes::app
