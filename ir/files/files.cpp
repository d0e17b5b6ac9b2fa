#include "ir/files/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace plumb::ir {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open(const std::string& path, const char* mode) {
  File f(std::fopen(path.c_str(), mode), &std::fclose);
  if (!f) fail_input(path + ": " + std::strerror(errno));
  return f;
}

}  // namespace

std::string read_file(const std::string& path) {
  const File f = open(path, "rb");
  std::string bytes;
  std::size_t filled = 0;
  // Grown as it is read: pipes and directories have no size to ask for.
  for (std::size_t got = 1; got > 0; filled += got) {
    bytes.resize(filled + std::max<std::size_t>(filled, 1 << 16));
    got = std::fread(bytes.data() + filled, 1, bytes.size() - filled, f.get());
  }
  if (std::ferror(f.get())) fail_input(path + ": " + std::strerror(errno));
  bytes.resize(filled);
  return bytes;
}

void write_file(const std::string& path, std::string_view bytes) {
  File f = open(path, "wb");
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), f.get()) == bytes.size();
  if (std::fclose(f.release()) != 0 || !written) fail_input(path + ": " + std::strerror(errno));
}

Literal load_raw(const std::string& path, const Type& type) {
  const std::string bytes = read_file(path);
  if (static_cast<std::int64_t>(bytes.size()) != type.bytes())
    fail_input(std::to_string(bytes.size()) + " bytes, where " + type.str() + " has " + std::to_string(type.bytes()), {path});
  Literal l(type);
  if (!bytes.empty()) std::memcpy(l.mutable_raw(), bytes.data(), bytes.size());
  return l;
}

void save_raw(const std::string& path, const Literal& l) { write_file(path, bytes_of(l)); }

}  // namespace plumb::ir
