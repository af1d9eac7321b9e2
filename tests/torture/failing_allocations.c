/* Preloaded (LD_PRELOAD): the MOTES_FAIL_AT-th allocation after main began fails; with MOTES_FAIL_ON=all every
   later one too, with MOTES_FAIL_ON=each every MOTES_FAIL_AT-th. glibc only. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static atomic_long count = 0;
static long fail_at = 0;
static enum { once, all, each } on = once;
static int armed = 0;

static int fails(void) {
  if (!armed) return 0;
  const long now = atomic_fetch_add(&count, 1) + 1;
  const int result = on == once ? now == fail_at : on == all ? now >= fail_at : now % fail_at == 0;
  if (result) errno = ENOMEM;
  return result;
}

void* malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void* calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void* realloc(void* old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
void* memalign(size_t align, size_t size) { return fails() ? NULL : __libc_memalign(align, size); }
void* aligned_alloc(size_t align, size_t size) { return fails() ? NULL : __libc_memalign(align, size); }
int posix_memalign(void** out, size_t align, size_t size) {
  void* const made = fails() ? NULL : __libc_memalign(align, size);
  if (made == NULL) return ENOMEM;
  *out = made;
  return 0;
}

static int (*real_main)(int, char**, char**);

static int armed_main(int argc, char** argv, char** environment) {
  const char* at = getenv("MOTES_FAIL_AT");
  const char* how = getenv("MOTES_FAIL_ON");
  fail_at = at != NULL ? atol(at) : 0;
  if (how != NULL && strcmp(how, "all") == 0) on = all;
  if (how != NULL && strcmp(how, "each") == 0) on = each;
  armed = fail_at > 0;
  return real_main(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void* stack_end) {
  typedef int (*start)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void),
                       void*);
  real_main = main;
  return ((start)dlsym(RTLD_NEXT, "__libc_start_main"))(armed_main, argc, argv, init, fini, rtld_fini, stack_end);
}
