/// Starts the child process, sends requests, and turns its end into an error.

#include "io/jail/jail.h"

#include <new>

#include <motes/base/errors.h>

#include "io/files/bytes.h"

namespace motes::io::detail {
namespace {

constexpr std::size_t kLongestMessage = std::size_t{256} << 20;
constexpr double kCpuSeconds = 9;            // allowed for any request
constexpr double kCpuBytesPerSecond = 20e6;  // and for each byte read; an eighth of the speed of deflate

enum class Outcome : unsigned char { answer, input_error, resource_error, no_memory };

std::string message(Outcome outcome, std::string_view text) {
  std::string out(1, static_cast<char>(outcome));
  out += text;
  return out;
}

/// The answer of `work`, or its exception as a message.
template <class Work>
std::string guarded(const Work& work) {
  try {
    return message(Outcome::answer, work());
  } catch (const ResourceError& error) {
    return message(Outcome::resource_error, error.what());
  } catch (const std::bad_alloc&) {
    return message(Outcome::no_memory, "");
  } catch (const std::exception& error) {
    return message(Outcome::input_error, error.what());
  }
}

/// The child's side: answers until the parent closes the channel.
void answer_requests(system::Channel& channel, const std::function<Serve()>& open) {
  Serve serve;
  const std::string opened = guarded([&] { return serve = open(), std::string(); });
  if (!channel.send(opened) || !serve) return;
  system::deny_files_and_programs();
  for (std::string request; channel.receive(request, kLongestMessage);) {
    Source source(request);
    const auto shared_bytes = source.number<std::uint64_t>();
    system::allow_cpu(kCpuSeconds + static_cast<double>(shared_bytes) / kCpuBytesPerSecond);
    const std::string answer = guarded([&] {
      const std::span<std::byte> shared =
          shared_bytes > 0 ? channel.share(static_cast<std::size_t>(shared_bytes)) : std::span<std::byte>();
      return serve(source.take(source.left()), shared);
    });
    if (!channel.send(answer)) return;
  }
}

}  // namespace

std::uint64_t Jail::memory_for(std::uint64_t file_bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 46;
  return file_bytes > kMost / 1100 ? kMost : 1100 * file_bytes + (std::uint64_t{256} << 20);
}

Jail::Jail(std::string target, std::uint64_t memory_bytes, const std::function<Serve()>& open)
    : target_(std::move(target)), worker_({memory_bytes, kCpuSeconds}, [&](system::Channel& channel) {
        answer_requests(channel, open);
      }) {
  answer();
}

void Jail::fail_dead() {
  throw InputError(target_ + ": the process that reads this file " + worker_.end() +
                   ": the file is damaged or malicious; get it again from its source");
}

std::string Jail::answer() {
  std::string text;
  if (!worker_.channel().receive(text, kLongestMessage) || text.empty()) fail_dead();
  const auto outcome = static_cast<Outcome>(text.front());
  text.erase(0, 1);
  switch (outcome) {
    case Outcome::answer:
      return text;
    case Outcome::input_error:
      throw InputError(text);
    case Outcome::resource_error:
      throw ResourceError(text);
    case Outcome::no_memory:
      if (system::memory_is_limited()) throw std::bad_alloc();
      throw InputError(target_ +
                       ": needs more memory than allowed for its size; it is damaged, or set "
                       "input.trusted: true if you know where it comes from");
  }
  fail_dead();
}

std::string Jail::ask(std::string_view request, std::size_t shared_bytes) {
  std::string out;
  put(out, static_cast<std::uint64_t>(shared_bytes));
  out += request;
  shared_ = shared_bytes > 0 ? worker_.channel().share(shared_bytes) : std::span<std::byte>();
  if (!worker_.channel().send(out)) fail_dead();
  return answer();
}

void Jail::release_shared() {
  shared_ = {};
  worker_.channel().empty_shared();
}

}  // namespace motes::io::detail
