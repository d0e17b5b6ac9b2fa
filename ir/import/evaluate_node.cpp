// The importer's evaluator of single operations on small literals (see known_values.h).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "ir/import/known_values.h"
#include "ir/scalar/storage.h"
#include "ir/tensor/op_table.h"

namespace plumb::ir::onnx_import {
namespace {

using Operands = std::vector<const Literal*>;
__extension__ typedef __int128 Wide;  // holds every i64 and u64, and what one operation on them gives, before it wraps

Wide load_int(const Literal& l, std::int64_t i) {
  const auto x = l.int_at(i);
  return l.dtype() == DType::u64 ? static_cast<Wide>(static_cast<std::uint64_t>(x)) : static_cast<Wide>(x);
}
/// Keeps the low bits, as every integer operation of the IR does.
void store_int(Literal& l, std::int64_t i, Wide x) {
  const auto bits = static_cast<std::uint64_t>(x);
  const auto bytes = static_cast<std::size_t>(byte_size(l.dtype()));
  const auto value = is_bool(l.dtype()) ? std::uint64_t{x != 0} : bits;
  std::memcpy(static_cast<char*>(l.mutable_raw()) + static_cast<std::size_t>(i) * bytes, &value, bytes);  // little-endian
}
void copy_element(Literal& to, std::int64_t i, const Literal& from, std::int64_t j) {
  const auto bytes = static_cast<std::size_t>(byte_size(to.dtype()));
  std::memcpy(static_cast<char*>(to.mutable_raw()) + static_cast<std::size_t>(i) * bytes, static_cast<const char*>(from.raw()) + static_cast<std::size_t>(j) * bytes, bytes);
}

std::optional<Wide> int_function(std::string_view f, Wide x, Wide y) {
  if (f == "add") return x + y;
  if (f == "sub") return x - y;
  if (f == "mul") return static_cast<Wide>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));  // low 64 bits are the same
  if (f == "div") return y == 0 ? 0 : x / y;
  if (f == "floor_div") return y == 0 ? 0 : x / y - ((x % y != 0 && (x % y < 0) != (y < 0)) ? 1 : 0);
  if (f == "fmod") return y == 0 ? x : x % y;
  if (f == "remainder") return y == 0 ? x : x % y + ((x % y != 0 && (x % y < 0) != (y < 0)) ? y : 0);
  if (f == "minimum") return x < y ? x : y;
  if (f == "maximum") return x > y ? x : y;
  if (f == "neg") return -x;
  if (f == "relu") return x > 0 ? x : 0;
  if (f == "abs") return x < 0 ? -x : x;
  if (f == "sign") return (x > 0) - (x < 0);
  if (f == "floor" || f == "ceil" || f == "trunc" || f == "round_even") return x;
  if (f == "and") return x & y;
  if (f == "or") return x | y;
  if (f == "xor") return x ^ y;
  return std::nullopt;
}
/// Those whose double result, rounded once more to the narrower format, is the correctly rounded one.
std::optional<double> float_function(std::string_view f, double x, double y) {
  if (f == "add") return x + y;
  if (f == "sub") return x - y;
  if (f == "mul") return x * y;
  if (f == "div") return x / y;
  if (f == "sqrt") return std::sqrt(x);
  if (f == "neg") return -x;
  if (f == "abs") return std::fabs(x);
  if (f == "floor") return std::floor(x);
  if (f == "ceil") return std::ceil(x);
  if (f == "trunc") return std::trunc(x);
  if (f == "round_even") return std::nearbyint(x);
  const bool ordered = x < y || x > y || (x == y && x != 0);  // of zeros, the sign would decide
  if (f == "minimum" && ordered) return x < y ? x : y;
  if (f == "maximum" && ordered) return x > y ? x : y;
  if (f == "relu" && x == x) return x > 0 ? x : 0;
  return std::nullopt;
}
template <class T> std::optional<bool> comparison(std::string_view f, T x, T y) {
  if (f == "eq") return x == y;
  if (f == "ne") return x != y;
  if (f == "lt") return x < y;
  if (f == "le") return x <= y;
  if (f == "gt") return x > y;
  if (f == "ge") return x >= y;
  return std::nullopt;
}

