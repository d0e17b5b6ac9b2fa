#include "ir/files/zip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "ir/support/error.h"

namespace plumb::ir {
namespace {

constexpr std::uint32_t local_signature = 0x04034b50, central_signature = 0x02014b50, end_signature = 0x06054b50;
constexpr std::uint32_t end64_signature = 0x06064b50, locator_signature = 0x07064b50;
constexpr std::size_t end_size = 22, locator_size = 20, end64_size = 56, central_size = 46, local_size = 30;
constexpr std::uint64_t in_zip64 = 0xffffffff;
constexpr std::uint64_t piece = std::uint64_t{1} << 30;  ///< zlib counts in 32 bits

struct Entry {
  std::string name;
  unsigned flags = 0, method = 0;
  std::uint64_t crc = 0, packed = 0, size = 0, offset = 0;
};

class Archive {
 public:
  Archive(std::string_view bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  std::vector<ZipEntry> entries() {
    std::vector<ZipEntry> out;
    std::uint64_t packed = 0;
    for (const auto& e : directory()) {
      // Entries that share bytes make an archive that unpacks to far more than it holds.
      packed += std::min<std::uint64_t>(e.packed, bytes_.size());
      if (packed > bytes_.size()) fail("the entries overlap");
      out.push_back({e.name, unpack(e)});
    }
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { fail_input(why, {std::string(file_)}); }

  std::string_view at(std::uint64_t offset, std::uint64_t length, const char* what) const {
    if (offset > bytes_.size() || length > bytes_.size() - offset) fail(std::string("the archive is cut off: ") + what + " lies beyond its end");
    return bytes_.substr(offset, length);
  }
  static std::uint64_t number(std::string_view bytes, std::size_t offset, std::size_t width) {
    std::uint64_t v = 0;
    for (std::size_t i = width; i-- > 0;) v = v << 8 | static_cast<unsigned char>(bytes[offset + i]);
    return v;
  }

  /// The end record is the last thing but for a comment of up to 65,535 bytes.
  std::size_t find_end() const {
    if (bytes_.size() < end_size) fail("not a zip archive: it is too short");
    const std::size_t last = bytes_.size() - end_size, first = last > 65535 ? last - 65535 : 0;
    for (std::size_t i = last + 1; i-- > first;)
      if (number(bytes_, i, 4) == end_signature && number(bytes_, i + 20, 2) == last - i) return i;
    fail("not a zip archive: it has no end record");
  }

  std::vector<Entry> directory() const {
    const std::size_t end = find_end();
    std::uint64_t count = number(bytes_, end + 10, 2), offset = number(bytes_, end + 16, 4);
    if ((count == 0xffff || offset == in_zip64) && end >= locator_size && number(bytes_, end - locator_size, 4) == locator_signature) {
      const auto end64 = at(number(bytes_, end - locator_size + 8, 8), end64_size, "the zip64 end record");
      if (number(end64, 0, 4) != end64_signature) fail("the zip64 end record is not where it should be");
      count = number(end64, 32, 8);
      offset = number(end64, 48, 8);
    }
    std::vector<Entry> entries;
    for (; count > 0; --count) entries.push_back(central(offset));
    return entries;
  }

  /// Reads a record of the central directory and steps over it.
  Entry central(std::uint64_t& offset) const {
    const auto r = at(offset, central_size, "the directory");
    if (number(r, 0, 4) != central_signature) fail("the directory is broken");
    const auto name = number(r, 28, 2), extra = number(r, 30, 2), comment = number(r, 32, 2);
    Entry e;
    e.name = at(offset + central_size, name, "the directory");
    e.flags = static_cast<unsigned>(number(r, 8, 2));
    e.method = static_cast<unsigned>(number(r, 10, 2));
    e.crc = number(r, 16, 4);
    e.packed = number(r, 20, 4);
    e.size = number(r, 24, 4);
    e.offset = number(r, 42, 4);
    read_zip64(e, at(offset + central_size + name, extra, "the directory"));
    offset += central_size + name + extra + comment;
    return e;
  }

  /// The extra field 1 holds, in this order, those numbers that do not fit 32 bits.
  void read_zip64(Entry& e, std::string_view extra) const {
    while (extra.size() >= 4) {
      const auto id = number(extra, 0, 2), length = number(extra, 2, 2);
      if (length > extra.size() - 4) fail("the directory is broken: an extra field is cut off");
      auto field = extra.substr(4, length);
      extra.remove_prefix(4 + length);
      if (id != 1) continue;
      for (auto* value : {&e.size, &e.packed, &e.offset}) {
        if (*value != in_zip64) continue;
        if (field.size() < 8) fail("the directory is broken: a zip64 field is cut off");
        *value = number(field, 0, 8);
        field.remove_prefix(8);
      }
    }
  }

  std::string unpack(const Entry& e) const {
    const std::string what = "'" + e.name.substr(0, 60) + "'";
    if (e.flags & 1) fail(what + " is encrypted");
    if (e.method != 0 && e.method != 8) fail(what + " is compressed by method " + std::to_string(e.method) + "; stored and deflated entries can be read");
    const auto local = at(e.offset, local_size, "an entry");
    if (number(local, 0, 4) != local_signature) fail(what + " is not where the directory says");
    const auto data = at(e.offset + local_size + number(local, 26, 2) + number(local, 28, 2), e.packed, "an entry");
    std::string bytes;
    if (e.method == 0) bytes = data;
    // Deflate packs at most 1,032 to 1: what claims more lies, and must not be believed before memory is asked for.
    else if (e.size > data.size() * 1032 + 1032 || !inflate_into(bytes, data, e.size)) fail(what + " is damaged: it does not unpack to " + std::to_string(e.size) + " bytes");
    if (bytes.size() != e.size) fail(what + " holds " + std::to_string(bytes.size()) + " bytes, where the directory says " + std::to_string(e.size));
    if (checksum(bytes) != e.crc) fail(what + " is damaged: its checksum differs");
    return bytes;
  }

  static bool inflate_into(std::string& out, std::string_view data, std::uint64_t size) {
    out.resize(size);
    z_stream z{};
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) return false;
    std::uint64_t read = 0, written = 0;
    int status = Z_OK;
    while (status == Z_OK) {
      const auto in = std::min(piece, data.size() - read), room = std::min(piece, size - written);
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data() + read));  // zlib's pointer is not const, its use is
      z.next_out = reinterpret_cast<Bytef*>(out.data() + written);
      z.avail_in = static_cast<uInt>(in);
      z.avail_out = static_cast<uInt>(room);
      status = inflate(&z, Z_NO_FLUSH);
      read += in - z.avail_in;
      written += room - z.avail_out;
    }
    inflateEnd(&z);
    return status == Z_STREAM_END && written == size;
  }

