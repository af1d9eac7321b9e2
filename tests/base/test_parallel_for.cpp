#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <omp.h>

#include <motes/base/execution.h>
#include <motes/base/for_each_task.h>
#include <motes/base/parallel_for.h>

using namespace motes;

TEST_CASE("a number of threads beyond all machines is cut off") {
  CHECK(thread_count({1'000'000}) <= 4096);
  std::atomic<int> calls = 0;
  parallel_for(thread_count({1'000'000}), 3, [&](std::int64_t) { ++calls; });
  CHECK(calls == 3);
}

TEST_CASE("parallel_for visits each index once") {
  for (const int threads : {1, 2, 7}) {
    std::vector<int> visits(1000, 0);
    parallel_for(threads, 1000, [&](std::int64_t i) { ++visits[i]; });
    CHECK(visits == std::vector<int>(1000, 1));
    parallel_for(threads, 0, [](std::int64_t) { FAIL("nothing to visit"); });
  }
}

TEST_CASE("parallel_for passes on what its body throws, and stops early") {
  for (const int threads : {1, 4}) {
    std::atomic<int> visited = 0;
    const auto body = [&](std::int64_t i) {
      ++visited;
      if (i == 3) throw std::bad_alloc();
      if (i > 3) std::this_thread::sleep_for(std::chrono::microseconds(100));
    };
    CHECK_THROWS_AS(parallel_for(threads, 100'000, body), std::bad_alloc);
    CHECK(visited < 100'000);
  }
}

TEST_CASE("each_thread runs its body once on each thread, and passes on what it throws") {
  for (const int wanted : {1, 2, 7}) {
    std::vector<int> visits(7, 0);
    std::atomic<int> told = 0;
    each_thread(wanted, [&](std::size_t thread, std::size_t threads) {
      ++visits[thread];
      told = static_cast<int>(threads);
    });
    REQUIRE(told >= 1);
    REQUIRE(told <= wanted);
    for (int k = 0; k < 7; ++k) CHECK(visits[k] == (k < told ? 1 : 0));
    CHECK_THROWS_AS(each_thread(wanted, [](std::size_t, std::size_t) { throw std::bad_alloc(); }),
                    std::bad_alloc);
  }
}

TEST_CASE("for_each_task visits each index once, and passes on what its body throws") {
  for (const int threads : {1, 2, 7}) {
    std::vector<int> visits(1000, 0);
    for_each_task(threads, 1000, [&](std::int64_t i) { ++visits[i]; });
    CHECK(visits == std::vector<int>(1000, 1));
    CHECK_THROWS_AS(for_each_task(threads, 3, [](std::int64_t) { throw std::bad_alloc(); }), std::bad_alloc);
    const std::atomic<bool> stop = true;
    const Stop::Use asked(stop);
    CHECK_THROWS_AS(for_each_task(threads, 3, [](std::int64_t) {}), Interrupted);
  }
}

TEST_CASE("for_each_task on one thread starts no parallel region") {
  for_each_task(1, 3, [](std::int64_t) { CHECK(omp_get_level() == 0); });
}

TEST_CASE("for_each_block visits consecutive blocks, the last one shorter") {
  for (const int threads : {1, 2, 7})
    for (const int count : {0, 1, 9, 10, 11, 1000}) {
      std::vector<int> visits(static_cast<std::size_t>(count), 0);
      std::atomic<int> wrong = 0;
      for_each_block(threads, count, 10, [&](int begin, int end) {
        wrong += begin % 10 != 0 || end != std::min(begin + 10, count);
        for (int i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
      });
      CHECK(wrong == 0);
      CHECK(visits == std::vector<int>(static_cast<std::size_t>(count), 1));
    }
}
