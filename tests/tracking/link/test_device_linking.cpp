// Candidates and links on a GPU: the same bits as on the CPU.

#include <cmath>
#include <limits>
#include <random>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/base/gpu/device.h>
#include <motes/base/workspace.h>
#include <motes/matching/registry.h>
#include <motes/tracking/linker.h>

#include "tests/support/allocation_faults.h"
#include "tests/support/skip.h"
#include "tracking/candidates/device_candidates.h"

using namespace motes;
using namespace motes::tracking;

namespace {

using Rng = std::mt19937_64;

Detections scattered(Rng& rng, std::size_t n, double side, std::int32_t frame = 0) {
  std::uniform_real_distribution<double> place(-side / 3, side);
  Detections d;
  d.frame = frame;
  for (std::size_t k = 0; k < n; ++k) {
    d.x_um.push_back(place(rng));
    d.y_um.push_back(place(rng));
    d.z_um.push_back(place(rng));
  }
  return d;
}

/// Integer positions: many distances are equal, and many detections coincide.
Detections on_lattice(Rng& rng, std::size_t n, int side, std::int32_t frame = 0) {
  Detections d;
  d.frame = frame;
  for (std::size_t k = 0; k < n; ++k) {
    d.x_um.push_back(static_cast<double>(rng() % side));
    d.y_um.push_back(static_cast<double>(rng() % side));
    d.z_um.push_back(static_cast<double>(rng() % 2));
  }
  return d;
}

Detections with_outliers(Detections d, double gate) {
  d.x_um.insert(d.x_um.end(), {1e8 * gate, -1e8 * gate, 3e8 * gate + 0.25});
  d.y_um.insert(d.y_um.end(), {-1e8 * gate, 5e7 * gate, 1});
  d.z_um.insert(d.z_um.end(), {1e8 * gate, 0, -2});
  return d;
}

Execution on_gpu(int threads = 0) {
  Execution execution;
  execution.threads = threads;
  execution.backend = Backend::cuda;
  return execution;
}

CandidateGraph built_on_device(DeviceFrame& rows, DeviceFrame& cols, DeviceCandidates& candidates,
                               const Detections& from, const Detections& to,
                               const CandidateOptions& options) {
  const CandidateTerms terms = terms_of(options);
  cols.load({2}, to, terms);
  rows.load({1}, from, terms);
  return copy_to_host(candidates.build(rows, cols, options, terms, from, to));
}

void check_same(const CandidateGraph& a, const CandidateGraph& b) {
  CHECK(a.cost_unit == b.cost_unit);
  CHECK(a.costs.graph.rows == b.costs.graph.rows);
  CHECK(a.costs.graph.cols == b.costs.graph.cols);
  CHECK(a.costs.graph.row_offsets == b.costs.graph.row_offsets);
  CHECK((a.costs.graph.col_index == b.costs.graph.col_index));
  CHECK((a.costs.cost == b.costs.cost));
  CHECK(a.costs.unmatched_row_cost == b.costs.unmatched_row_cost);
  CHECK(a.costs.unmatched_col_cost == b.costs.unmatched_col_cost);
}

}  // namespace

TEST_CASE("without a GPU, linking on one is an error and automatic uses the CPU") {
  if (!gpu::list_devices().devices.empty()) return;
  Rng rng(3);
  const Detections a = scattered(rng, 20, 4), b = scattered(rng, 20, 4);
  const LinkOptions options{{1, LinkCost::squared, -1}, "auto", true};
  CHECK_THROWS_WITH(link_pair(on_gpu(), a, b, options), Catch::Contains("execution.backend: no GPU"));
  CHECK_THROWS_AS(link_pair(on_gpu(), a, b, options), ResourceError);
  Execution automatic;
  automatic.backend = Backend::automatic;
  CHECK(link_pair(automatic, a, b, options).next == link_pair({1}, a, b, options).next);
}

