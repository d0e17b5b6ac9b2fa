// Distances between vectors, and attention. Narrow floats run in f32.
#pragma once
#include <cmath>

#include "ir/tensor/ops/statistics.h"

namespace plumb::ir::ops {

struct Cdist {
  static constexpr OpRow row{"cdist", "x, y", OpClass::composite, "The p-norm of the difference of each vector of x, […, P, M], and each of y, […, R, M]: […, P, R]; leading axes broadcast. The differences are taken element by element, not through a product.", "slope 0 where the distance is 0"};
  static constexpr std::string_view equation = "out[…, i, j] = (sum_k |x[…, i, k] - y[…, j, k]|^p)^(1/p)";
  static constexpr std::array attrs{AttrSpec{"p", AttrKind::real, "2"}};
  static constexpr std::array constraints{Constraint{"C1", "x and y share a float dtype and have 2 to 11 axes."}, Constraint{"C2", "their last axes agree; leading axes broadcast."}, Constraint{"C3", "p is 0 or more."}};
  static constexpr std::array edges{Edge{"E1", "equal large vectors, p = 2", "0 exactly", "PyTorch's product form, from 25 vectors on, gives what cancellation leaves"}, Edge{"E2", "vectors without elements", "0", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const Type &x = in[0], &y = in[1];
    if (x.dtype != y.dtype || !is_float(x.dtype) || std::min(x.rank(), y.rank()) < 2 || std::max(x.rank(), y.rank()) >= max_rank) return no("C1: takes vectors of floats, not " + x.str() + " and " + y.str());
    auto lead = broadcast_shapes(Shape(x.shape.begin(), x.shape.end() - 2), Shape(y.shape.begin(), y.shape.end() - 2));
    if (const auto* why = std::get_if<std::string>(&lead)) return no("C2: " + *why);
    if (x.shape.back() != y.shape.back()) return no("C2: vectors of " + x.shape.back().str() + " and " + y.shape.back().str() + " elements");
    if (!(a.real("p") >= 0)) return no("C3: p is below 0");
    Shape s = std::get<Shape>(lead);
    s.push_back(x.shape[x.rank() - 2]);
    s.push_back(y.shape[y.rank() - 2]);
    return one({x.dtype, s});
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const Type x = w.type(v[0]), y = w.type(v[1]), result = std::get<std::vector<Type>>(infer(std::array{x, y}, a))[0];
      Shape cube = result.shape;
      cube.push_back(x.shape.back());
      if (x.shape.back() == Dim(0)) return {b.broadcast_to(b.scalar(x.dtype, 0), result.shape)};
      const auto axes = static_cast<std::int64_t>(cube.size());
      const auto spread = [&](ValueId t, std::int64_t own) {
        Ints dims;
        const auto rank = static_cast<std::int64_t>(w.rank(t));
        for (std::int64_t d = 0; d < rank - 2; ++d) dims.push_back(axes - 3 - (rank - 2) + d);
        dims.push_back(own);
        dims.push_back(axes - 1);
        return w.broadcast(t, cube, dims);
      };
      return {norm_of(w, w("sub", spread(v[0], axes - 3), spread(v[1], axes - 2)), {axes - 1}, a.real("p"))};
    });
  }
};

struct Pdist {
  static constexpr OpRow row{"pdist", "x", OpClass::composite, "The p-norm of the difference of each two vectors of x, [N, M]: those of 0 with 1, 2, …, then of 1 with 2, …: [N (N - 1) / 2].", "slope 0 where the distance is 0"};
  static constexpr std::string_view equation = "out[pair(i, j)] = (sum_k |x[i, k] - x[j, k]|^p)^(1/p), i < j";
  static constexpr std::array attrs{AttrSpec{"p", AttrKind::real, "2"}};
  static constexpr std::array constraints{Constraint{"C1", "x is a matrix of floats."}, Constraint{"C2", "there are at most 2,048 vectors."}, Constraint{"C3", "p is 0 or more."}};
  static constexpr std::array edges{Edge{"E1", "one vector", "no distance", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (!is_float(in[0].dtype) || in[0].rank() != 2) return no("C1: takes a matrix of floats, not " + in[0].str());
    const auto n = in[0].shape[0].size();
    if (n > 2048) return no("C2: " + std::to_string(n) + " vectors");
    if (!(a.real("p") >= 0)) return no("C3: p is below 0");
    return one({in[0].dtype, {n * (n - 1) / 2}});
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const auto n = w.size(v[0], 0);
      Ints first, second;
      for (std::int64_t i = 0; i < n; ++i)
        for (auto j = i + 1; j < n; ++j) {
          first.push_back(i);
          second.push_back(j);
        }
      if (w.size(v[0], 1) == 0) return {b.broadcast_to(b.scalar(w.type(v[0]).dtype, 0), {static_cast<std::int64_t>(first.size())})};
      return {norm_of(w, w("sub", w.gather(v[0], w.ints(first), 0), w.gather(v[0], w.ints(second), 0)), {1}, a.real("p"))};
    });
  }
};

