// libFuzzer on the reader that the environment variable READER names.
//
// HDF5 and VTP are read in a child process, as users' files are: a crash of the library there is an
// InputError, and the fuzzer sees the parent's side. With IN_PROCESS=1 they are read in this process, which
// is many times as fast and lets what the readers do guide the fuzzer; then crashes of libhdf5 or VTK itself
// end it too, and are findings only where they are findings without IN_PROCESS.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <motes/io/input_policy.h>

#include "tests/fuzz/readers.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (std::getenv("IN_PROCESS") != nullptr) motes::io::set_input_policy({.trusted = true});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const char* const name = std::getenv("READER");
  if (name != nullptr && motes::fuzz::run_reader(name, {reinterpret_cast<const char*>(data), size})) return 0;
  std::fputs("set READER to one of:", stderr);
  for (const auto& one : motes::fuzz::reader_names()) std::fprintf(stderr, " %s", one.c_str());
  std::fputs("\n", stderr);
  std::exit(2);
}