TEST_CASE("candidates built on a GPU are the same bits") {
  MOTES_NEED_GPU();
  const auto seed = GENERATE(1U, 2U, 3U);
  Rng rng(seed);
  INFO("seed " << seed);
  DeviceFrame rows, cols;
  DeviceCandidates candidates;
  for (const auto kind : {LinkCost::squared, LinkCost::euclidean}) {
    for (const double gate : {0.05, 0.5, 1.2, 4.0, 60.0}) {
      for (const std::size_t n : {0U, 1U, 7U, 900U, 3000U}) {
        INFO("gate " << gate << " n " << n);
        const Detections a = scattered(rng, n, 12), b = with_outliers(scattered(rng, n + n / 3, 12, 1), gate);
        const CandidateOptions options{gate, kind, seed == 2 ? 0.7 * gate : -1};
        if (gate > 50 && n > 1000) continue;
        check_same(built_on_device(rows, cols, candidates, a, b, options),
                   build_candidates({2}, a, b, options));
        check_same(built_on_device(rows, cols, candidates, b, a, options),
                   build_candidates({2}, b, a, options));
      }
    }
    // Hundreds and thousands at one place: rows sorted by a warp, in shared memory and outside it.
    for (const std::size_t n : {100U, 2000U}) {
      const Detections a = on_lattice(rng, n / 4, 2), b = on_lattice(rng, n, 2, 1);
      const CandidateOptions options{1.5, kind, -1};
      check_same(built_on_device(rows, cols, candidates, a, b, options),
                 build_candidates({2}, a, b, options));
    }
  }
}

