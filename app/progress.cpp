#include "app/progress.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include <motes/base/timer.h>

namespace motes::app {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBarInterval = std::chrono::milliseconds(100);
constexpr auto kLineInterval = std::chrono::seconds(5);
constexpr std::int64_t kBarWidth = 24;

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(seconds);
  if (seconds < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

Progress::Progress(Console& console, std::string label, std::string unit, std::int64_t total)
    : console_(console),
      label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      start_(Clock::now()),
      last_shown_(start_) {}

Progress::~Progress() {
  if (bar_drawn_) console_.err() << '\n' << std::flush;
}

double Progress::seconds() const { return seconds_since(start_); }

std::string Progress::state() const {
  const double elapsed = seconds();
  std::string text = fmt::format("{}/{} {}", done_, total_, unit_);
  if (done_ > 0 && elapsed > 0) {
    const double rate = static_cast<double>(done_) / elapsed;
    text +=
        fmt::format(", {:.3g}/s, {} left", rate, duration_text(static_cast<double>(total_ - done_) / rate));
  }
  return text;
}

void Progress::draw_bar() {
  const std::int64_t filled = total_ > 0 ? std::min(kBarWidth, done_ * kBarWidth / total_) : kBarWidth;
  const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                          std::string(static_cast<std::size_t>(kBarWidth - filled), '-');
  // Blanks wipe the rest of a longer line drawn before.
  console_.err() << fmt::format("\r{} [{}] {:<48}", label_, bar, state()) << std::flush;
  bar_drawn_ = true;
}

void Progress::advance(std::int64_t steps) {
  done_ += steps;
  if (console_.quiet() || done_ >= total_) return;
  const auto now = Clock::now();
  const bool due =
      console_.terminal() ? now - last_shown_ >= kBarInterval : now - last_shown_ >= kLineInterval;
  if (!due) return;
  last_shown_ = now;
  if (console_.terminal()) {
    draw_bar();
  } else {
    console_.note(label_ + ": " + state());
  }
}

void Progress::finish() {
  if (console_.quiet()) return;
  if (bar_drawn_) console_.err() << fmt::format("\r{:<100}\r", "");
  bar_drawn_ = false;
  const double elapsed = seconds();
  const double rate = elapsed > 0 ? static_cast<double>(done_) / elapsed : 0;
  console_.note(
      fmt::format("{}: {} {} in {} ({:.3g}/s)", label_, done_, unit_, duration_text(elapsed), rate));
}

}  // namespace motes::app
