#include <atomic>
#include <thread>

#include <catch2/catch.hpp>

#include <motes/base/parallel_for.h>
#include <motes/base/stop.h>

using namespace motes;

TEST_CASE("a thread's work stops once the flag that it works under is set, and only then") {
  CHECK_FALSE(Stop::of_this_thread().asked());
  std::atomic<bool> flag{false}, inner{true};
  {
    const Stop::Use use(flag);
    const Stop stop = Stop::of_this_thread();
    CHECK_NOTHROW(stop.check());
    {
      const Stop::Use nested(inner);
      CHECK(Stop::of_this_thread().asked());
      CHECK_FALSE(stop.asked());
    }
    flag = true;
    CHECK(Stop::of_this_thread().asked());
    CHECK_THROWS_AS(stop.check(), Interrupted);
  }
  CHECK_NOTHROW(Stop::of_this_thread().check());
}

TEST_CASE("parallel_for is stopped from within and from without, for any number of threads") {
  for (const int threads : {1, 2, 7}) {
    std::atomic<bool> flag{false};
    const Stop::Use use(flag);
    std::atomic<int> calls = 0;
    const auto work = [&](std::int64_t i) {
      ++calls;
      if (i == 5) flag = true;
      while (i > 5 && !flag)
        std::this_thread::yield();  // whichever thread has 5 may be paused before it sets the flag
    };
    CHECK_THROWS_AS(parallel_for(threads, 100000, work), Interrupted);
    CHECK(calls <= 6 + threads);  // those up to 5, and one on each thread that waits for the flag
    calls = 0;
    CHECK_THROWS_AS(parallel_for(threads, 10, work), Interrupted);
    CHECK(calls == 0);
  }
}
