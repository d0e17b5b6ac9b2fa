#include "fuzz/internal/draws.h"

#include <algorithm>

#include "ir/tensor/op_table.h"

namespace plumb::fuzz {
namespace {

using ir::Ints;
using ir::Type;
using ir::ValueId;

/// An operation, and its operands behind x by a letter each: x its type, b bools of its shape, c one a channel (axis 1),
/// t one an element of the axes from `axis` on, a one an element of the last axis, k a key of random numbers.
struct Kind {
  std::string_view op, operands = "";
};
constexpr Kind of_floats[] = {
    {"elu"}, {"selu"}, {"celu"}, {"leaky_relu"}, {"threshold"}, {"hardtanh"}, {"hard_sigmoid"}, {"hard_swish"}, {"softplus"}, {"log_sigmoid"}, {"softsign"}, {"mish"}, {"shrink"}, {"glu"}, {"reciprocal"},
    {"gelu"}, {"silu"}, {"relu"}, {"nan_to_num"}, {"round_decimals"}, {"softmax"}, {"log_softmax"}, {"normalize"}, {"reduce_mean"}, {"var"}, {"var_mean"}, {"logsumexp"}, {"norm"}, {"rms_norm"}, {"rms_norm", "t"},
    {"local_response_norm"}, {"prelu", "x"}, {"addcmul", "xx"}, {"addcdiv", "xx"}, {"lerp", "xx"}, {"mse_loss", "x"}, {"l1_loss", "x"}, {"smooth_l1_loss", "x"}, {"huber_loss", "x"}, {"kl_div", "x"},
    {"binary_cross_entropy", "x"}, {"binary_cross_entropy_with_logits", "x"}, {"cosine_similarity", "x"}, {"cdist", "x"}, {"pdist"}, {"batch_norm", "cccc"}, {"batch_norm_training", "cc"}, {"instance_norm", "cc"},
    {"group_norm", "cc"}, {"group_norm"}, {"layer_norm", "tt"}, {"avg_pool"}, {"lp_pool"}, {"max_pool"}, {"adaptive_avg_pool"}, {"pixel_shuffle"}, {"dropout", "k"}, {"rfft"}, {"scaled_dot_product_attention", "xx"},
};
constexpr Kind of_any[] = {
    {"any"}, {"all"}, {"count_nonzero"}, {"logical_and", "x"}, {"logical_or", "x"}, {"logical_xor", "x"}, {"logical_not"}, {"triu"}, {"tril"}, {"diagonal"}, {"roll"}, {"repeat"}, {"reflection_pad"},
    {"replication_pad"}, {"circular_pad"}, {"clamp", "xx"}, {"addmm", "xx"}, {"matmul", "x"}, {"masked_scatter", "bx"}, {"im2col"},
};
constexpr Kind of_complex[] = {{"angle"}, {"conj"}, {"real"}, {"imag"}, {"fft"}, {"ifft"}, {"irfft"}, {"reciprocal"}, {"addcmul", "xx"}, {"matmul", "x"}};
constexpr Kind of_keys[] = {{"randint"}, {"randperm"}};

class Drawing {
 public:
  Drawing(const Draws& d, ValueId x) : d_(d), x_(x), t_(d.b.type(x)) {}

  std::vector<ValueId> any() {
    if (d_.choose(12) == 0) return keyed();
    if (is_complex(t_.dtype) && d_.choose(2)) return of(of_complex[d_.choose(std::size(of_complex))]);
    if (is_float(t_.dtype) && d_.choose(4)) return of(of_floats[d_.choose(std::size(of_floats))]);
    return of(of_any[d_.choose(std::size(of_any))]);
  }

  std::vector<ValueId> positions() {
    if (t_.rank() == 0 || t_.elements() == 0) return {};
    const auto axis = d_.choose(t_.rank());
    const auto n = t_.shape[axis].size();
    ir::AttrMap a;
    static constexpr const char* modes[] = {"replace", "add", "mul", "max", "min"};
    switch (d_.choose(4)) {
      case 0: {
        ir::Shape at = t_.shape;
        at[axis] = 1 + static_cast<std::int64_t>(d_.choose(5));
        a.set("axis", static_cast<std::int64_t>(axis));
        return made("gather_elements", {x_, d_.indices(at, 0, n)}, std::move(a));
      }
      case 1: {
        ir::Shape at = t_.shape;
        for (auto& s : at) s = 1 + static_cast<std::int64_t>(d_.choose(static_cast<std::uint64_t>(s.size())));
        a.set("axis", static_cast<std::int64_t>(axis)), a.set("mode", std::string(modes[d_.choose(std::size(modes))]));
        return made("scatter_elements", {x_, d_.indices(at, 0, n), d_.like({t_.dtype, at})}, std::move(a));
      }
      case 2:
        a.set("axes", Ints{static_cast<std::int64_t>(axis)});
        return made("advanced_index", {x_, d_.indices({1 + static_cast<std::int64_t>(d_.choose(3)), 2}, -n, n)}, std::move(a));
      default: {
        const std::int64_t count = 1 + static_cast<std::int64_t>(d_.choose(4));
        ir::Shape updates = t_.shape;
        updates[axis] = count;
        a.set("axes", Ints{static_cast<std::int64_t>(axis)}), a.set("mode", std::string(modes[d_.choose(2)]));
        return made("index_put", {x_, d_.like({t_.dtype, updates}), d_.indices({count}, -n, n)}, std::move(a));
      }
    }
  }

