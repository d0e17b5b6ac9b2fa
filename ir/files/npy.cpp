#include "ir/files/npy.h"

#include <charconv>
#include <cstring>

#include "ir/files/files.h"

namespace plumb::ir {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

struct Header {
  std::string descr;
  bool fortran_order = false;
  Extents shape;
};

/// The header is a Python dictionary of three entries, in any order.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Header read() {
    Header h;
    unsigned seen = 0;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      const unsigned bit = key == "descr" ? 1 : key == "fortran_order" ? 2 : key == "shape" ? 4 : 0;
      if (!bit || (seen & bit)) fail("the header has the key '" + key.substr(0, 40) + (bit ? "' twice" : "', which is none of descr, fortran_order and shape"));
      seen |= bit;
      if (bit == 1) h.descr = descr();
      if (bit == 2) h.fortran_order = boolean();
      if (bit == 4) h.shape = shape();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (seen != 7) fail("the header lacks one of descr, fortran_order and shape");
    skip_blanks();
    if (at_ != text_.size()) fail("the header goes on after its '}'");
    return h;
  }

  [[noreturn]] void fail(const std::string& why) const { fail_input(why, {std::string(file_)}); }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("the header is not a dictionary of Python's: expected '") + c + "' at byte " + std::to_string(at_));
  }
  std::string string() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const auto end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("the header has a string without an end");
    const std::string s(text_.substr(at_, end - at_));
    at_ = end + 1;
    return s;
  }
  std::string descr() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[') fail("structured arrays have no dtype here; save each field as an array of its own");
    return string();
  }
  bool boolean() {
    skip_blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail("fortran_order is neither True nor False");
  }
  Extents shape() {
    Extents extents;
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      std::int64_t size = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) fail("the shape holds what is not a size of 63 bits");
      at_ = static_cast<std::size_t>(end - text_.data());
      if (extents.size() == max_rank) fail("rank above " + std::to_string(max_rank) + " is not supported");
      extents.push_back(size);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return extents;
  }

  std::string_view text_, file_;
  std::size_t at_ = 0;
};

struct DescrRow {
  DType dtype;
  std::string_view descr;
};
constexpr DescrRow descr_rows[] = {
    {DType::boolean, "|b1"}, {DType::i8, "|i1"},  {DType::i16, "<i2"}, {DType::i32, "<i4"}, {DType::i64, "<i8"}, {DType::u8, "|u1"},  {DType::u16, "<u2"},      {DType::u32, "<u4"},
    {DType::u64, "<u8"},     {DType::f16, "<f2"}, {DType::f32, "<f4"}, {DType::f64, "<f8"}, {DType::bf16, "<V2"}, {DType::f8e4m3fn, "<V1"}, {DType::f8e5m2, "<V1"},
    {DType::c64, "<c8"},     {DType::c128, "<c16"},
};

std::string_view descr_of(DType t) {
  for (const auto& r : descr_rows)
    if (r.dtype == t) return r.descr;
  fail_internal("a dtype without a descr");
}

DType dtype_of(const HeaderReader& reader, std::string_view descr, std::optional<DType> bare) {
  const std::string_view shown = descr.substr(0, 40);
  const std::string_view letters = descr.substr(std::min<std::size_t>(descr.find_first_not_of("<|=>"), descr.size()));
  if (letters == "V1" || letters == "V2") {
    const int width = letters[1] - '0';
    if (!bare && width == 2) return DType::bf16;
    if (!bare) reader.fail("descr '" + std::string(shown) + "' is a bare byte; say which dtype it is (f8e4m3fn or f8e5m2)");
    if (byte_size(*bare) != width) reader.fail("descr '" + std::string(shown) + "' cannot be " + std::string(name(*bare)) + ": the widths differ");
    return *bare;
  }
  for (const auto& [word, t] : {std::pair{"bfloat16", DType::bf16}, {"float8_e4m3fn", DType::f8e4m3fn}, {"float8_e5m2", DType::f8e5m2}})
    if (letters == word) return t;
  if (letters.starts_with("O")) reader.fail("descr '" + std::string(shown) + "' is an array of pickled objects, which is never read");
  for (const auto& r : descr_rows) {
    if (r.descr.substr(1) != letters) continue;
    if (descr.starts_with('>') && byte_size(r.dtype) > 1) reader.fail("descr '" + std::string(shown) + "' is big endian; save array.astype('" + std::string(r.descr) + "')");
    return r.dtype;
  }
  reader.fail("descr '" + std::string(shown) + "' has no dtype here; bool, integers, f16, f32, f64, bf16, f8, c64 and c128 have");
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t v = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) v = v << 8 | static_cast<unsigned char>(bytes[i]);
  return v;
}