 public:
  static std::uint64_t checksum(std::string_view bytes) {
    uLong crc = crc32(0, nullptr, 0);
    for (std::uint64_t done = 0; done < bytes.size(); done += piece)
      crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data() + done), static_cast<uInt>(std::min<std::uint64_t>(piece, bytes.size() - done)));
    return crc;
  }

 private:
  std::string_view bytes_, file_;
};

std::string deflate_all(std::string_view bytes) {
  z_stream z{};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) fail_internal("zlib cannot start");
  std::string out;
  std::string buffer(1 << 18, '\0');
  std::uint64_t read = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    const auto in = std::min<std::uint64_t>(piece, bytes.size() - read);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
    z.avail_in = static_cast<uInt>(in);
    z.next_out = reinterpret_cast<Bytef*>(buffer.data());
    z.avail_out = static_cast<uInt>(buffer.size());
    status = deflate(&z, read + in == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    read += in - z.avail_in;
    out.append(buffer.data(), buffer.size() - z.avail_out);
  }
  deflateEnd(&z);
  require(status == Z_STREAM_END, "zlib deflates to the end");
  return out;
}

/// The lowest `width` bytes, at most 8, little endian.
void put(std::string& out, std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i) & 255);
}

/// What the local header and the directory's record have in common, up to the name's length. Sizes stand in zip64 fields.
void put_common(std::string& out, bool deflated, std::uint64_t crc, std::size_t name) {
  put(out, 45, 2);        // version needed: zip64
  put(out, 1 << 11, 2);   // names are UTF-8
  put(out, deflated ? 8 : 0, 2);
  put(out, 0x00210000, 4);  // 1980-01-01: equal arrays give equal archives
  put(out, crc, 4);
  put(out, in_zip64, 4);
  put(out, in_zip64, 4);
  put(out, name, 2);
}

}  // namespace

std::vector<ZipEntry> read_zip(std::string_view archive, std::string_view file) { return Archive(archive, file).entries(); }

void ZipWriter::add(std::string_view name, std::string_view bytes) {
  if (name.size() > std::numeric_limits<std::uint16_t>::max()) fail_input("an entry's name of " + std::to_string(name.size()) + " bytes does not fit a zip archive");
  const std::uint64_t offset = out_.size(), crc = Archive::checksum(bytes);
  const std::string packed = deflate_ ? deflate_all(bytes) : std::string();
  const std::string_view data = deflate_ ? std::string_view(packed) : bytes;
  put(out_, local_signature, 4);
  put_common(out_, deflate_, crc, name.size());
  put(out_, 20, 2);
  out_ += name;
  for (const auto& [value, width] : {std::pair{std::uint64_t{1}, 2}, {16, 2}, {bytes.size(), 8}, {data.size(), 8}}) put(out_, value, width);
  out_ += data;
  put(directory_, central_signature, 4);
  put(directory_, 45, 2);
  put_common(directory_, deflate_, crc, name.size());
  put(directory_, 28, 2);
  put(directory_, 0, 6);  // no comment, first disk, internal attributes
  put(directory_, 0, 4);  // external attributes
  put(directory_, in_zip64, 4);
  directory_ += name;
  for (const auto& [value, width] : {std::pair{std::uint64_t{1}, 2}, {24, 2}, {bytes.size(), 8}, {data.size(), 8}, {offset, 8}}) put(directory_, value, width);
  ++count_;
}

std::string ZipWriter::finish() {
  const std::uint64_t start = out_.size(), end64 = start + directory_.size();
  out_ += directory_;
  put(out_, end64_signature, 4);
  put(out_, end64_size - 12, 8);
  for (const auto& [value, width] : {std::pair{std::uint64_t{45}, 2}, {45, 2}, {0, 4}, {0, 4}, {count_, 8}, {count_, 8}, {directory_.size(), 8}, {start, 8}}) put(out_, value, width);
  put(out_, locator_signature, 4);
  for (const auto& [value, width] : {std::pair{std::uint64_t{0}, 4}, {end64, 8}, {1, 4}}) put(out_, value, width);
  put(out_, end_signature, 4);
  put(out_, 0, 4);
  put(out_, 0xffff, 2);
  put(out_, 0xffff, 2);
  put(out_, in_zip64, 4);
  put(out_, in_zip64, 4);
  put(out_, 0, 2);
  return std::move(out_);
}

}  // namespace plumb::ir
