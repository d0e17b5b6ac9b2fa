// Operators whose results' sizes depend on data, n-grams, regions, and random numbers.
#include <gmock/gmock.h>

#include "import_evaluate.h"
#include "ir/tensor/result_sizes.h"
#include "ir/tensor/text.h"

namespace plumb::onnx_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The model's results as `plumb run` gives them.
std::vector<ir::Literal> exact(const Graph& g, int opset, const std::vector<ir::Literal>& operands) {
  const auto m = import_model(g, opset, operands);
  return ir::exact_results(m.entry(), interp::evaluate(m, operands));
}
std::vector<std::int64_t> shape_of(const ir::Literal& l) {
  const auto e = l.extents();
  return {e.begin(), e.end()};
}
std::vector<double> values(const ir::Literal& l) {
  std::vector<double> r;
  for (std::int64_t i = 0; i < l.elements(); ++i) r.push_back(is_float(l.dtype()) ? load_element(l.dtype(), l.raw(), i) : static_cast<double>(l.int_at(i)));
  return r;
}

/// Large, so that its values are not fixed at import.
ir::Literal large(std::initializer_list<std::pair<int, double>> entries) {
  std::vector<double> v(2000, 0);
  for (const auto& [at, x] : entries) v[static_cast<std::size_t>(at)] = x;
  return reals({2000}, v);
}

TEST(ImportSelection, outputs_are_as_large_as_the_data_say) {
  const auto x = large({{3, 1.5}, {1999, -2}, {7, 1.5}});
  const auto g = Graph().input("x", f32, {2000}).node("NonZero", {"x"}, {"i"}).node("Unique", {"x"}, {"v", "", "inverse", "n"}).output("i").output("v").output("inverse").output("n");
  const auto r = exact(g, 13, {x});
  ASSERT_EQ(r.size(), 4u);
  EXPECT_EQ(shape_of(r[0]), (std::vector<std::int64_t>{1, 3}));
  EXPECT_THAT(values(r[0]), ElementsAre(3, 7, 1999));
  EXPECT_THAT(values(r[1]), ElementsAre(-2, 0, 1.5));
  EXPECT_EQ(shape_of(r[2]), (std::vector<std::int64_t>{2000}));
  EXPECT_THAT(values(r[3]), ElementsAre(1, 1997, 2));
}
TEST(ImportSelection, what_reads_such_a_result_is_unsupported) {
  const auto x = large({{3, 1}});
  const auto g = Graph().input("x", f32, {2000}).node("NonZero", {"x"}, {"i"}).node("Abs", {"i"}, {"y"}).output("y");
  try {
    import_model(g, 13, {x});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    EXPECT_THAT(e.what(), HasSubstr("a tensor whose size depends on data"));
    EXPECT_THAT(e.what(), HasSubstr("Abs"));
  }
}
TEST(ImportSelection, nonzero_of_known_values_gives_sizes_to_read) {
  const auto g = Graph().input("x", i64, {4}).node("NonZero", {"x"}, {"v"}).node("Neg", {"v"}, {"y"}).output("y");
  EXPECT_THAT(values(exact(g, 13, {whole({4}, {0, 3, 0, 3})}).at(0)), ElementsAre(-1, -3));
}

TEST(ImportNgrams, weights_and_modes) {
  // The pool: 2 (column 0), 3 (column 2), and the pair 2 3 (column 3). Column 1 is no n-gram's.
  const auto x = of(DType::i32, {2, 4}, {2, 3, 2, 3, 3, 3, 2, 9});
  const auto run = [&](const char* mode, bool weights, std::int64_t least = 1) {
    std::vector<Message> a{word("mode", mode), integer("min_gram_length", least), integer("max_gram_length", 2), integer("max_skip_count", 1), ints("ngram_counts", {0, 2}), ints("ngram_indexes", {0, 2, 3}), ints("pool_int64s", {2, 3, 2, 3})};
    if (weights) a.push_back(attribute("weights", 6).float32(7, 0.5f).float32(7, 2).float32(7, 4));
    return values_of(9, "TfIdfVectorizer", {x}, a);
  };
  // With no skip 2 3 comes twice in the first row; with one skip never (2 2, 3 3).
  EXPECT_THAT(run("TF", false), ElementsAre(2, 0, 2, 2, 1, 0, 2, 0));
  EXPECT_THAT(run("TF", true), ElementsAre(2, 0, 2, 2, 1, 0, 2, 0));
  EXPECT_THAT(run("IDF", false), ElementsAre(1, 0, 1, 1, 1, 0, 1, 0));
  EXPECT_THAT(run("IDF", true), ElementsAre(0.5, 0, 2, 4, 0.5, 0, 2, 0));
  EXPECT_THAT(run("TFIDF", true), ElementsAre(1, 0, 4, 8, 0.5, 0, 4, 0));
  EXPECT_THAT(run("TF", false, 2), ElementsAre(0, 0, 0, 2, 0, 0, 0, 0));
}

