#pragma once
/// A flag that stops long steps, for instance after Ctrl-C in Python, where the step runs in its own thread.
///
/// The caller of a step sets a flag for its thread (Stop::Use). The step reads it once, before it starts
/// threads, and checks it repeatedly:
///
///     const Stop stop = Stop::of_this_thread();
///     for (...) {
///       stop.check();  // throws Interrupted
///
/// parallel_for checks it before each body. Without a flag nothing stops. Checking it does not change
/// results.

#include <atomic>

#include <motes/base/errors.h>

namespace motes {

class Stop {
 public:
  /// The flag of this thread, if any.
  static Stop of_this_thread() { return Stop(in_use()); }
  bool asked() const { return flag_ != nullptr && flag_->load(std::memory_order_relaxed); }
  /// Throws Interrupted once the flag is set.
  void check() const {
    if (asked()) throw Interrupted("interrupted");
  }

  /// Sets the flag of this thread during the object's lifetime. The flag must outlive it.
  class Use {
   public:
    explicit Use(const std::atomic<bool>& flag) : before_(in_use()) { in_use() = &flag; }
    /// For threads that a step starts: they check the step's own flag.
    explicit Use(const Stop& stop) : before_(in_use()) { in_use() = stop.flag_; }
    ~Use() { in_use() = before_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    const std::atomic<bool>* before_;
  };

 private:
  explicit Stop(const std::atomic<bool>* flag) : flag_(flag) {}
  static const std::atomic<bool>*& in_use() {
    static thread_local const std::atomic<bool>* flag = nullptr;
    return flag;
  }

  const std::atomic<bool>* flag_;
};

}  // namespace motes
