// What each primitive means, once, over any domain: dense evaluation of one node.
#pragma once
#include <string>

#include "interpreter/tensor/domains.h"

namespace plumb::interp {

template <class D> using Tensor = Dense<typename D::Value>;

/// Contractions have their own file: they carry the weight of whole models.
template <class D> Tensor<D> contract(const D& d, const ir::Node& n, const Tensor<D>& x, const Tensor<D>& w, const ir::Type& out, const Accumulation& how);

[[noreturn]] inline void fail_at(const ir::Node& n, const std::string& message) { fail_input(std::string(ir::name(n)) + ": " + message, n.where); }

/// An index value as an integer in [0, size), or the operation's stated error.
template <class D> std::int64_t index_in(const D& d, const ir::Node& n, typename D::Value v, DType t, std::int64_t size) {
  if (!d.decided(v, t)) fail_unsupported("an index of " + std::string(ir::name(n)) + " hangs on an undecided comparison", n.where);
  const auto i = d.pick(v);
  const bool outside = is_signed(t) ? i.i < 0 || i.i >= size : i.u >= static_cast<std::uint64_t>(size);
  if (outside) fail_at(n, "index " + (is_signed(t) ? std::to_string(i.i) : std::to_string(i.u)) + " is outside [0, " + std::to_string(size) + ")");
  return i.i;
}

/// Calls f(position in the output, index) for every element.
template <class F> void for_each_index(const Extents& extents, F f) {
  if (element_count(extents) == 0) return;
  Index i(extents.size());
  std::int64_t flat = 0;
  do f(flat++, i);
  while (advance(i, extents));
}

template <class D> Tensor<D> elementwise(const D& d, const ir::Node& n, const std::vector<const Tensor<D>*>& in, const ir::Type& out) {
  Tensor<D> r{out, std::vector<typename D::Value>(static_cast<std::size_t>(out.elements()))};
  const FnId fn = ir::row(n.op).fn;
  const DType t = in[0]->type.dtype;
  typename D::Value args[3];
  for (std::size_t i = 0; i < r.elements.size(); ++i) {
    for (std::size_t k = 0; k < in.size(); ++k) args[k] = in[k]->elements[i];
    r.elements[i] = d.apply(fn, t, std::span<const typename D::Value>(args, in.size()));
  }
  return r;
}

template <class D> typename D::Value converted(const D& d, const ir::Node& n, const typename D::Value& v, DType from, DType to) {
  return ir::name(n) == "bitcast" ? d.bitcast(v, from, to) : d.convert(v, from, to);
}

/// The operand element that a view's result element is; -1: the padding.
inline std::int64_t view_source(const ir::Node& n, std::string_view op, const Index& i, const Extents& in, const Extents& out) {
  Index at(in.size());
  if (op == "broadcast") {
    const auto& dims = n.attrs.ints("dims");
    for (std::size_t k = 0; k < in.size(); ++k) at[k] = in[k] == 1 ? 0 : i[static_cast<std::size_t>(dims[k])];
  } else if (op == "transpose") {
    const auto& perm = n.attrs.ints("perm");
    for (std::size_t k = 0; k < in.size(); ++k) at[static_cast<std::size_t>(perm[k])] = i[k];
  } else if (op == "slice") {
    const auto &start = n.attrs.ints("start"), &stride = n.attrs.ints("stride");
    for (std::size_t k = 0; k < in.size(); ++k) at[k] = start[k] + i[k] * (stride.empty() ? 1 : stride[k]);
  } else if (op == "reverse") {
    at = i;
    for (auto a : n.attrs.ints("axes")) at[static_cast<std::size_t>(a)] = in[static_cast<std::size_t>(a)] - 1 - i[static_cast<std::size_t>(a)];
  } else if (op == "pad") {
    const auto &low = n.attrs.ints("low"), &interior = n.attrs.ints("interior");
    for (std::size_t k = 0; k < in.size(); ++k) {
      const std::int64_t step = interior.empty() ? 1 : interior[k] + 1, p = i[k] - low[k];
      if (p < 0 || p % step != 0 || p / step >= in[k]) return -1;
      at[k] = p / step;
    }
  } else {
    return linearize(i, out);  // reshape
  }
  return linearize(at, in);
}

template <class D> Tensor<D> view(const ir::Node& n, const std::vector<const Tensor<D>*>& in, const ir::Type& out) {
  Tensor<D> r{out, std::vector<typename D::Value>(static_cast<std::size_t>(out.elements()))};
  const auto op = ir::name(n);
  const auto extents = out.extents();
  if (op == "reshape") {
    r.elements = in[0]->elements;
    return r;
  }
  if (op == "concat") {
    const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
    std::int64_t start = 0;
    for (const auto* part : in) {
      for_each_index(part->type.extents(), [&](std::int64_t flat, Index i) {
        i[axis] += start;
        r.elements[static_cast<std::size_t>(linearize(i, extents))] = part->elements[static_cast<std::size_t>(flat)];
      });
      start += part->type.extents()[axis];
    }
    return r;
  }
  const auto from = in[0]->type.extents();
  for_each_index(extents, [&](std::int64_t flat, const Index& i) {
    const auto source = view_source(n, op, i, from, extents);
    r.elements[static_cast<std::size_t>(flat)] = source < 0 ? in[1]->elements[0] : in[0]->elements[static_cast<std::size_t>(source)];
  });
  return r;
}

template <class D> Tensor<D> gather(const D& d, const ir::Node& n, const Tensor<D>& x, const Tensor<D>& indices, const ir::Type& out) {
  Tensor<D> r{out, std::vector<typename D::Value>(static_cast<std::size_t>(out.elements()))};
  const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
  const auto from = x.type.extents(), ix = indices.type.extents();
  const bool elements = ir::name(n) == "gather_elements";
  for_each_index(out.extents(), [&](std::int64_t flat, const Index& i) {
    Index at_i = i, at_x = i;
    if (!elements) {
      at_i = Index(i.begin() + axis, i.begin() + axis + ix.size());
      at_x = Index(i.begin(), i.begin() + axis);
      at_x.push_back(0);
      for (std::size_t k = axis + ix.size(); k < i.size(); ++k) at_x.push_back(i[k]);
    }
    at_x[axis] = index_in(d, n, indices.elements[static_cast<std::size_t>(linearize(at_i, ix))], indices.type.dtype, from[axis]);
    r.elements[static_cast<std::size_t>(flat)] = x.elements[static_cast<std::size_t>(linearize(at_x, from))];
  });
  return r;
}

/// Elements along the reduced axes, in row-major order of them, for one element of the result.
template <class V> std::vector<V> terms_of(const Dense<V>& x, const Extents& from, std::span<const std::int64_t> axes, const Index& out) {
  Extents reduced;
  Index at(from.size());
  std::vector<std::size_t> which;
  for (std::size_t k = 0, o = 0; k < from.size(); ++k)
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(k)) != axes.end()) reduced.push_back(from[k]), which.push_back(k);
    else at[k] = out[o++];
  std::vector<V> terms;
  terms.reserve(static_cast<std::size_t>(element_count(reduced)));
  for_each_index(reduced, [&](std::int64_t, const Index& r) {
    for (std::size_t k = 0; k < which.size(); ++k) at[which[k]] = r[k];
    terms.push_back(x.elements[static_cast<std::size_t>(linearize(at, from))]);
  });
  return terms;
}

