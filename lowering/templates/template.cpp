#include "lowering/templates/template.h"

#include <cmath>

#include "ir/scalar/storage.h"
#include "ir/tensor/op_table.h"
#include "lowering/templates/grid.h"

namespace plumb::lowering {

using ir::OpClass;
using ir::ValueId;

namespace {

bool is_anchor(const ir::Node& n) {
  switch (ir::row(n.op).op_class) {
    case OpClass::reduce:
    case OpClass::arg_reduce:
    case OpClass::window:
    case OpClass::scan:
    case OpClass::sort:
    case OpClass::scatter:
    case OpClass::contract: return true;
    default: return false;
  }
}

/// Marks pairs of axes that a broadcast of the result's shape tells apart.
void split_by_broadcast(const ir::Function& f, const ir::Node& n, std::vector<bool>& merge) {
  const auto& out = f.type(n.results[0]).shape;
  const auto& in = f.type(n.operands[0]).shape;
  const auto& dims = n.attrs.ints("dims");
  std::vector<bool> read(out.size(), false);
  for (std::size_t k = 0; k < dims.size(); ++k) read[static_cast<std::size_t>(dims[k])] = in[k] != ir::Dim(1);
  for (std::size_t d = 0; d + 1 < out.size(); ++d)
    if (out[d] != ir::Dim(1) && out[d + 1] != ir::Dim(1) && (read[d] || read[d + 1])) merge[d] = false;
}

void visit_result_shape(const ir::Function& f, ValueId v, int anchor, std::vector<bool>& merge, std::vector<bool>& seen) {
  if (seen[static_cast<std::size_t>(v)]) return;
  seen[static_cast<std::size_t>(v)] = true;
  const auto node = f.value(v).node;
  if (node < 0 || node == anchor) return;
  const auto& n = f.nodes[static_cast<std::size_t>(node)];
  const auto& row = ir::row(n.op);
  switch (row.op_class) {
    case OpClass::elementwise:
    case OpClass::convert:
    case OpClass::select:
      for (auto o : n.operands) visit_result_shape(f, o, anchor, merge, seen);
      return;
    case OpClass::source:
      if (row.name != "iota") return;
      break;
    case OpClass::view:
      if (row.name == "broadcast") return split_by_broadcast(f, n, merge);
      break;
    default: break;
  }
  merge.assign(merge.size(), false);
}

}  // namespace

KernelContext::KernelContext(std::shared_ptr<const ir::Function> s, const Options& o)
    : spec(*s), options(o), kernel(std::make_shared<kir::Kernel>()), b(*kernel), e(b, *s, o.contract), root(s->results.at(0)), shape(s->type(s->results[0]).extents()) {
  kernel->spec = s;
  kernel->correctly_rounded = o.contract == Contract::strict;
  for (std::size_t i = 0; i < spec.nodes.size(); ++i)
    if (is_anchor(spec.nodes[i])) {
      require(anchor < 0, "a kernel's specification has one anchor");
      anchor = static_cast<int>(i);
    }
}

std::vector<bool> mergeable_axes(const ir::Function& spec, int anchor) {
  const auto root = spec.results.at(0);
  std::vector<bool> merge(spec.type(root).rank() ? spec.type(root).rank() - 1 : 0, true), seen(spec.values.size(), false);
  visit_result_shape(spec, root, anchor, merge, seen);
  return merge;
}

void KernelContext::place(const Joins& joins) {
  auto make = [&](ValueId v, bool out) {
    Placed p;
    p.shape = spec.type(v).extents();
    Extents extents;
    for (std::size_t d = 0; d < p.shape.size(); ++d) {
      const bool join = d > 0 && joins(v, d);
      p.merged.push_back(d == 0 ? 0 : p.merged.back() + !join);
      if (join) extents.back() *= p.shape[d];
      else extents.push_back(p.shape[d]);
    }
    p.buffer = out ? b.output("out", spec.type(v).dtype, extents) : b.input(spec.value(v).name, spec.type(v).dtype, extents);
    return p;
  };
  for (auto v : spec.params) e.place(v, make(v, false));
  output = make(root, true);
}

void KernelContext::place_buffers(const std::vector<bool>& merge) {
  place([&](ValueId v, std::size_t d) { return spec.type(v).shape == spec.type(root).shape && merge[d - 1]; });
}

void KernelContext::place_contraction(const std::vector<bool>& merge, bool convolution, bool flat) {
  const auto image = anchor_node().operands[0], weights = anchor_node().operands[1];
  place([&](ValueId v, std::size_t d) {
    if (convolution && v == weights) return d >= 2;
    if (convolution && v == image) return d >= 3 && flat;
    return spec.type(v).shape == spec.type(root).shape && merge[d - 1];
  });
}

void KernelContext::finish(const Indices& at, std::optional<ScalarId> anchor_value) {
  if (!anchor_value) return e.store(output, at, e.at(root, at), spec.type(root).dtype);
  const auto result = anchor_node().results[0];
  // Under strict what follows the anchor reads its result as the program has it, rounded; the store rounds the root itself.
  const bool rounds = options.contract == Contract::strict && result != root;
  e.bind(result, rounds ? e.rounded(*anchor_value, spec.type(result).dtype) : *anchor_value);
  e.store(output, at, e.at(root, at), spec.type(root).dtype);
  e.unbind(result);
}

int KernelContext::declare_reduction(FnId fn, DType acc, std::int64_t terms, std::int64_t height) {
  kernel->reductions.push_back({anchor, fn, acc, false, terms, height});
  return static_cast<int>(kernel->reductions.size()) - 1;
}

namespace {
/// A length near 4,096 that divides n and is a multiple of the width; 4,096 when there is none.
std::int64_t split_length(std::int64_t n, std::int64_t width) {
  for (std::int64_t c = 8192 / width * width; c >= 1024; c -= width)
    if (n % c == 0) return c;
  return 4096;
}
}  // namespace

Affine flat_index(const Indices& index, std::span<const std::int64_t> extents) {
  Affine flat;
  for (std::size_t d = 0; d < index.size(); ++d) flat = flat * extents[d] + index[d];
  return kir::recombine(flat);
}

Indices output_coordinates(const KernelContext& c) {
  const auto& extents = c.b.info(c.output.buffer).extents;
  const kir::AtomRange ranges = [&](const kir::Atom& a) -> std::optional<kir::Range> {
    if (a.kind != kir::Atom::Kind::coordinate) return std::nullopt;
    return kir::Range{0, extents[static_cast<std::size_t>(a.id)] - 1};
  };
  Indices at(c.shape.size());
  for (std::size_t g = 0; g < extents.size(); ++g) {
    Extents members;
    std::vector<std::size_t> axes;
    for (std::size_t d = 0; d < c.shape.size(); ++d)
      if (c.output.merged[d] == static_cast<int>(g)) members.push_back(c.shape[d]), axes.push_back(d);
    const auto parts = delinearize(Affine::coordinate(static_cast<int>(g)), members, ranges);
    for (std::size_t k = 0; k < axes.size(); ++k) at[axes[k]] = parts[k];
  }
  return at;
}

void for_each_output(KernelContext& c, const std::function<void(const Indices&)>& body, std::int64_t grain) {
  if (c.options.target.grid) return for_each_output_on_grid(c, body);
  const auto& buffer = c.b.info(c.output.buffer);
  Extents loops = buffer.extents;
  const std::int64_t total = element_count(loops);
  // A short last axis wastes lanes: run one flat loop and delinearise instead.
  const bool flat = loops.empty() || (loops.size() > 1 && loops.back() * 2 < c.width() && total >= 2 * c.width());
  if (flat) loops = Extents{total};
  kir::OutputMap map{c.output.buffer, {}};
  std::vector<Affine> vars(loops.size());
  auto element = [&] {
    Indices at(c.shape.size());
    if (flat) {
      at = delinearize(vars[0], c.shape, c.b.ranges());
    } else {
      for (std::size_t g = 0; g < loops.size(); ++g) {
        Extents members;
        std::vector<std::size_t> axes;
        for (std::size_t d = 0; d < c.shape.size(); ++d)
          if (c.output.merged[d] == static_cast<int>(g)) members.push_back(c.shape[d]), axes.push_back(d);
        const auto parts = delinearize(vars[g], members, c.b.ranges());
        for (std::size_t k = 0; k < axes.size(); ++k) at[axes[k]] = parts[k];
      }
    }
    c.e.enter_block();
    body(at);
  };
  auto coordinate = [&](std::size_t g) {
    if (!flat) return Affine::coordinate(static_cast<int>(g));
    Affine r;
    const auto strides = row_major_strides(buffer.extents);
    for (std::size_t d = 0; d < buffer.extents.size(); ++d) r = r + Affine::coordinate(static_cast<int>(d)) * strides[d];
    return r;
  };
  const std::int64_t inner = loops.back() - (c.options.fault == Fault::tail_mask && loops.back() % c.width() > 1 ? 1 : 0);
  const std::int64_t chunk = grain ? grain : split_length(inner, c.width());
  auto innermost = [&] {
    const std::size_t g = loops.size() - 1;
    if (inner <= (grain ? 1 : 2) * chunk) {
      c.b.loop("i", inner, kir::LoopKind::vector, [&](Affine i) {
        map.inverse.emplace_back(loop_var(i), coordinate(g));
        vars[g] = i;
        element();
      }, c.width());
      return;
    }
    c.b.loop("p", (inner + chunk - 1) / chunk, kir::LoopKind::parallel, [&](Affine p) {
      map.inverse.emplace_back(loop_var(p), kir::floor_div(coordinate(g), chunk));
      c.b.loop("i", chunk, kir::LoopKind::vector, [&](Affine i) {
        map.inverse.emplace_back(loop_var(i), kir::mod(coordinate(g), chunk));
        vars[g] = p * chunk + i;
        if (inner % chunk == 0) element();
        else c.b.when({kir::below(vars[g], inner)}, element);
      }, c.width());
    });
  };
  std::function<void(std::size_t)> nest = [&](std::size_t g) {
    if (g + 1 == loops.size()) return innermost();
    c.b.loop("o" + std::to_string(g), loops[g], kir::LoopKind::parallel, [&](Affine o) {
      map.inverse.emplace_back(loop_var(o), coordinate(g));
      vars[g] = o;
      nest(g + 1);
    });
  };
  nest(0);
  c.kernel->output_maps.push_back(std::move(map));
}

double reduction_identity(FnId fn, DType t) {
  if (fn == fn_id<scalar::Mul> || fn == fn_id<scalar::And>) return is_bool(t) || fn == fn_id<scalar::Mul> ? 1 : -1;
  if (fn == fn_id<scalar::Maximum> || fn == fn_id<scalar::Minimum>) {
    const double sign = fn == fn_id<scalar::Maximum> ? -1 : 1;
    if (is_float(t)) return sign * (row(t).has_inf ? HUGE_VAL : decode_float(t, encode_float(t, 0x1p100)));
    if (is_bool(t)) return sign > 0;
    const bool least = sign < 0;
    if (is_unsigned(t)) return least ? 0 : std::ldexp(1.0, row(t).precision) - 1;
    return least ? -std::ldexp(1.0, row(t).precision) : std::ldexp(1.0, row(t).precision) - 1;
  }
  return 0;
}

std::shared_ptr<const kir::Kernel> lower_kernel(std::shared_ptr<const ir::Function> spec, const std::string& name, const Options& options) {
  KernelContext c(spec, options);
  c.kernel->name = name;
  if (c.anchor < 0) {
    const auto node = spec->value(c.root).node;
    const bool concat = node >= 0 && ir::name(spec->nodes[static_cast<std::size_t>(node)]) == "concat";
    concat ? lower_concat(c) : lower_pointwise(c);
    return c.kernel;
  }
  switch (ir::row(c.anchor_node().op).op_class) {
    case OpClass::reduce: lower_reduce(c); break;
    case OpClass::arg_reduce: lower_arg_reduce(c); break;
    case OpClass::window: lower_window(c); break;
    case OpClass::scan: lower_scan(c); break;
    case OpClass::sort: lower_sort(c); break;
    case OpClass::scatter: lower_scatter(c); break;
    case OpClass::contract: lower_contraction(c); break;
    default: fail_internal("no template for " + std::string(ir::name(c.anchor_node())));
  }
  return c.kernel;
}

}  // namespace plumb::lowering