 private:
  std::vector<ValueId> keyed() {
    const auto& k = of_keys[d_.choose(std::size(of_keys))];
    return made(k.op, {d_.like({DType::u64, {2}})}, filled(ir::op(k.op)));
  }
  std::vector<ValueId> of(const Kind& k) {
    auto a = filled(ir::op(k.op));
    std::vector<ValueId> in{x_};
    for (const char letter : k.operands) {
      Type t = t_;
      if (letter == 'b') t.dtype = DType::boolean;
      if (letter == 'k') t = {DType::u64, {2}};
      if (letter == 'c' && t_.rank() > 1) t.shape = {t_.shape[1]};
      if (letter == 't' && t_.rank() > 0) t.shape = ir::Shape(t_.shape.begin() + a.integer("axis"), t_.shape.end());
      in.push_back(d_.like(t));
    }
    return made(k.op, std::move(in), std::move(a));
  }

  std::int64_t small(std::int64_t low, std::int64_t high) { return low + static_cast<std::int64_t>(d_.choose(static_cast<std::uint64_t>(high - low + 1))); }
  std::int64_t axis() { return t_.rank() == 0 ? 0 : static_cast<std::int64_t>(d_.choose(t_.rank())); }
  Ints several(std::size_t count, std::int64_t low, std::int64_t high) {
    Ints r(count);
    for (auto& v : r) v = small(low, high);
    return r;
  }
  /// Values for the attributes, by their names; those of other names keep their defaults, real ones now and then.
  ir::AttrMap filled(ir::OpCode op) {
    ir::AttrMap a;
    const auto spatial = t_.rank() < 2 ? 1 : 1 + d_.choose(std::min<std::size_t>(t_.rank() - 1, 3));
    const auto chosen = draw_axes(d_.choose, t_.rank());
    const bool pads = !std::ranges::any_of(ir::attr_specs(op), [](const auto& s) { return s.name == "kernel"; });
    for (const auto& s : ir::attr_specs(op)) {
      if (s.kind == ir::AttrKind::boolean) a.set(s.name, d_.choose(2) == 1);
      else if (s.kind == ir::AttrKind::shape) a.set(s.name, t_.shape);
      else if (s.kind == ir::AttrKind::dtype) a.set(s.name, DType::i64);
      else if (s.kind == ir::AttrKind::real && (s.fallback.empty() || d_.choose(3) == 0)) a.set(s.name, static_cast<double>(small(-2, 8)) / 4);
      else if (s.kind == ir::AttrKind::integer) integer(s, a);
      else if (s.kind == ir::AttrKind::ints) ints(s.name, a, spatial, chosen, pads);
      else if (s.name == "reduction") a.set("reduction", std::string(d_.choose(2) ? "sum" : "none"));
      else if (s.name == "norm") a.set("norm", std::string(d_.choose(2) ? "ortho" : "forward"));
    }
    return a;
  }
  void integer(const ir::AttrSpec& s, ir::AttrMap& a) {
    const auto name = s.name;
    if (name.starts_with("axis")) a.set(name, axis());
    else if (name == "length") a.set(name, t_.rank() ? 2 * (t_.shape.back().size() - 1) + small(0, 1) : 1);
    else if (name == "low" || name == "offset" || name == "diagonal" || name == "decimals") a.set(name, small(-2, 2));
    else if (s.fallback.empty()) a.set(name, small(1, 4));
  }
  void ints(std::string_view n, ir::AttrMap& a, std::size_t spatial, const Ints& chosen, bool pads) {
    if (n == "axes") a.set(n, chosen);
    else if (n == "shifts") a.set(n, several(chosen.size(), -3, 3));
    else if (n == "repeats") a.set(n, several(t_.rank() + d_.choose(2), 0, 2));
    else if (n == "low" || n == "high") a.set(n, pads ? several(t_.rank(), -1, 2) : several(spatial, 0, 1));
    else if (n == "kernel" || n == "stride" || n == "dilation") a.set(n, several(spatial, 1, n == "dilation" ? 2 : 3));
    else if (n == "size") a.set(n, several(spatial, 1, 4));
  }

  std::vector<ValueId> made(std::string_view name, std::vector<ValueId> in, ir::AttrMap a) { return draw_made(d_, name, std::move(in), std::move(a)); }

  const Draws& d_;
  ValueId x_;
  Type t_;
};

}  // namespace

std::vector<ValueId> draw_made(const Draws& d, std::string_view name, std::vector<ValueId> in, ir::AttrMap a) {
  const auto op = ir::op(name);
  auto complete = a;
  if (ir::complete_attrs(op, complete)) return {};
  std::vector<Type> types;
  for (auto v : in) types.push_back(d.b.type(v));
  const auto results = ir::infer(op, types, complete);
  if (!std::holds_alternative<std::vector<Type>>(results)) return {};
  for (const auto& t : std::get<std::vector<Type>>(results))
    if (t.elements() > d.most) return {};
  return d.b.add(name, in, std::move(a));
}

std::vector<ValueId> draw(const Draws& d, ValueId x) { return Drawing(d, x).any(); }
std::vector<ValueId> draw_positions(const Draws& d, ValueId x) { return Drawing(d, x).positions(); }

}  // namespace plumb::fuzz