template <class D> Tensor<D> reduce(const D& d, const ir::Node& n, const Tensor<D>& x, const ir::Type& out, const Accumulation& how) {
  Tensor<D> r{out, std::vector<typename D::Value>(static_cast<std::size_t>(out.elements()))};
  const auto from = x.type.extents();
  for_each_index(out.extents(), [&](std::int64_t flat, const Index& i) {
    r.elements[static_cast<std::size_t>(flat)] = d.reduce(ir::row(n.op).fn, x.type.dtype, terms_of(x, from, n.attrs.ints("axes"), i), how);
  });
  return r;
}

/// First of the greatest (or least) elements; NaN beats every number.
std::int64_t arg_extremum(std::span<const Number> x, DType t, bool greatest);
Enclosed arg_extremum(std::span<const Enclosed> x, DType t, bool greatest);
inline Number index_number(std::int64_t i) { return {.i = i}; }
inline Enclosed index_number(const Enclosed& e) { return e; }

template <class D> Tensor<D> arg_reduce(const ir::Node& n, const Tensor<D>& x, const ir::Type& out) {
  Tensor<D> r{out, std::vector<typename D::Value>(static_cast<std::size_t>(out.elements()))};
  const std::int64_t axes[] = {n.attrs.integer("axis")};
  const auto from = x.type.extents();
  for_each_index(out.extents(), [&](std::int64_t flat, const Index& i) {
    const auto terms = terms_of(x, from, axes, i);
    r.elements[static_cast<std::size_t>(flat)] = index_number(arg_extremum(std::span(terms), x.type.dtype, ir::name(n) == "argmax"));
  });
  return r;
}

