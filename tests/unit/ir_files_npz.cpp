// .npz against archives that NumPy wrote, and against damaged ones.
#include <gtest/gtest.h>

#include <cstdio>

#include "ir/files/npz.h"
#include "ir/files/zip.h"
#include "ir/tensor/text.h"

using namespace plumb;
using namespace plumb::ir;

namespace {

std::string unhex(std::string_view digits) {
  std::string out;
  for (std::size_t i = 0; i < digits.size(); i += 2) out += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return out;
}

// a=np.arange(3, dtype=np.float32), b=np.ones((2, 2), np.int16), by np.savez and np.savez_compressed.
const std::string numpy_stored = unhex(
    "504b03042d000000000000002100b68c8653ffffffffffffffff05001400612e6e7079010010008c000000000000008c00000000000000934e554d5059010076007b276465736372273a20"
    "273c6634272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028332c292c207d20202020202020202020202020202020202020202020202020202020"
    "20202020202020202020202020202020202020202020202020202020202020200a000000000000803f00000040504b03042d0000000000000021006084363cffffffffffffffff05001400"
    "622e6e70790100100088000000000000008800000000000000934e554d5059010076007b276465736372273a20273c6932272c2027666f727472616e5f6f72646572273a2046616c73652c"
    "20277368617065273a2028322c2032292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "20200a0100010001000100504b01022d032d000000000000002100b68c86538c0000008c000000050000000000000000000000800100000000612e6e7079504b01022d032d000000000000"
    "0021006084363c88000000880000000500000000000000000000008001c3000000622e6e7079504b0506000000000200020066000000820100000000");
const std::string numpy_deflated = unhex(
    "504b03042d000000080000002100b68c8653ffffffffffffffff05001400612e6e7079010010008c000000000000004b000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5"
    "a06e9366a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91ac63a9a3a0ab50a14002e063068b007120e00504b03042d0000000800000021006084363cffff"
    "ffffffffffff05001400622e6e70790100100088000000000000004a000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a4aea3a09e965f54529498179f5f9492"
    "0a12774bcc294e058a17672416a402f91a463a0a469a3a0ab50a64032e4606080400504b01022d032d000000080000002100b68c86534b0000008c00000005000000000000000000000080"
    "0100000000612e6e7079504b01022d032d0000000800000021006084363c4a00000088000000050000000000000000000000800182000000622e6e7079504b050600000000020002006600"
    "0000030100000000");

std::string shown(const NamedLiterals& arrays) {
  std::string s;
  for (const auto& [name, l] : arrays) s += name + "=" + l.type().str() + " " + print_literal(l) + ";";
  return s;
}

std::string error_of(std::string_view bytes) {
  try {
    read_npz(bytes, "a.npz");
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input) << e.what();
    return e.what();
  }
  return "no error";
}

std::string zip_of(std::initializer_list<ZipEntry> entries, bool deflate = false) {
  ZipWriter z(deflate);
  for (const auto& e : entries) z.add(e.name, e.bytes);
  return z.finish();
}

}  // namespace

TEST(Npz, ReadsWhatNumPyWrites) {
  for (const auto& archive : {numpy_stored, numpy_deflated}) EXPECT_EQ(shown(read_npz(archive, "a.npz")), "a=f32[3] [0, 1, 2];b=i16[2,2] splat 1;");
}

TEST(Npz, WritingAndReadingIsTheIdentity) {
  const auto arrays = read_npz(numpy_stored, "a.npz");
  for (const auto compression : {Compression::stored, Compression::deflated}) {
    EXPECT_EQ(read_npz(write_npz(arrays, compression), "b.npz"), arrays);
    EXPECT_EQ(write_npz(arrays, compression), write_npz(arrays, compression));
  }
  EXPECT_TRUE(read_npz(write_npz({}), "empty.npz").empty());
  const std::string path = testing::TempDir() + "plumb_npz_test.npz";
  save_npz(path, arrays, Compression::deflated);
  EXPECT_EQ(load_npz(path), arrays);
  std::remove(path.c_str());
}

TEST(Npz, BareBytesTakeTheDtypeSaid) {
  const std::uint8_t bits[] = {0x38};
  const std::int64_t one[] = {1};
  const NamedLiterals arrays{{"w", Literal::of<std::uint8_t>(DType::f8e5m2, one, bits)}};
  EXPECT_EQ(read_npz(write_npz(arrays), "a.npz", {{"w", DType::f8e5m2}}), arrays);
  EXPECT_EQ(error_of(write_npz(arrays)), "a.npz/w.npy: descr '<V1' is a bare byte; say which dtype it is (f8e4m3fn or f8e5m2)");
}

TEST(Npz, LargeEntriesDeflateInPieces) {
  std::string bytes(3000000, '\0');
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < bytes.size() / 2; ++i) bytes[i] = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  const auto entries = read_zip(zip_of({{"x", bytes}, {"y", ""}}, true), "a.zip");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_TRUE(entries[0].bytes == bytes);
  EXPECT_EQ(entries[1].bytes, "");
}

TEST(Npz, BadArchivesAreBadInput) {
  EXPECT_EQ(error_of(""), "a.npz: not a zip archive: it is too short");
  EXPECT_EQ(error_of(std::string(100, 'x')), "a.npz: not a zip archive: it has no end record");
  EXPECT_EQ(error_of(zip_of({{"notes.txt", "x"}})), "a.npz/notes.txt: an entry of an .npz archive is named like x.npy");
  EXPECT_EQ(error_of(zip_of({{"x.npy", "x"}})), "a.npz/x.npy: not a .npy file: it does not start with \\x93NUMPY");
  const auto arrays = read_npz(numpy_stored, "a.npz");
  EXPECT_EQ(error_of(write_npz({arrays[0], arrays[0]})), "a.npz/a.npy: the archive has two arrays of this name");
  std::string damaged = numpy_stored;
  damaged[150] ^= 1;
  EXPECT_EQ(error_of(damaged), "a.npz: 'a.npy' is damaged: its checksum differs");
}

TEST(Npz, EveryTruncationAndEveryFlippedByteIsReadOrRefused) {
  for (const auto& good : {numpy_stored, numpy_deflated, write_npz(read_npz(numpy_stored, "a"), Compression::deflated)}) {
    for (std::size_t n = 0; n < good.size(); ++n) {
      EXPECT_NE(error_of(good.substr(0, n)), "no error") << n;
      for (const int flip : {1, 16, 128, 255}) {
        std::string bad = good;
        bad[n] = static_cast<char>(good[n] ^ flip);
        error_of(bad);
      }
    }
  }
}