std::optional<Literal> elementwise(std::string_view f, const Type& type, const Operands& in) {
  Literal out(type);
  const Literal &x = *in[0], &y = *in[in.size() > 1 ? 1 : 0];
  if (in.size() > 2) return std::nullopt;
  for (std::int64_t i = 0; i < out.elements(); ++i) {
    std::optional<bool> truth;
    if (is_float(x.dtype())) {
      const double a = load_element(x.dtype(), x.raw(), i), b = load_element(y.dtype(), y.raw(), i);
      if ((truth = comparison(f, a, b))) store_int(out, i, *truth);
      else if (auto r = float_function(f, a, b)) store_element(out.dtype(), out.mutable_raw(), i, *r);
      else return std::nullopt;
    } else {
      const Wide a = load_int(x, i), b = load_int(y, i);
      if ((truth = comparison(f, a, b))) store_int(out, i, *truth);
      else if (f == "not") store_int(out, i, is_bool(x.dtype()) ? Wide{a == 0} : ~a);
      else if (auto r = int_function(f, a, b)) store_int(out, i, *r);
      else return std::nullopt;
    }
  }
  return out;
}

Wide saturate(double x, DType to) {
  if (std::isnan(x)) return 0;
  const int bits = 8 * byte_size(to);
  const Wide low = is_signed(to) ? -(Wide{1} << (bits - 1)) : 0, high = (Wide{1} << (is_signed(to) ? bits - 1 : bits)) - 1;
  if (x <= static_cast<double>(low)) return low;
  return x >= static_cast<double>(high) ? high : static_cast<Wide>(x);
}

std::optional<Literal> convert(const Type& type, const Literal& x) {
  Literal out(type);
  for (std::int64_t i = 0; i < out.elements(); ++i) {
    if (!is_float(x.dtype())) {
      const Wide v = load_int(x, i);
      if (!is_float(type.dtype)) store_int(out, i, v);
      else if (type.dtype == DType::f32) out.mutable_data<float>()[i] = static_cast<float>(v);
      else if (v > (Wide{1} << 53) || -v > (Wide{1} << 53)) return std::nullopt;  // through a double it might round twice
      else store_element(type.dtype, out.mutable_raw(), i, static_cast<double>(v));
    } else {
      const double v = load_element(x.dtype(), x.raw(), i);
      if (is_integer(type.dtype)) store_int(out, i, saturate(v, type.dtype));
      else if (is_bool(type.dtype)) store_int(out, i, v != 0);
      else store_element(type.dtype, out.mutable_raw(), i, v);
    }
  }
  return out;
}

/// An operation that only moves elements: `source` gives the operand and the flat position an output index reads.
Literal moved(const Type& type, const Operands& in, const std::function<std::pair<std::size_t, Index>(const Index&)>& source) {
  Literal out(type);
  const Extents extents = type.extents();
  Index at(extents.size(), 0);
  for (std::int64_t i = 0; i < out.elements(); ++i, advance(at, extents)) {
    const auto [operand, index] = source(at);
    copy_element(out, i, *in[operand], linearize(index, in[operand]->extents()));
  }
  return out;
}

std::optional<Literal> view(std::string_view f, const Node& n, const Type& type, const Operands& in) {
  const std::size_t rank = in[0]->type().rank();
  const AttrMap& a = n.attrs;
  if (f == "reshape") return in[0]->reshaped(type.shape);
  if (f == "broadcast") {
    const auto& dims = a.ints("dims");
    return moved(type, in, [&](const Index& at) {
      Index from(rank);
      for (std::size_t k = 0; k < rank; ++k) from[k] = in[0]->type().shape[k] == Dim(1) ? 0 : at[static_cast<std::size_t>(dims[k])];
      return std::pair{std::size_t{0}, from};
    });
  }
  if (f == "transpose") {
    const auto& perm = a.ints("perm");
    return moved(type, in, [&](const Index& at) {
      Index from(rank);
      for (std::size_t k = 0; k < rank; ++k) from[static_cast<std::size_t>(perm[k])] = at[k];
      return std::pair{std::size_t{0}, from};
    });
  }
  if (f == "slice") {
    const auto &start = a.ints("start"), &stride = a.ints("stride");
    return moved(type, in, [&](const Index& at) {
      Index from(rank);
      for (std::size_t k = 0; k < rank; ++k) from[k] = start[k] + at[k] * (stride.empty() ? 1 : stride[k]);
      return std::pair{std::size_t{0}, from};
    });
  }
  if (f == "reverse") {
    const auto& axes = a.ints("axes");
    return moved(type, in, [&](const Index& at) {
      Index from = at;
      for (auto d : axes) from[static_cast<std::size_t>(d)] = type.shape[static_cast<std::size_t>(d)].size() - 1 - at[static_cast<std::size_t>(d)];
      return std::pair{std::size_t{0}, from};
    });
  }
  if (f == "concat") {
    const auto axis = static_cast<std::size_t>(a.integer("axis"));
    return moved(type, in, [&](const Index& at) {
      Index from = at;
      std::size_t k = 0;
      for (; from[axis] >= in[k]->extents()[axis]; ++k) from[axis] -= in[k]->extents()[axis];
      return std::pair{k, from};
    });
  }
  return std::nullopt;
}

