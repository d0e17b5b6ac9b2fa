// .npy against bytes that NumPy 2 and ml_dtypes wrote, and against files that lie.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdio>

#include "ir/files/files.h"
#include "ir/files/npy.h"
#include "ir/tensor/text.h"

using namespace plumb;
using namespace plumb::ir;
using namespace std::string_literals;

namespace {

/// As np.save lays it out: magic, version, header padded so that the data starts at a multiple of 64.
std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
  const std::size_t start = version == 1 ? 10 : 12;
  std::string header = dictionary;
  header.resize((start + dictionary.size() + 1 + 63) / 64 * 64 - start - 1, ' ');
  header += '\n';
  std::string out = "\x93NUMPY"s + static_cast<char>(version) + '\0' + static_cast<char>(header.size()) + '\0';
  if (version > 1) out += "\0\0"s;
  return out + header + data;
}

std::string header(const std::string& descr, const std::string& shape, const char* fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

std::string error_of(std::string_view bytes, std::optional<DType> bare = {}) {
  try {
    read_npy(bytes, "a.npy", bare);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input) << e.what();
    return e.what();
  }
  return "no error";
}

std::string shown(const std::string& bytes, std::optional<DType> bare = {}) {
  const auto l = read_npy(bytes, "a.npy", bare);
  return l.type().str() + " " + print_literal(l);
}

}  // namespace

TEST(Npy, WritesWhatNumPyWrites) {
  const float f[] = {0, 1, 2, 3, 4, 5};
  const std::int64_t two_three[] = {2, 3}, two[] = {2}, none[] = {0, 3};
  const std::string data = "\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40"s;
  EXPECT_EQ(write_npy(Literal::of<float>(DType::f32, two_three, f)), npy(header("<f4", "(2, 3)"), data));
  const std::uint8_t b[] = {1, 0};
  EXPECT_EQ(write_npy(Literal::of<std::uint8_t>(DType::boolean, two, b)), npy(header("|b1", "(2,)"), "\1\0"s));
  const std::uint16_t half[] = {0x3e00};
  EXPECT_EQ(write_npy(Literal::of<std::uint16_t>(DType::f16, {}, half)), npy(header("<f2", "()"), "\0\x3e"s));
  EXPECT_EQ(write_npy(Literal::of<std::uint64_t>(DType::u64, none, {})), npy(header("<u8", "(0, 3)"), ""));
  const std::uint16_t bf[] = {0x3f80, 0x4020};
  EXPECT_EQ(write_npy(Literal::of<std::uint16_t>(DType::bf16, two, bf)), npy(header("<V2", "(2,)"), "\x80\x3f\x20\x40"s));
  const float complex[] = {1, -2};
  EXPECT_EQ(write_npy(Literal::of<float>(DType::f32, two, complex).viewed_as({DType::c64, {}})), npy(header("<c8", "()"), "\0\0\x80\x3f\0\0\0\xc0"s));
  const std::uint8_t f8[] = {0x38, 0x42};
  EXPECT_EQ(write_npy(Literal::of<std::uint8_t>(DType::f8e4m3fn, two, f8)), npy(header("<V1", "(2,)"), "\x38\x42"s));
}

