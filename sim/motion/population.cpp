/// Populations whose particles interact (divisions, repulsion), advanced frame by frame.

#include "sim/motion/population.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <motes/base/errors.h>

#include "sim/motion/repulsion.h"

namespace motes::sim::detail {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kMostCells = std::numeric_limits<std::int32_t>::max();
constexpr double kPushStep =
    0.1;  // relative to the rate, so that a cell among twelve neighbours does not overshoot
constexpr double kPushTimes = 5;  // relative to the rate; after this time movements are negligible

enum class Fate : std::uint8_t { lives, divides, gone };

struct Cell {
  Walker walker;
  std::uint32_t number = 0;
  double now = 0, division = kNever, death = kNever;
  Fate fate = Fate::lives;
};

class Population {
 public:
  Population(const Execution& execution, const MotionOptions& options, const Simulation& simulation)
      : execution_(execution), options_(options), simulation_(simulation), model_(simulation.model) {}

  Records run(const StopAsked& stop) {
    const std::size_t known = simulation_.particles();
    next_number_ = static_cast<std::uint32_t>(known);
    records_.parent.assign(known, -1);
    records_.divided.assign(known, 0);
    records_.birth.resize(known);
    records_.death.resize(known);
    for (std::size_t i = 0; i < simulation_.initial; ++i) cells_.push_back(founder(i));
    for (std::int32_t k = 0; k < model_.frames; ++k) {
      if (stop && stop()) throw_stopped();
      move_to(k);
      if (k > 0) part(frame_interval(model_, k));
      record(k);
    }
    sort_by_number();
    if (!(options_.division_s > 0)) {  // without divisions there are no mothers
      records_.parent.clear();
      records_.divided.clear();
    }
    return std::move(records_);
  }

 private:
  double cycle(Random& random) const {
    const double length = options_.division_s + options_.division_spread_s * random.normal();
    return std::max(length, 0.25 * options_.division_s);
  }

  Cell begin(std::uint32_t number, const Vec3& at, double birth) {
    Cell cell;
    cell.walker = start_walker(model_, number, at, birth);
    cell.number = number;
    cell.now = birth;
    cell.death = death_time(model_, number, birth);
    records_.birth[number] = birth;
    records_.death[number] = cell.death;
    return cell;
  }

  /// A cell without a mother: at a random phase of its cycle in the first frame, at the start of the cycle if
  /// born later.
  Cell founder(std::size_t i) {
    const auto number = static_cast<std::uint32_t>(i);
    const double birth = simulation_.birth(i);
    Cell cell = begin(number, simulation_.seeds[i], birth);
    if (!(options_.division_s > 0)) return cell;
    Random random(model_.seed, RandomStream::division, number, 0);
    const double length = cycle(random);
    cell.division = birth + (i < simulation_.initial ? length * (1 - random.uniform()) : length);
    return cell;
  }

  Cell daughter(const Cell& mother, double side) {
    if (next_number_ >= kMostCells)
      throw UsageError(
          "simulation.division_s: there are more than 2147483647 cells; lengthen it, or "
          "lower simulation.frames");
    const std::uint32_t number = next_number_++;
    records_.parent.push_back(mother.number);
    records_.divided.push_back(0);
    records_.birth.push_back(0);
    records_.death.push_back(0);
    Random axis(model_.seed, RandomStream::division, mother.number, 1);
    const Vec3 at = mother.walker.at + side * 0.5 * options_.division_distance_um * random_unit_vector(axis);
    Cell cell = begin(number, at, mother.division);
    Random random(model_.seed, RandomStream::division, number, 0);
    cell.division = mother.division + cycle(random);
    if (!settle(model_, cell.walker)) cell.fate = Fate::gone;
    return cell;
  }

  /// Moves one cell to `time`, or to its division or death if that is earlier.
  void move_cell(Cell& cell, std::int32_t k, double time) const {
    if (cell.fate != Fate::lives) return;
    const double end = std::min({time, cell.division, cell.death});
    const double duration = end - cell.now;
    if (duration > 0 &&
        !advance(model_, cell.walker, cell.number, static_cast<std::uint32_t>(k), cell.now, duration)) {
      cell.fate = Fate::gone;
      return;
    }
    cell.now = end;
    if (cell.death <= time && cell.death <= cell.division)
      cell.fate = Fate::gone;
    else if (cell.division <= time)
      cell.fate = Fate::divides;
  }

