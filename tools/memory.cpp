#include "tools/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace plumb::tools {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
void bound_memory() {}  // shadow memory is counted too
#else
void bound_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return;
  auto bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  std::uint64_t group = 0;
  if (std::ifstream file("/sys/fs/cgroup/memory.max"); file >> group && group > 0) bytes = std::min(bytes, group);
  rlimit now{};
  if (getrlimit(RLIMIT_DATA, &now) != 0 || now.rlim_cur <= bytes) return;
  now.rlim_cur = bytes;
  setrlimit(RLIMIT_DATA, &now);
}
#endif

}  // namespace plumb::tools