template <class D> Tensor<D> window(const D& d, const ir::Node& n, const Tensor<D>& x, const ir::Type& out, const Accumulation& how) {
  Tensor<D> r{out, std::vector<typename D::Value>(static_cast<std::size_t>(out.elements()))};
  const auto from = x.type.extents();
  const auto& w = n.attrs.ints("window");
  auto entry = [&](const char* which, std::size_t k, std::int64_t fallback) { const auto& v = n.attrs.ints(which); return v.empty() ? fallback : v[k]; };
  for_each_index(out.extents(), [&](std::int64_t flat, const Index& i) {
    std::vector<typename D::Value> terms;
    for_each_index(Extents(w.begin(), w.end()), [&](std::int64_t, const Index& p) {
      Index at(from.size());
      for (std::size_t k = 0; k < from.size(); ++k) {
        at[k] = i[k] * entry("stride", k, 1) + p[k] * entry("dilation", k, 1) - entry("low", k, 0);
        if (at[k] < 0 || at[k] >= from[k]) return;
      }
      terms.push_back(x.elements[static_cast<std::size_t>(linearize(at, from))]);
    });
    r.elements[static_cast<std::size_t>(flat)] = d.reduce(ir::row(n.op).fn, x.type.dtype, std::move(terms), how);
  });
  return r;
}

/// A stable order of positions; in Enclosure only where every comparison is decided.
std::vector<std::int64_t> stable_order(std::span<const Number> x, DType t, bool descending);
std::vector<std::int64_t> stable_order(std::span<const Enclosed> x, DType t, bool descending);

/// Applies f to each line along the axis (a vector of its elements, replaced by f's result).
template <class D, class F> Tensor<D> along(const Tensor<D>& x, std::size_t axis, const ir::Type& out, F f) {
  Tensor<D> r{out, std::vector<typename D::Value>(static_cast<std::size_t>(out.elements()))};
  const auto extents = x.type.extents();
  Extents others = extents;
  others[axis] = std::min<std::int64_t>(extents[axis], 1);
  for_each_index(others, [&](std::int64_t, Index i) {
    std::vector<typename D::Value> line;
    for (i[axis] = 0; i[axis] < extents[axis]; ++i[axis]) line.push_back(x.elements[static_cast<std::size_t>(linearize(i, extents))]);
    f(line);
    for (i[axis] = 0; i[axis] < extents[axis]; ++i[axis]) r.elements[static_cast<std::size_t>(linearize(i, extents))] = line[static_cast<std::size_t>(i[axis])];
  });
  return r;
}

template <class D> Tensor<D> scatter(const D& d, const ir::Node& n, const std::vector<const Tensor<D>*>& in, const ir::Type& out) {
  const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
  const auto extents = out.extents(), updates = in[2]->type.extents();
  std::vector<std::vector<typename D::Value>> terms(in[0]->elements.size());
  for (std::size_t k = 0; k < terms.size(); ++k) terms[k].push_back(in[0]->elements[k]);
  for_each_index(updates, [&](std::int64_t flat, Index i) {
    i[axis] = index_in(d, n, in[1]->elements[static_cast<std::size_t>(i[axis])], in[1]->type.dtype, extents[axis]);
    terms[static_cast<std::size_t>(linearize(i, extents))].push_back(in[2]->elements[static_cast<std::size_t>(flat)]);
  });
  Tensor<D> r{out, {}};
  for (const auto& line : terms) r.elements.push_back(d.fold(ir::row(n.op).fn, out.dtype, line));
  return r;
}

}  // namespace plumb::interp