/// Column-major bytes to row-major ones.
void transpose_into(char* to, std::string_view from, const Extents& shape, std::size_t size) {
  if (from.empty()) return;
  Extents strides(shape.size(), 1);
  for (std::size_t d = 1; d < shape.size(); ++d) strides[d] = strides[d - 1] * shape[d - 1];
  Index index(shape.size());
  do {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) offset += index[d] * strides[d];
    std::memcpy(to, from.data() + static_cast<std::size_t>(offset) * size, size);
    to += size;
  } while (advance(index, shape));
}

}  // namespace

Literal read_npy(std::string_view bytes, std::string_view file, std::optional<DType> bare) {
  const HeaderReader place({}, file);
  if (!bytes.starts_with(magic)) place.fail("not a .npy file: it does not start with \\x93NUMPY");
  if (bytes.size() < 10) place.fail("the file ends in its first 10 bytes");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) place.fail("version " + std::to_string(version) + " of .npy is not known; 1, 2 and 3 are");
  const std::size_t width = version == 1 ? 2 : 4;
  if (bytes.size() < 8 + width) place.fail("the file ends in its header");
  const auto length = little_endian(bytes.substr(8, width));
  if (length > bytes.size() - 8 - width) place.fail("the header of " + std::to_string(length) + " bytes goes beyond the file's end");
  HeaderReader reader(bytes.substr(8 + width, length), file);
  const Header h = reader.read();
  Type type{dtype_of(reader, h.descr, bare), to_shape(h.shape)};
  const std::string_view data = bytes.substr(8 + width + length);
  std::int64_t expected = 0;
  try {
    expected = type.bytes();
  } catch (const Error& e) {
    place.fail(e.what());
  }
  if (static_cast<std::int64_t>(data.size()) != expected)
    place.fail("the header says " + type.str() + ", " + std::to_string(expected) + " bytes, but " + std::to_string(data.size()) + " follow");
  Literal l(type);
  auto* to = l.mutable_data<char>();
  if (h.fortran_order) transpose_into(to, data, h.shape, static_cast<std::size_t>(byte_size(type.dtype)));
  else if (!data.empty()) std::memcpy(to, data.data(), data.size());
  if (is_bool(type.dtype))
    for (std::int64_t i = 0; i < l.elements(); ++i) to[i] = to[i] != 0;
  return l;
}

std::string write_npy(const Literal& l) {
  std::string header = "{'descr': '" + std::string(descr_of(l.dtype())) + "', 'fortran_order': False, 'shape': (";
  const Extents extents = l.extents();
  for (std::size_t d = 0; d < extents.size(); ++d) header += (d ? ", " : "") + std::to_string(extents[d]);
  header += extents.size() == 1 ? ",), }" : "), }";
  header.resize((magic.size() + 4 + header.size() + 1 + 63) / 64 * 64 - magic.size() - 4 - 1, ' ');
  header += '\n';
  std::string out(magic);
  out += {'\1', '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  out += header;
  return out.append(bytes_of(l));
}

Literal load_npy(const std::string& path, std::optional<DType> bare) { return read_npy(read_file(path), path, bare); }
void save_npy(const std::string& path, const Literal& l) { write_file(path, write_npy(l)); }

}  // namespace plumb::ir