TEST(Npy, ReadsWhatNumPyWrites) {
  EXPECT_EQ(shown(npy(header("<i2", "(2, 3)", "True"), "\0\0\3\0\1\0\4\0\2\0\5\0"s)), "i16[2,3] [0, 1, 2, 3, 4, 5]");
  EXPECT_EQ(shown(npy(header("|i1", "(2,)"), "\0\1"s, 2)), "i8[2] [0, 1]");
  EXPECT_EQ(shown(npy(header("|i1", "(2,)"), "\0\1"s, 3)), "i8[2] [0, 1]");
  EXPECT_EQ(shown(npy(header("<V2", "(2,)"), "\x80\x3f\x20\x40"s)), "bf16[2] [1, 2.5]");
  EXPECT_EQ(shown(npy(header("|V1", "(2,)"), "\x38\x42"s), DType::f8e4m3fn), "f8e4m3fn[2] [1, 2.5]");
  EXPECT_EQ(shown(npy(header("bfloat16", "(1,)"), "\x80\x3f"s)), "bf16[1] [1]");
  EXPECT_EQ(shown(npy(header("|b1", "(3,)"), "\0\1\7"s)), "bool[3] [false, true, true]");
  EXPECT_EQ(shown(npy("{'shape':(2,),\"descr\":'<u2','fortran_order':True}", "\1\0\2\0"s)), "u16[2] [1, 2]");
  EXPECT_EQ(shown(npy(header(">u1", "()"), "\5")), "u8[] 5");
  EXPECT_EQ(shown(npy(header("<c8", "(2,)"), "\0\0\x80\x3f\0\0\0\xc0\0\0\xc0\x7f\0\0\x80\x7f"s)), "c64[2] [(1, -2), (nan, inf)]");
  EXPECT_EQ(shown(npy(header("<c16", "(1,)"), "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\xc0"s)), "c128[1] [(1, -2)]");
}

TEST(Npy, FortranOrderOfThreeAxes) {
  std::string data;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) data += static_cast<char>((i * 3 + j) * 4 + k);
  const auto l = read_npy(npy(header("|u1", "(2, 3, 4)", "True"), data), "a.npy");
  for (int i = 0; i < 24; ++i) EXPECT_EQ(l.data<std::uint8_t>()[i], i);
}

TEST(Npy, LyingFilesAreBadInput) {
  const std::string good = npy(header("<f4", "(2,)"), "12345678");
  EXPECT_EQ(error_of(good), "no error");
  EXPECT_EQ(error_of(""), "a.npy: not a .npy file: it does not start with \\x93NUMPY");
  EXPECT_EQ(error_of("\x93NUMPY\1"), "a.npy: the file ends in its first 10 bytes");
  EXPECT_EQ(error_of("\x93NUMPY\2\0\0\0"s), "a.npy: the file ends in its header");
  EXPECT_EQ(error_of("\x93NUMPY\7\0\0\0"s), "a.npy: version 7 of .npy is not known; 1, 2 and 3 are");
  EXPECT_EQ(error_of("\x93NUMPY\1\0\xff\xff"s), "a.npy: the header of 65535 bytes goes beyond the file's end");
  EXPECT_EQ(error_of(good.substr(0, good.size() - 1)), "a.npy: the header says f32[2], 8 bytes, but 7 follow");
  EXPECT_EQ(error_of(good + "x"), "a.npy: the header says f32[2], 8 bytes, but 9 follow");
  EXPECT_EQ(error_of(npy(header("<f4", "(1000000000000,)"), "")), "a.npy: the header says f32[1000000000000], 4000000000000 bytes, but 0 follow");
  EXPECT_EQ(error_of(npy(header("<f4", "(4294967296, 4294967296)"), "")), "a.npy: the product of the dimensions overflows 64 bits");
  EXPECT_EQ(error_of(npy(header("<f4", "(4611686018427387904,)"), "")), "a.npy: tensor f32[4611686018427387904] is larger than 2^63 bytes");
  EXPECT_EQ(error_of(npy(header("<f4", "(-1,)"), "")), "a.npy: the shape holds what is not a size of 63 bits");
  EXPECT_EQ(error_of(npy(header("<f4", "(99999999999999999999,)"), "")), "a.npy: the shape holds what is not a size of 63 bits");
  EXPECT_EQ(error_of(npy(header("<f4", "(1,1,1,1,1,1,1,1,1,1,1,1,1)"), "1234")), "a.npy: rank above 12 is not supported");
  EXPECT_EQ(error_of(npy(header(">f4", "(2,)"), "12345678")), "a.npy: descr '>f4' is big endian; save array.astype('<f4')");
  EXPECT_EQ(error_of(npy(header("|O", "(2,)"), "12345678")), "a.npy: descr '|O' is an array of pickled objects, which is never read");
  EXPECT_EQ(error_of(npy(header("<f16", "(1,)"), "0123456789abcdef")).substr(0, 43), "a.npy: descr '<f16' has no dtype here; bool");
  EXPECT_EQ(error_of(npy(header("<V1", "(1,)"), "1")), "a.npy: descr '<V1' is a bare byte; say which dtype it is (f8e4m3fn or f8e5m2)");
  EXPECT_EQ(error_of(npy(header("<V2", "(1,)"), "12"), DType::f32), "a.npy: descr '<V2' cannot be f32: the widths differ");
  EXPECT_EQ(error_of(npy("{'descr': [('a', '<f4')], }", "")), "a.npy: structured arrays have no dtype here; save each field as an array of its own");
  EXPECT_EQ(error_of(npy("{'descr': '<f4', 'descr': '<f4'}", "")), "a.npy: the header has the key 'descr' twice");
  EXPECT_EQ(error_of(npy("{'colour': '<f4'}", "")), "a.npy: the header has the key 'colour', which is none of descr, fortran_order and shape");
  EXPECT_EQ(error_of(npy("{'descr': '<f4'}", "")), "a.npy: the header lacks one of descr, fortran_order and shape");
  EXPECT_EQ(error_of(npy("{'descr: <f4", "")), "a.npy: the header has a string without an end");
  EXPECT_EQ(error_of(npy(header("<f4", "(2,)", "Maybe"), "12345678")), "a.npy: fortran_order is neither True nor False");
  EXPECT_EQ(error_of(npy(header("<f4", "(2,)") + "}", "12345678")), "a.npy: the header goes on after its '}'");
}