std::optional<Literal> gather(const Node& n, const Type& type, const Operands& in) {
  const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
  const auto size = in[0]->extents()[axis];
  const std::size_t index_rank = in[1]->type().rank();
  for (std::int64_t i = 0; i < in[1]->elements(); ++i)
    if (const Wide k = load_int(*in[1], i); k < 0 || k >= size) return std::nullopt;  // left to run time, where it is a stated error
  return moved(type, in, [&](const Index& at) {
    Index which, from;
    for (std::size_t d = 0; d < at.size(); ++d)
      if (d >= axis && d < axis + index_rank) which.push_back(at[d]);
    for (std::size_t d = 0; d < axis; ++d) from.push_back(at[d]);
    from.push_back(in[1]->int_at(linearize(which, in[1]->extents())));
    for (std::size_t d = axis + index_rank; d < at.size(); ++d) from.push_back(at[d]);
    return std::pair{std::size_t{0}, from};
  });
}

std::optional<Literal> reduce(std::string_view f, const Node& n, const Type& type, const Literal& x) {
  const std::string_view step = f == "reduce_sum" ? "add" : f == "reduce_prod" ? "mul" : f == "reduce_max" ? "maximum" : f == "reduce_min" ? "minimum" : f == "reduce_and" ? "and" : f == "reduce_or" ? "or" : "";
  // An empty extremum, and a float sum whose canonical order matters, are not needed for shapes.
  if (step.empty() || is_float(x.dtype()) || x.elements() == 0) return std::nullopt;
  Literal out(type);
  std::vector<bool> started(static_cast<std::size_t>(out.elements()), false);
  const auto& axes = n.attrs.ints("axes");
  Index at(x.type().rank(), 0);
  for (std::int64_t i = 0; i < x.elements(); ++i, advance(at, x.extents())) {
    Index to;
    for (std::size_t d = 0; d < at.size(); ++d)
      if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) == axes.end()) to.push_back(at[d]);
    const auto o = linearize(to, out.extents());
    const auto k = static_cast<std::size_t>(o);
    store_int(out, o, started[k] ? *int_function(step, load_int(out, o), load_int(x, i)) : load_int(x, i));
    started[k] = true;
  }
  return out;
}

Literal iota(const Node& n, const Type& type) {
  Literal out(type);
  const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
  Index at(type.rank(), 0);
  for (std::int64_t i = 0; i < out.elements(); ++i, advance(at, type.extents()))
    if (is_float(type.dtype)) store_element(type.dtype, out.mutable_raw(), i, static_cast<double>(at[axis]));
    else store_int(out, i, at[axis]);
  return out;
}

Literal select(const Type& type, const Operands& in) {
  Literal out(type);
  for (std::int64_t i = 0; i < out.elements(); ++i) copy_element(out, i, *in[in[0]->int_at(i) != 0 ? 1 : 2], i);
  return out;
}

}  // namespace

std::optional<Literal> evaluate_node(const Node& n, const Type& type, const Operands& in) {
  const auto& r = row(n.op);
  const auto complex = [](const Literal* l) { return is_complex(l->dtype()); };
  if (is_complex(type.dtype) || std::any_of(in.begin(), in.end(), complex)) return std::nullopt;
  switch (r.op_class) {
    case OpClass::elementwise: return elementwise(r.name, type, in);
    case OpClass::convert: return r.name == "convert" ? std::optional(convert(type, *in[0])) : std::nullopt;
    case OpClass::select: return select(type, in);
    case OpClass::view: return view(r.name, n, type, in);
    case OpClass::gather: return r.name == "gather" ? gather(n, type, in) : std::nullopt;
    case OpClass::reduce: return reduce(r.name, n, type, *in[0]);
    case OpClass::composite: return r.name == "relu" ? elementwise(r.name, type, in) : std::nullopt;
    case OpClass::source: return r.name == "iota" ? std::optional(iota(n, type)) : std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace plumb::ir::onnx_import