TEST_CASE("bad positions and too many candidates are rejected on a GPU with the same messages") {
  MOTES_NEED_GPU();
  Rng rng(5);
  Detections a = scattered(rng, 500, 5, 8), b = scattered(rng, 500, 5, 9);
  LinkOptions options{{1, LinkCost::squared, -1}, "auto", false};
  const auto message = [&](const Execution& execution) {
    try {
      link_pair(execution, a, b, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing thrown");
  };
  options.candidates.max_candidates = 100;
  CHECK(message(on_gpu()) == message({1}));
  options.candidates.max_candidates = 0;
  b.y_um[40] = std::numeric_limits<double>::quiet_NaN();
  b.x_um[41] = std::numeric_limits<double>::infinity();
  a.z_um[3] = 1e300;
  CHECK(message(on_gpu()) == message({1}));
  CHECK(message(on_gpu()).find("frame 9, detection 40") == 0);
}

TEST_CASE("every solver with a CUDA form gives the CPU's links, ties or not") {
  MOTES_NEED_GPU();
  const auto seed = GENERATE(1U, 2U, 3U, 4U);
  Rng rng(seed);
  INFO("seed " << seed);
  for (int k = 0; k < 4; ++k) {
    const bool tied = k % 2 == 0;
    const Detections a = tied ? on_lattice(rng, 150, 6) : scattered(rng, 400, 6);
    const Detections b = tied ? on_lattice(rng, 130, 6, 1) : scattered(rng, 450, 6, 1);
    for (const auto cost : {LinkCost::squared, LinkCost::euclidean}) {
      LinkOptions options{{1.5, cost, -1}, "jv", true};
      const auto reference = link_pair({1}, a, b, options);
      for (const auto& info : matching::solvers()) {
        if (info.family() != matching::Family::assignment || !info.backends.contains(Backend::cuda)) continue;
        INFO(info.name << " round " << k);
        options.solver = info.name;
        const auto links = link_pair(on_gpu(2), a, b, options);
        CHECK(links.backend == Backend::cuda);
        CHECK(links.next == reference.next);
        CHECK(links.objective == reference.objective);
        CHECK(links.candidates == reference.candidates);
        CHECK(links.verified);
      }
    }
  }
}

TEST_CASE("a series linked on a GPU is the same for any number of threads") {
  MOTES_NEED_GPU();
  Rng rng(7);
  std::vector<Detections> frames;
  for (int f = 0; f < 12; ++f) frames.push_back(scattered(rng, f == 5 ? 0 : 300 + 40 * (f % 3), 6, f));
  const LinkOptions options{{1.1, LinkCost::squared, -1}, "auto", true};
  const auto reference = link_frames({1}, frames, options);
  for (const int threads : {1, 2, 8}) {
    std::size_t last = 0;
    const auto links = link_frames(on_gpu(threads), frames, options, [&](std::size_t n) { last = n; });
    CHECK(last == frames.size() - 1);
    for (std::size_t k = 0; k < links.size(); ++k) CHECK(links[k].next == reference[k].next);
  }
  CHECK(link_frames(on_gpu(), {}, options).empty());
}

TEST_CASE("pairs that are distributed to several GPUs are linked as on one") {
  MOTES_NEED_GPU();
  const auto there = static_cast<int>(gpu::list_devices().devices.size());
  Rng rng(43);
  std::vector<Detections> frames;
  for (int f = 0; f < 9; ++f) frames.push_back(scattered(rng, f == 4 ? 0 : 250, 6, f));
  const LinkOptions options{{1.1, LinkCost::squared, -1}, "auto", true};
  const auto reference = link_frames({1}, frames, options);
  for (const int executions : {2, 3, 12}) {
    std::vector<Execution> each(static_cast<std::size_t>(executions), on_gpu(1));
    for (int i = 0; i < executions; ++i) each[static_cast<std::size_t>(i)].device = i % there;
    std::size_t last = 0;
    std::vector<PairLinks> links(reference.size());
    const auto take = [&](std::size_t k, PairLinks of_pair) { links[k] = std::move(of_pair); };
    link_frames_on(each, frames, options, take, [&](std::size_t n) { last = n; });
    CHECK(last == frames.size() - 1);
    for (std::size_t k = 0; k < links.size(); ++k) {
      CHECK(links[k].next == reference[k].next);
      CHECK(links[k].backend == Backend::cuda);
    }
    const auto stop = [](std::size_t) { throw Interrupted("stop"); };
    CHECK_THROWS_AS(link_frames_on(each, frames, options, take, stop), Interrupted);
  }
}

TEST_CASE("series linked in succession on a GPU with kept memory have the same links as without") {
  MOTES_NEED_GPU();
  Rng rng(29);
  LinkWorkspace workspace;
  LinkOptions options{{1.1, LinkCost::squared, -1}, "auto", true};
  for (const int detections : {40, 900, 0, 300}) {
    std::vector<Detections> frames;
    for (int f = 0; f < 5; ++f) frames.push_back(scattered(rng, detections, 6, f));
    const auto reference = link_frames({1}, frames, options);
    for (const int threads : {2, 1, 4}) {
      const auto links = link_frames(on_gpu(threads), frames, options, {}, &workspace);
      for (std::size_t k = 0; k < links.size(); ++k) CHECK(links[k].next == reference[k].next);
    }
    const auto stop = [](std::size_t) { throw Interrupted("stop"); };
    CHECK_THROWS_AS(link_frames(on_gpu(2), frames, options, stop, &workspace), Interrupted);
  }
  CHECK(link_frames({1}, {}, options, {}, &workspace).empty());
}

TEST_CASE("candidates of hundreds of thousands of detections have the same bits and the same links") {
  MOTES_NEED_GPU();
  Rng rng(11);
  const std::size_t n = 200'000;
  const double side = std::cbrt(static_cast<double>(n));
  const Detections a = scattered(rng, n, side * 0.75);
  Detections b = a;
  b.frame = 1;
  std::normal_distribution<double> jump(0, 0.2);
  for (auto* axis : {&b.x_um, &b.y_um, &b.z_um})
    for (double& x : *axis) x += jump(rng);
  const CandidateOptions options{0.8, LinkCost::squared, -1};
  DeviceFrame rows, cols;
  DeviceCandidates candidates;
  check_same(built_on_device(rows, cols, candidates, a, b, options), build_candidates({}, a, b, options));
  CHECK(link_pair(on_gpu(), a, b, {options, "auto", false}).next ==
        link_pair({}, a, b, {options, "auto", false}).next);
}

TEST_CASE("linking on a GPU recovers when memory runs out at any allocation") {
  MOTES_NEED_GPU();
  Rng rng(31);
  std::vector<Detections> frames;
  for (int f = 0; f < 4; ++f) frames.push_back(scattered(rng, 300, 6, f));
  const LinkOptions options{{1.1, LinkCost::squared, -1}, "auto", true};
  const auto reference = link_frames({1}, frames, options);
  LinkWorkspace kept;
  const auto run = [&](int threads, LinkWorkspace* workspace) {
    const auto links = link_frames(on_gpu(threads), frames, options, {}, workspace);
    REQUIRE(links.size() == reference.size());
    for (std::size_t k = 0; k < links.size(); ++k) CHECK(links[k].next == reference[k].next);
  };
  CHECK(testing::fail_each_allocation([&] { run(1, nullptr); }) > 3);
  testing::fail_each_allocation([&] { run(2, nullptr); });
  testing::fail_each_allocation([&] { run(1, &kept); });
}
