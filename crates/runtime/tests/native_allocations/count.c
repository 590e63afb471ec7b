// Counts every allocation of a process into which it is preloaded, and passes it on to glibc. C++'s operator new and
// Rust's allocator call these functions too.
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_ullong allocations;

unsigned long long nearside_allocations(void) { return allocations; }

void *malloc(size_t bytes) {
  allocations++;
  return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
  allocations++;
  return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes) {
  allocations++;
  return __libc_realloc(old, bytes);
}

void *memalign(size_t alignment, size_t bytes) {
  allocations++;
  return __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **result, size_t alignment, size_t bytes) {
  if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    return EINVAL;
  }
  void *memory = memalign(alignment, bytes);
  if (memory == NULL) {
    return ENOMEM;
  }
  *result = memory;
  return 0;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
  allocations++;
  return (void *)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
}
