/// Loading of libraries by the dynamic linker.

#include <dlfcn.h>

#include <motes/base/system/shared_library.h>

namespace motes::system {

SharedLibrary::SharedLibrary(const std::string& file, Symbols symbols, std::string& why_not)
    : handle_(dlopen(file.c_str(), RTLD_NOW | (symbols == Symbols::global ? RTLD_GLOBAL : RTLD_LOCAL))) {
  if (handle_ != nullptr) return;
  const char* const reason = dlerror();
  why_not = reason != nullptr ? reason : "";
}

void* SharedLibrary::find(const char* symbol) const {
  return handle_ != nullptr ? dlsym(handle_, symbol) : nullptr;
}

}  // namespace motes::system