  void move_to(std::int32_t k) {
    const double time = frame_time(model_, k);
    for (; simulation_.initial + born_ < simulation_.particles(); ++born_) {
      const std::size_t i = simulation_.initial + born_;
      if (simulation_.birth(i) > time) break;
      cells_.push_back(founder(i));
    }
    std::vector<Cell> moving = std::move(cells_);
    cells_.clear();
    while (!moving.empty()) {
#pragma omp parallel for num_threads(thread_count(execution_)) schedule(static)
      for (std::size_t i = 0; i < moving.size(); ++i) move_cell(moving[i], k, time);
      std::vector<Cell> daughters;
      for (const Cell& cell : moving) {
        if (cell.fate == Fate::lives) cells_.push_back(cell);
        if (cell.fate != Fate::divides) continue;
        records_.divided[cell.number] = 1;
        daughters.push_back(daughter(cell, -1));
        daughters.push_back(daughter(cell, 1));
      }
      moving = std::move(daughters);
    }
    std::sort(cells_.begin(), cells_.end(), [](const Cell& a, const Cell& b) { return a.number < b.number; });
  }

  /// Lets overlapping cells push each other apart for `duration`.
  void part(double duration) {
    if (!(options_.repulsion_um > 0) || !(options_.repulsion_rate_per_s > 0)) return;
    const double times = std::min(duration * options_.repulsion_rate_per_s, kPushTimes);
    const int steps = static_cast<int>(std::max(1.0, std::ceil(times / kPushStep)));
    std::optional<Vec3> period;
    if (options_.boundary == Boundary::periodic) period = options_.box_um;
    for (int step = 0; step < steps && !cells_.empty(); ++step) {
      std::vector<Vec3> points(cells_.size());
      for (std::size_t i = 0; i < cells_.size(); ++i) points[i] = cells_[i].walker.at;
      const std::vector<Vec3> pushes = overlap_pushes(execution_, points, options_.repulsion_um, period);
      for (std::size_t i = 0; i < cells_.size(); ++i) {
        Walker& walker = cells_[i].walker;
        walker.at += times / steps * pushes[i];
        // A push does not change the direction: reflections at walls are undone.
        const Vec3 direction = walker.direction;
        if (!settle(model_, walker)) cells_[i].fate = Fate::gone;
        walker.direction = direction;
      }
      std::erase_if(cells_, [](const Cell& cell) { return cell.fate == Fate::gone; });
    }
  }

  void record(std::int32_t k) {
    for (Cell& cell : cells_) {
      const std::uint8_t code = seen(model_, cell.walker);
      if (code == kAbsent) continue;
      numbers_.push_back(cell.number);
      records_.frame.push_back(k);
      records_.x.push_back(cell.walker.at.x);
      records_.y.push_back(cell.walker.at.y);
      records_.z.push_back(cell.walker.at.z);
      records_.code.push_back(code);
    }
  }

  template <class Value>
  void permute(std::vector<Value>& values, const std::vector<std::size_t>& place) const {
    std::vector<Value> sorted(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) sorted[place[i]] = values[i];
    values = std::move(sorted);
  }

  /// Sorts the records from frame order to particle order.
  void sort_by_number() {
    auto& offsets = records_.offsets;
    offsets.assign(records_.parent.size() + 1, 0);
    for (const std::uint32_t number : numbers_) ++offsets[number + 1];
    for (std::size_t p = 1; p < offsets.size(); ++p) offsets[p] += offsets[p - 1];
    std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
    std::vector<std::size_t> place(numbers_.size());
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      place[i] = static_cast<std::size_t>(next[numbers_[i]]++);
    permute(records_.frame, place);
    permute(records_.x, place);
    permute(records_.y, place);
    permute(records_.z, place);
    permute(records_.code, place);
  }

  const Execution& execution_;
  const MotionOptions& options_;
  const Simulation& simulation_;
  const MotionModel& model_;
  std::vector<Cell> cells_;
  std::size_t born_ = 0;
  std::uint32_t next_number_ = 0;
  std::vector<std::uint32_t> numbers_;  ///< [records] index of the particle
  Records records_;
};

}  // namespace

bool needs_population(const MotionOptions& options) {
  return options.division_s > 0 || options.repulsion_um > 0;
}

Records simulate_population(const Execution& execution, const MotionOptions& options,
                            const Simulation& simulation, const StopAsked& stop) {
  return Population(execution, options, simulation).run(stop);
}

}  // namespace motes::sim::detail