TEST(ImportRegions, max_roi_pool_takes_whole_pixels) {
  std::vector<double> image(36);
  for (std::size_t i = 0; i < 36; ++i) image[i] = static_cast<double>(i);
  // Columns 1 to 4, rows 0 to 5: cells of 3 rows and 2 columns; a region of one pixel; one outside the image.
  const auto rois = reals({3, 5}, {0, 1, 0, 4, 5, 0, 2, 2, 2, 2, 0, 20, 20, 21, 21});
  EXPECT_THAT(values_of(22, "MaxRoiPool", {reals({1, 1, 6, 6}, image), rois}, {ints("pooled_shape", {2, 2})}), ElementsAre(14, 16, 32, 34, 14, 14, 14, 14, 0, 0, 0, 0));
  // Scaled by a half, corners 1 3 6 9 are 0.5 1.5 3 4.5: rounded away from 0, columns 1 to 3 and rows 2 to 5.
  EXPECT_THAT(values_of(22, "MaxRoiPool", {reals({1, 1, 6, 6}, image), reals({1, 5}, {0, 1, 3, 6, 9})}, {ints("pooled_shape", {1, 1}), real("spatial_scale", 0.5f)}), ElementsAre(33));
}

/// What the record gives under a key.
std::vector<double> drawn(const std::string& call, const std::string& type, std::uint64_t seed, std::uint64_t stream) {
  const auto m = ir::parse("func @main() -> (" + type + ") {\n  %k = constant() {value=[" + std::to_string(seed) + "," + std::to_string(stream) + "]} : u64[2]\n  %r = " + call + " : " + type + "\n  return %r\n}\n");
  return values(interp::evaluate(m, {}).at(0));
}

TEST(ImportRandom, nodes_draw_by_their_seed_or_their_number) {
  const auto uniform = "random_uniform(%k) {shape=[5], dtype=f32, low=-1.0, high=3.0}";
  const std::vector<Message> attributes{ints("shape", {5}), real("low", -1), real("high", 3)};
  auto seeded = attributes;
  seeded.push_back(real("seed", 2));
  const auto g = Graph().node("RandomUniform", {}, {"a"}, attributes).node("RandomUniform", {}, {"b"}, attributes).node("RandomUniform", {}, {"c"}, seeded).output("a").output("b").output("c");
  const auto r = evaluate_model(g, 22, {});
  EXPECT_EQ(r[0].values, drawn(uniform, "f32[5]", 0, 1));
  EXPECT_EQ(r[1].values, drawn(uniform, "f32[5]", 0, 2));
  EXPECT_EQ(r[2].values, drawn(uniform, "f32[5]", 0x40000000, 0));
}
TEST(ImportRandom, dtypes_and_parameters) {
  EXPECT_EQ(evaluate_node(22, "RandomNormalLike", {whole({2, 2}, {0, 0, 0, 0})}, {integer("dtype", 11), real("mean", 5), real("scale", 0.5f), real("seed", 2)}).at(0).values,
            drawn("random_normal(%k) {shape=[2,2], dtype=f64, mean=5.0, stddev=0.5}", "f64[2,2]", 0x40000000, 0));
  const auto coins = evaluate_node(22, "Bernoulli", {reals({4}, {0, 1, 0, 1})}, {integer("dtype", 7)}).at(0);
  EXPECT_EQ(coins.dtype, DType::i64);
  EXPECT_THAT(coins.values, ElementsAre(0, 1, 0, 1));
}
TEST(ImportRandom, multinomial_takes_logarithms) {
  // e^-1000 beside e^-1 rounds to nothing, and -inf is nothing.
  const auto r = evaluate_node(22, "Multinomial", {reals({2, 3}, {-1000, -1, -INFINITY, 0, -INFINITY, -INFINITY})}, {integer("sample_size", 4), integer("dtype", 7)}).at(0);
  EXPECT_EQ(r.dtype, DType::i64);
  EXPECT_THAT(r.values, ElementsAre(1, 1, 1, 1, 0, 0, 0, 0));
}
TEST(ImportRandom, dropout_in_training_drops) {
  const auto x = reals({1000}, std::vector<double>(1000, 3));
  const auto r = evaluate_node(22, "Dropout", {x, of(DType::f32, {}, {0.25}), of(DType::boolean, {}, {1})}, {integer("seed", 7)}, 2);
  double kept = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(r[0].values[i], r[1].values[i] != 0 ? 4 : 0);
    kept += r[1].values[i];
  }
  EXPECT_NEAR(kept, 750, 70);   // five standard deviations of sqrt(1000 · 0.25 · 0.75) = 13.7
}

}  // namespace
}  // namespace plumb::onnx_test
