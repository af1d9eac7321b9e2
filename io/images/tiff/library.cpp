/// Calls of libtiff, with its messages turned into errors.

#include "io/images/tiff/library.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <utility>

namespace motes::io::detail {
namespace {

// Both return 1 ("handled"), so that libtiff's global handlers do not print.
int keep_first_error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  auto& kept = *static_cast<std::string*>(user);
  if (!kept.empty()) return 1;
  std::array<char, 400> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  kept = text.data();
  for (char& c : kept) {
    if (static_cast<unsigned char>(c) < 32) c = ' ';
  }
  while (!kept.empty() && (kept.back() == ' ' || kept.back() == '.')) kept.pop_back();
  return 1;
}

int ignore_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

}  // namespace

TiffHandle::TiffHandle(const std::filesystem::path& path, const char* mode, std::int64_t max_bytes)
    : error_(std::make_unique<std::string>()) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 &TIFFOpenOptionsFree);
  if (!options) return;
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), &keep_first_error, error_.get());
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), &ignore_warning, nullptr);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), static_cast<tmsize_t>(max_bytes));
  tiff_.reset(TIFFOpenExt(path.c_str(), mode, options.get()));
}

std::string TiffHandle::take_error() {
  std::string error = std::exchange(*error_, {});
  return error.empty() ? "no reason given" : error;
}

}  // namespace motes::io::detail
