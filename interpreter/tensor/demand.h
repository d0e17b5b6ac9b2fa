// Demand-driven evaluation: the value of a function of primitives at chosen elements, computing only what they need.
//
// Values are asked for as lists of row-major places; views map the places, reductions and contractions expand them. What
// combining, choosing and comparing mean is the domain's (interpreter/tensor/domains.h), so the same walk gives enclosures
// of a random sample of a huge kernel's outputs, and the exact answers of the number systems of verify/number_systems.h.
#pragma once
#include <map>
#include <memory>

#include "interpreter/tensor/dense.h"
#include "interpreter/tensor/terms.h"

namespace plumb::interp {

using Places = std::vector<std::int64_t>;

/// A contraction's element in the Enclosure domain: products may be rounded or fused.
inline Enclosed dot_of(const Enclosure& d, DType t, std::span<const Enclosed> a, std::span<const Enclosed> b, const Accumulation& how) {
  if (!is_float(t)) {
    auto sum = Enclosed::point(t, number(t, 0));
    for (std::size_t k = 0; k < a.size(); ++k) {
      const Enclosed step[] = {a[k], b[k], sum};
      sum = enclose(fn_id<scalar::Fma>, t, step);
    }
    return sum;
  }
  const DType acc = accumulator(t, how);
  SumFacts s;
  s.add(Enclosed::real(0, 0));
  for (std::size_t k = 0; k < a.size(); ++k) s.add(exact_product(d.factor(a[k], t), d.factor(b[k], t)));
  auto e = finish_sum(s, acc, d.granted(how, t, true), 1);
  if (e.lo == 0) e.lo = -0.0;  // which zero depends on how the chain starts
  if (e.hi == 0) e.hi = 0.0;
  return Enclosure::narrowed(e, t, acc);
}
inline Enclosed extremum_place(const Enclosure&, std::span<const Enclosed> x, DType t, bool greatest) { return arg_extremum(x, t, greatest); }
inline std::vector<std::int64_t> line_order(const Enclosure&, std::span<const Enclosed> x, DType t, bool descending) { return stable_order(x, t, descending); }

/// The same in Rounded: integers in order; floats in the canonical order of ir/tensor/ops/contract.h.
inline Number dot_of(const Rounded& d, DType t, std::span<const Number> a, std::span<const Number> b, const Accumulation&) {
  const DType acc = accumulator(t);
  auto add = [&](Number x, Number y) { const Number p[] = {x, y}; return d.apply(fn_id<scalar::Add>, acc, p); };
  auto total = is_float(t) && !a.empty() ? number(acc, -0.0) : number(acc, 0), block = total;
  for (std::size_t first = 0; first < a.size(); first += 128) {
    auto chain = number(acc, 0);
    for (std::size_t k = first; k < std::min(a.size(), first + 128); ++k) {
      const Number p[] = {a[k], b[k], chain};
      chain = d.apply(fn_id<scalar::Fma>, acc, p);
    }
    block = add(block, chain);
    if ((first + 128) % 4096 == 0 || first + 128 >= a.size()) total = add(total, block), block = is_float(t) ? number(acc, -0.0) : number(acc, 0);
  }
  return d.convert(total, acc, t);
}
inline Number extremum_place(const Rounded&, std::span<const Number> x, DType t, bool greatest) { return {.i = arg_extremum(x, t, greatest)}; }
inline std::vector<std::int64_t> line_order(const Rounded&, std::span<const Number> x, DType t, bool descending) { return stable_order(x, t, descending); }

template <class D> class Demand {
 public:
  using V = typename D::Value;
  Demand(const D& d, const ir::Function& f, std::span<const ir::Literal> inputs, Declared declared = {})
      : d_(d), f_(f), inputs_(inputs), declared_(std::move(declared)), terms_(f.nodes.size()) {
    for (std::size_t k = 0; k < f.params.size(); ++k) parameter_[f.params[k]] = k;
    for (std::size_t k = 0; k < f.nodes.size(); ++k)
      if (combines(f.nodes[k])) {
        terms_[k] = std::make_unique<Terms>(f, f.nodes[k]);
        fan_out_ = std::min<std::int64_t>(fan_out_ * std::max<std::int64_t>(1, std::min<std::int64_t>(terms_[k]->count(), 1 << 20)), std::int64_t{1} << 40);
      }
  }

  /// Steps that one element takes, roughly: for budgets.
  std::int64_t fan_out() const { return fan_out_; }

  /// The value's elements at these places, a bounded number at a time.
  std::vector<V> at(ir::ValueId v, const Places& places) {
    std::vector<V> r;
    r.reserve(places.size());
    const auto batch = static_cast<std::size_t>(std::max<std::int64_t>(1, (std::int64_t{1} << 19) / fan_out_));
    for (std::size_t first = 0; first < places.size(); first += batch) {
      const auto part = eval(v, std::make_shared<Places>(places.begin() + static_cast<std::ptrdiff_t>(first), places.begin() + static_cast<std::ptrdiff_t>(std::min(places.size(), first + batch))));
      r.insert(r.end(), part->begin(), part->end());
      memo_.clear();
    }
    return r;
  }

 private:
  using List = std::shared_ptr<const Places>;
  using Values = std::shared_ptr<std::vector<V>>;

  static bool combines(const ir::Node& n) {
    const auto c = ir::row(n.op).op_class;
    return c == ir::OpClass::reduce || c == ir::OpClass::arg_reduce || c == ir::OpClass::window || c == ir::OpClass::contract;
  }

  Values eval(ir::ValueId v, const List& places) {
    const auto key = std::make_pair(v, places);
    if (auto it = memo_.find(key); it != memo_.end()) return it->second;
    auto r = std::make_shared<std::vector<V>>();
    r->reserve(places->size());
    if (auto p = parameter_.find(v); p != parameter_.end()) load(inputs_[p->second], *places, *r);
    else node(f_.nodes[static_cast<std::size_t>(f_.value(v).node)], places, *r);
    memo_.emplace(key, r);
    return r;
  }
  Values eval(ir::ValueId v, Places places) { return eval(v, std::make_shared<const Places>(std::move(places))); }

  void load(const ir::Literal& l, const Places& places, std::vector<V>& r) const {
    for (auto p : places) r.push_back(d_.from(l.dtype(), interp::load(l.dtype(), l.raw(), p)));
  }

  void node(const ir::Node& n, const List& places, std::vector<V>& r) {
    switch (ir::row(n.op).op_class) {
      case ir::OpClass::elementwise: return elementwise(n, places, r);
      case ir::OpClass::convert: {
        const auto x = eval(n.operands[0], places);
        for (const auto& v : *x) r.push_back(converted(d_, n, v, f_.type(n.operands[0]).dtype, f_.type(n.results[0]).dtype));
        return;
      }
      case ir::OpClass::select: {
        const auto c = eval(n.operands[0], places), x = eval(n.operands[1], places), y = eval(n.operands[2], places);
        for (std::size_t k = 0; k < c->size(); ++k) r.push_back(d_.select((*c)[k], (*x)[k], (*y)[k], f_.type(n.results[0]).dtype));
        return;
      }
      case ir::OpClass::source: return source(n, *places, r);
      case ir::OpClass::view: return ir::name(n) == "concat" ? concat(n, *places, r) : view(n, *places, r);
      case ir::OpClass::gather: return gather(n, *places, r);
      case ir::OpClass::reduce:
      case ir::OpClass::arg_reduce:
      case ir::OpClass::window:
      case ir::OpClass::contract: return combine(n, *places, r);
      case ir::OpClass::scan:
      case ir::OpClass::sort: return along(n, *places, r);
      case ir::OpClass::scatter: return scatter(n, *places, r);
      default: fail_unsupported(std::string(ir::name(n)) + " is not evaluated element by element", n.where);
    }
  }

  void elementwise(const ir::Node& n, const List& places, std::vector<V>& r) {
    std::vector<Values> in;
    for (auto o : n.operands) in.push_back(eval(o, places));
    const DType t = f_.type(n.operands[0]).dtype;
    V args[3];
    for (std::size_t k = 0; k < places->size(); ++k) {
      for (std::size_t i = 0; i < in.size(); ++i) args[i] = (*in[i])[k];
      r.push_back(d_.apply(ir::row(n.op).fn, t, std::span<const V>(args, in.size())));
    }
  }

  void source(const ir::Node& n, const Places& places, std::vector<V>& r) const {
    if (ir::name(n) == "constant") return load(n.attrs.get<ir::Literal>("value"), places, r);
    const auto& type = f_.type(n.results[0]);
    const auto extents = type.extents();
    for (auto p : places) {
      const auto i = delinearize(p, extents)[static_cast<std::size_t>(n.attrs.integer("axis"))];
      r.push_back(d_.convert(d_.from(DType::i64, {.i = i}), DType::i64, type.dtype));  // the domain's: exact systems do not round
    }
  }

  void view(const ir::Node& n, const Places& places, std::vector<V>& r) {
    const auto op = ir::name(n);
    const auto from = f_.type(n.operands[0]).extents(), to = f_.type(n.results[0]).extents();
    Places at;
    std::vector<bool> padding;
    for (auto p : places) {
      const auto source = op == "reshape" ? p : view_source(n, op, delinearize(p, to), from, to);
      padding.push_back(source < 0);
      if (source >= 0) at.push_back(source);
    }
    const auto x = eval(n.operands[0], std::move(at));
    const auto fill = x->size() == places.size() ? nullptr : eval(n.operands[1], Places{0});
    for (std::size_t k = 0, next = 0; k < places.size(); ++k) r.push_back(padding[k] ? (*fill)[0] : (*x)[next++]);
  }

  void concat(const ir::Node& n, const Places& places, std::vector<V>& r) {
    const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
    const auto to = f_.type(n.results[0]).extents();
    r.resize(places.size());
    std::int64_t start = 0;
    for (auto o : n.operands) {
      const auto part = f_.type(o).extents();
      Places at, which;
      for (std::size_t k = 0; k < places.size(); ++k) {
        auto i = delinearize(places[k], to);
        i[axis] -= start;
        if (i[axis] >= 0 && i[axis] < part[axis]) at.push_back(linearize(i, part)), which.push_back(static_cast<std::int64_t>(k));
      }
      if (!at.empty()) {
        const auto x = eval(o, std::move(at));
        for (std::size_t k = 0; k < which.size(); ++k) r[static_cast<std::size_t>(which[k])] = (*x)[k];
      }
      start += part[axis];
    }
  }

  void gather(const ir::Node& n, const Places& places, std::vector<V>& r) {
    const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
    const auto from = f_.type(n.operands[0]).extents(), ix = f_.type(n.operands[1]).extents(), to = f_.type(n.results[0]).extents();
    const bool elements = ir::name(n) == "gather_elements";
    Places at_indices, at_x;
    for (auto p : places) {
      const auto i = delinearize(p, to);
      at_indices.push_back(elements ? p : linearize(Index(i.begin() + axis, i.begin() + axis + ix.size()), ix));
    }
    const auto indices = eval(n.operands[1], std::move(at_indices));
    for (std::size_t k = 0; k < places.size(); ++k) {
      const auto i = delinearize(places[k], to);
      Index at = i;
      if (!elements) {
        at = Index(i.begin(), i.begin() + axis);
        at.push_back(0);
        for (std::size_t d = axis + ix.size(); d < i.size(); ++d) at.push_back(i[d]);
      }
      at[axis] = index_in(d_, n, (*indices)[k], f_.type(n.operands[1]).dtype, from[axis]);
      at_x.push_back(linearize(at, from));
    }
    r = *eval(n.operands[0], std::move(at_x));
  }

  Accumulation accumulation(const ir::Node& n, std::int64_t height) const { return accumulation_of(f_, n, static_cast<int>(&n - f_.nodes.data()), height, declared_); }

  void combine(const ir::Node& n, const Places& places, std::vector<V>& r) {
    const auto& terms = *terms_[static_cast<std::size_t>(&n - f_.nodes.data())];
    const bool product = ir::row(n.op).op_class == ir::OpClass::contract;
    const DType t = f_.type(n.operands[0]).dtype;
    TermPlaces all;
    std::vector<std::size_t> ends;
    for (auto p : places) {
      terms.of(p, all);
      ends.push_back(all.a.size());
    }
    const auto zeros = product ? take_padding(all.a) : std::vector<std::size_t>{};
    const bool nothing = f_.type(n.operands[0]).elements() == 0;  // padding alone
    const auto x = nothing ? std::make_shared<std::vector<V>>(all.a.size()) : eval(n.operands[0], std::move(all.a));
    for (auto z : zeros) (*x)[z] = d_.from(t, number(t, 0));
    const auto y = product ? eval(n.operands[1], std::move(all.b)) : nullptr;
    const auto h = accumulation(n, product ? dot_height(terms.count()) : reduce_height(terms.count()));
    for (std::size_t k = 0, first = 0; k < places.size(); first = ends[k++]) {
      const std::span<const V> a(x->data() + first, ends[k] - first);
      if (product) r.push_back(dot_of(d_, t, a, std::span<const V>(y->data() + first, ends[k] - first), h));
      else if (ir::row(n.op).op_class == ir::OpClass::arg_reduce) r.push_back(extremum_place(d_, a, t, ir::name(n) == "argmax"));
      else r.push_back(d_.reduce(ir::row(n.op).fn, t, std::vector<V>(a.begin(), a.end()), h));
    }
  }

  /// Padding reads place 0 instead, to be overwritten by zero.
  static std::vector<std::size_t> take_padding(Places& a) {
    std::vector<std::size_t> zeros;
    for (std::size_t k = 0; k < a.size(); ++k)
      if (a[k] < 0) zeros.push_back(k), a[k] = 0;
    return zeros;
  }

  /// Scans and sorts: the whole line through each element.
  void along(const ir::Node& n, const Places& places, std::vector<V>& r) {
    const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
    const auto extents = f_.type(n.results[0]).extents();
    const auto stride = row_major_strides(extents)[axis];
    const DType t = f_.type(n.operands[0]).dtype;
    std::map<std::int64_t, std::vector<V>> lines;
    for (auto p : places) {
      const auto i = p / stride % extents[axis];
      auto [it, fresh] = lines.try_emplace(p - i * stride);
      if (fresh) {
        Places at;
        for (std::int64_t k = 0; k < extents[axis]; ++k) at.push_back(it->first + k * stride);
        it->second = *eval(n.operands[0], std::move(at));
        ir::row(n.op).op_class == ir::OpClass::scan ? scan(n, t, it->second) : sort(n, t, it->second);
      }
      r.push_back(it->second[static_cast<std::size_t>(i)]);
    }
  }
  void scan(const ir::Node& n, DType t, std::vector<V>& line) const {
    const bool reverse = n.attrs.flag("reverse");
    if (reverse) std::reverse(line.begin(), line.end());
    d_.scan(ir::row(n.op).fn, t, line, n.attrs.flag("exclusive"));
    if (reverse) std::reverse(line.begin(), line.end());
  }
  void sort(const ir::Node& n, DType t, std::vector<V>& line) const {
    const auto order = line_order(d_, std::span<const V>(line), t, n.attrs.flag("descending"));
    auto sorted = line;
    for (std::size_t k = 0; k < order.size(); ++k) sorted[k] = ir::name(n) == "argsort" ? d_.from(DType::i64, {.i = order[k]}) : line[static_cast<std::size_t>(order[k])];
    line = std::move(sorted);
  }

  /// Each destination, then its updates in the order of the indices.
  void scatter(const ir::Node& n, const Places& places, std::vector<V>& r) {
    const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
    const auto extents = f_.type(n.results[0]).extents(), updates = f_.type(n.operands[2]).extents();
    const DType t = f_.type(n.results[0]).dtype;
    Places every;
    for (std::int64_t k = 0; k < updates[axis]; ++k) every.push_back(k);
    const auto indices = eval(n.operands[1], std::move(every));
    Places to;
    for (const auto& i : *indices) to.push_back(index_in(d_, n, i, f_.type(n.operands[1]).dtype, extents[axis]));
    const auto x = eval(n.operands[0], places);
    for (std::size_t k = 0; k < places.size(); ++k) {
      auto at = delinearize(places[k], extents);
      const auto destination = at[axis];
      Places hits;
      for (std::size_t u = 0; u < to.size(); ++u)
        if (to[u] == destination) at[axis] = static_cast<std::int64_t>(u), hits.push_back(linearize(at, updates));
      std::vector<V> line{(*x)[k]};
      const auto values = eval(n.operands[2], std::move(hits));
      line.insert(line.end(), values->begin(), values->end());
      r.push_back(d_.fold(ir::row(n.op).fn, t, line));
    }
  }

  const D& d_;
  const ir::Function& f_;
  std::span<const ir::Literal> inputs_;
  Declared declared_;
  std::map<ir::ValueId, std::size_t> parameter_;
  std::vector<std::unique_ptr<Terms>> terms_;
  std::int64_t fan_out_ = 1;
  std::map<std::pair<ir::ValueId, List>, Values> memo_;  // lists are kept alive here, so no two share an address
};

}  // namespace plumb::interp
