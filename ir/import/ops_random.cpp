// Random numbers: Bernoulli, Dropout in training, Multinomial, RandomNormal, RandomUniform and the Like forms.
//
// ONNX leaves open which numbers these give; here they are those of Plumb's records under a key that the model decides, the
// same on every run and target. A node with a seed has the key (the seed, 0), a float's by its bits, so that equal seeds draw alike,
// as ONNX says; a node without one has (0, its number among such nodes, from 1), so that no two draw alike.
#include <bit>

#include "ir/import/families.h"
#include "ir/import/tensor_proto.h"

namespace plumb::ir::onnx_import {
namespace {

ValueId constant_key(NodeImport& n, std::uint64_t seed, std::uint64_t stream) {
  const std::uint64_t words[] = {seed, stream};
  const std::int64_t two[] = {2};
  return n.b.constant(Literal::of<std::uint64_t>(DType::u64, two, std::span<const std::uint64_t>(words)));
}
ValueId key_of(NodeImport& n) {
  if (n.scope.fn.outer) n.unsupported("random numbers in a branch that the data decides, or in a loop that is not unrolled: each of its steps would draw the same");
  if (n.has_attr("seed")) {
    const bool whole = n.op_type() == "Dropout";
    return constant_key(n, whole ? static_cast<std::uint64_t>(n.integer("seed")) : std::bit_cast<std::uint32_t>(static_cast<float>(n.real("seed", 0))), 0);
  }
  return constant_key(n, 0, n.importer.next_stream());
}

/// The attribute dtype, or the fallback; a float.
DType dtype_of(NodeImport& n, DType fallback) {
  const DType t = n.has_attr("dtype") ? require_dtype(static_cast<int>(n.integer("dtype")), "the result", n.where) : fallback;
  if (!is_float(t)) n.fail("gives floats, not " + std::string(name(t)));
  return t;
}
Shape shape_of(NodeImport& n) {
  const auto sizes = n.int_list("shape");
  if (!sizes) n.fail("has no shape");
  Shape s;
  for (auto d : *sizes) {
    if (d < 0 || d > max_dim) n.fail("the shape has a dimension of size " + std::to_string(d));
    s.push_back(d);
  }
  return s;
}

void normal_of(NodeImport& n, const Shape& shape, DType t) {
  const std::array key{key_of(n)};
  n.out(n.b.op("random_normal", key, attrs({{"shape", shape}, {"dtype", t}, {"mean", n.real("mean", 0)}, {"stddev", n.real("scale", 1)}})));
}
void uniform_of(NodeImport& n, const Shape& shape, DType t) {
  const std::array key{key_of(n)};
  n.out(n.b.op("random_uniform", key, attrs({{"shape", shape}, {"dtype", t}, {"low", n.real("low", 0)}, {"high", n.real("high", 1)}})));
}
DType like_dtype(NodeImport& n) { return n.has_attr("dtype") ? dtype_of(n, DType::f32) : dtype_of(n, n.type_in(0).dtype); }

void random_normal(NodeImport& n) { normal_of(n, shape_of(n), dtype_of(n, DType::f32)); }
void random_uniform(NodeImport& n) { uniform_of(n, shape_of(n), dtype_of(n, DType::f32)); }
void random_normal_like(NodeImport& n) { normal_of(n, n.type_in(0).shape, like_dtype(n)); }
void random_uniform_like(NodeImport& n) { uniform_of(n, n.type_in(0).shape, like_dtype(n)); }

void bernoulli(NodeImport& n) {
  const Type p = n.type_in(0);
  if (!is_float(p.dtype)) n.fail("probabilities are floats, not " + p.str());
  const DType t = n.has_attr("dtype") ? require_dtype(static_cast<int>(n.integer("dtype")), "the result", n.where) : p.dtype;
  n.out(n.b.convert(n.b.op("bernoulli", {n.in(0), key_of(n)}), t));
}

/// ONNX gives logarithms of the weights, each row from its own scale: e to the power of what is left of the greatest.
void multinomial(NodeImport& n) {
  const Type x = n.type_in(0);
  if (x.rank() != 2 || !is_float(x.dtype)) n.fail("takes floats [batch,classes], not " + x.str());
  if (x.shape[1] == Dim(0)) n.fail("there are no classes to choose from");
  const DType t = n.has_attr("dtype") ? require_dtype(static_cast<int>(n.integer("dtype")), "the result", n.where) : DType::i32;
  if (t != DType::i32 && t != DType::i64) n.fail("gives i32 or i64, not " + std::string(name(t)));
  const auto samples = n.integer("sample_size", 1);
  if (samples < 0 || samples > max_dim) n.fail("sample_size is " + std::to_string(samples));
  const auto greatest = n.words().spread(n.reduce("reduce_max", n.in(0), {1}), {1}, n.in(0));
  const std::array in{n.unary("exp", n.b.op("sub", {n.in(0), greatest})), key_of(n)};
  n.out(n.b.convert(n.b.op("multinomial", in, attrs({{"samples", samples}})), t));
}

/// In inference, or where nothing is dropped: the identity, and a mask of all true.
void dropout(NodeImport& n) {
  double ratio = 0;
  if (n.has(2) && n.need_flag(2, "training_mode")) {
    ratio = 0.5;
    if (n.has(1)) {
      const auto given = n.need_reals(1, "the ratio");
      if (given.size() != 1 || !(given[0] >= 0 && given[0] < 1)) n.fail("the ratio must be one number in [0, 1)");
      ratio = given[0];
    }
  }
  if (ratio > 0) {
    const std::array in{n.in(0), key_of(n)};
    const auto r = n.b.add("dropout", in, attrs({{"p", ratio}}));
    n.out(0, r[0]);
    if (n.wants(1)) n.out(1, r[1]);
    return;
  }
  n.out(n.in(0));
  if (n.wants(1)) n.out(1, n.broadcast(n.b.scalar(n.opset >= 10 ? DType::boolean : n.type_in(0).dtype, 1), n.type_in(0).shape, {}));
}

constexpr OpEntry entries[] = {
    {"Bernoulli", 1, 1, bernoulli}, {"Dropout", 1, 3, dropout}, {"Multinomial", 1, 1, multinomial}, {"RandomNormal", 0, 0, random_normal}, {"RandomNormalLike", 1, 1, random_normal_like},
    {"RandomUniform", 0, 0, random_uniform}, {"RandomUniformLike", 1, 1, random_uniform_like},
};
}  // namespace
std::span<const OpEntry> random_family() { return entries; }
}  // namespace plumb::ir::onnx_import