struct CosineSimilarity {
  static constexpr OpRow row{"cosine_similarity", "x, y", OpClass::composite, "The sum along the axis of x / max(|x|, epsilon) times y / max(|y|, epsilon), |·| the 2-norm along the axis.", "slope of the norm 0 where it is 0"};
  static constexpr std::string_view equation = "out[i] = sum_k (x[i, k] / max(|x[i]|, epsilon)) (y[i, k] / max(|y[i]|, epsilon))";
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}, AttrSpec{"epsilon", AttrKind::real, "1e-08"}};
  static constexpr std::array constraints{Constraint{"C1", "x and y have one float type."}, Constraint{"C2", "axis lies in their rank."}};
  static constexpr std::array edges{Edge{"E1", "a vector of 0", "0", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (in[0] != in[1] || !is_float(in[0].dtype)) return no("C1: takes two tensors of one float type, not " + in[0].str() + " and " + in[1].str());
    if (auto e = check_axis(a.integer("axis"), in[0].rank()); !e.empty()) return no("C2: " + e);
    const std::int64_t axes[] = {a.integer("axis")};
    return one({in[0].dtype, drop(in[0].shape, axes)});
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const Ints axes{a.integer("axis")};
      const auto unit = [&](ValueId t) { return w("div", t, w.spread(w.with("maximum", norm_of(w, t, axes, 2), a.real("epsilon")), axes, t)); };
      return {w.reduce("reduce_sum", w("mul", unit(v[0]), unit(v[1])), axes)};
    });
  }
};

struct Attention {
  static constexpr OpRow row{"scaled_dot_product_attention", "query, key, value, mask...", OpClass::composite,
      "softmax(scale query key^T + mask) value over [batch…, length, width] tensors; scale 0 stands for 1 / sqrt(width). A bool mask keeps the scores where it holds, another is added; causal keeps key j for query i where j <= i. "
      "Where the third axis from the end of query is a multiple of key's and value's, consecutive heads of the query share one. A query that no key is left for gives 0."};
  static constexpr std::string_view equation = "out[i] = sum_j p[i, j] value[j], p[i, j] = exp(s[i, j] - m[i]) / sum_k exp(s[i, k] - m[i]), s[i, j] = scale sum_d query[i, d] key[j, d] + mask[i, j], m[i] = max_j s[i, j]";
  static constexpr std::array attrs{AttrSpec{"causal", AttrKind::boolean, "false"}, AttrSpec{"scale", AttrKind::real, "0"}};
  static constexpr std::array constraints{Constraint{"C1", "query, key and value share a float dtype and a rank of at least 2, and the axes before the last three agree."}, Constraint{"C2", "query and key agree in width, key and value in length and heads."},
      Constraint{"C3", "query's heads are a multiple of key's."}, Constraint{"C4", "there is at most one mask: bool or of query's dtype, broadcast to the scores."}, Constraint{"C5", "there is a key, and a width."}};
  static constexpr std::array edges{Edge{"E1", "a query whose scores are all masked", "0", "PyTorch's fused kernels and, since 2.5, its plain form the same; a softmax of -inf alone gives NaN"}, Edge{"E2", "causal with more queries than keys", "aligned at the first: the last queries see every key", "the same: PyTorch"},
                                    Edge{"E3", "a masked key whose value is NaN", "NaN: its weight 0 is multiplied", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

using DistanceOps = OpList<Cdist, Pdist, CosineSimilarity, Attention>;

}  // namespace plumb::ir::ops
