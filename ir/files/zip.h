// Zip archives, as far as .npz needs them: entries stored or deflated, with or without zip64.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumb::ir {

struct ZipEntry {
  std::string name;
  std::string bytes;
};

/// Bad input, naming `file`, on anything that is not sound: offsets, sizes, checksums.
std::vector<ZipEntry> read_zip(std::string_view archive, std::string_view file);

/// Adds entries one after another; `finish` gives the archive.
class ZipWriter {
 public:
  explicit ZipWriter(bool deflate) : deflate_(deflate) {}
  void add(std::string_view name, std::string_view bytes);
  std::string finish();

 private:
  bool deflate_;
  std::string out_, directory_;
  std::uint64_t count_ = 0;
};

}  // namespace plumb::ir
