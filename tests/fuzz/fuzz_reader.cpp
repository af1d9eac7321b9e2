// libFuzzer on the reader that the environment variable READER names.
//
// HDF5 is read in its child process, as users' files are: a crash of the library there is an InputError, and
// the fuzzer sees the parent's side.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const char* const name = std::getenv("READER");
  if (name != nullptr && motes::fuzz::run_reader(name, {reinterpret_cast<const char*>(data), size})) return 0;
  std::fputs("set READER to one of:", stderr);
  for (const auto& one : motes::fuzz::reader_names()) std::fprintf(stderr, " %s", one.c_str());
  std::fputs("\n", stderr);
  std::exit(2);
}