TEST(Npy, EveryTruncationAndEveryFlippedByteIsReadOrRefused) {
  const std::string good = npy(header("<i4", "(2, 2)"), std::string(16, '\1'));
  for (std::size_t n = 0; n < good.size(); ++n) {
    EXPECT_THROW(read_npy(good.substr(0, n), "a.npy"), Error) << n;
    std::string bad = good;
    for (const int flip : {1, 4, 32, 128}) {
      bad[n] = static_cast<char>(good[n] ^ flip);
      try {
        read_npy(bad, "a.npy");
      } catch (const Error& e) {
        EXPECT_NE(e.kind(), ErrorKind::internal) << e.what();
      }
    }
  }
}

TEST(Npy, WritingAndReadingIsTheIdentity) {
  rc::check([] {
    const auto dtype = static_cast<DType>(*rc::gen::inRange(0, 15));
    Extents extents;
    for (auto d = *rc::gen::inRange(0, 4); d > 0; --d) extents.push_back(*rc::gen::inRange(0, 4));
    Literal l(Type{dtype, to_shape(extents)});
    for (std::int64_t i = 0; i < l.bytes(); ++i) l.mutable_data<std::uint8_t>()[i] = *rc::gen::arbitrary<std::uint8_t>() & (is_bool(dtype) ? 1 : 255);
    RC_ASSERT(read_npy(write_npy(l), "a.npy", dtype) == l);
  });
}

TEST(Files, RawAndNpyOnDisk) {
  const std::string path = testing::TempDir() + "plumb_files_test.bin";
  const std::int32_t elements[] = {1, -2};
  const std::int64_t two[] = {2};
  const auto l = Literal::of<std::int32_t>(DType::i32, two, elements);
  save_raw(path, l);
  EXPECT_EQ(load_raw(path, l.type()), l);
  EXPECT_THROW(load_raw(path, parse_type("i32[3]")), Error);
  save_npy(path, l);
  EXPECT_EQ(load_npy(path), l);
  std::remove(path.c_str());
  try {
    load_npy(path);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input);
    EXPECT_EQ(std::string(e.what()), path + ": No such file or directory");
  }
  EXPECT_THROW(read_file(testing::TempDir()), Error);
  EXPECT_THROW(write_file(testing::TempDir(), "x"), Error);
}
