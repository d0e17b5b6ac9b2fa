// Products and factorisations.
#include <algorithm>

#include "api/eager/promote.h"
#include "api/include/plumb/functions.h"

namespace plumb {
namespace {

using eager::attrs;
using eager::Domain;
using eager::Values;
using ir::Builder;

/// A product of two operands of one dtype.
Tensor product(const char* name, const Operand& x, const Operand& y, std::initializer_list<std::size_t> ranks) {
  const auto in = eager::tensors_of({&x, &y}, name);
  for (const auto& t : in)
    if (ranks.size() && std::find(ranks.begin(), ranks.end(), t.impl()->sizes.size()) == ranks.end()) eager::fail(x.here(), std::string(name) + "(" + eager::describe(in[0]) + ", " + eager::describe(in[1]) + "): the operands are of rank " + std::to_string(*ranks.begin()) + "; use matmul, which takes any");
  const auto dtype = eager::meeting_dtype(in, Domain::no_bool);
  return eager::call(name, std::string(1, static_cast<char>(dtype)), in, x.here(), [&](Builder& b, const Values& v) {
    const ir::Shape l = b.type(v[0]).shape, r = b.type(v[1]).shape;
    if (!l.empty() && !r.empty()) {
      const auto inner = r.size() == 1 ? r[0] : r[r.size() - 2];
      if (l.back() != inner) fail_input("the last size of the left operand, " + l.back().str() + ", meets " + inner.str() + " of the right one, and they must be equal; transpose or reshape one of them");
    }
    return Values{b.op("matmul", {b.convert(v[0], dtype), b.convert(v[1], dtype)})};
  }).at(0);
}

std::vector<Tensor> factors(const char* name, const char* op, const Operand& a, const ir::AttrMap& attributes = {}) {
  const auto t = eager::tensors_of({&a}, name)[0];
  if (!is_float(t.dtype())) eager::fail(a.here(), std::string(name) + ": a matrix of floats is needed, not " + eager::describe(t));
  return eager::apply(op, {t}, attributes, a.here());
}

/// What an equation of einsum says: each operand's letters, and the result's.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

Equation parsed(std::string text, std::size_t count, Here here) {
  std::erase(text, ' ');
  const auto arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  Equation e;
  std::size_t from = 0;
  for (std::size_t at = 0; at <= left.size(); ++at) {
    if (at < left.size() && left[at] != ',') continue;
    e.operands.push_back(left.substr(from, at - from));
    from = at + 1;
  }
  std::string all;
  for (const auto& o : e.operands) all += o;
  if (arrow != std::string::npos) {
    e.result = text.substr(arrow + 2);
  } else {   // letters that stand once, in order
    for (char c = 'A'; c <= 'z'; ++c)
      if (std::count(all.begin(), all.end(), c) == 1) e.result += c;
  }
  const auto letters = [](const std::string& s) { return std::all_of(s.begin(), s.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }); };
  const auto once = [](std::string s) { return std::sort(s.begin(), s.end()), std::adjacent_find(s.begin(), s.end()) == s.end(); };
  bool fine = letters(all + e.result) && once(e.result) && std::all_of(e.operands.begin(), e.operands.end(), once);
  for (char c : e.result) fine = fine && all.find(c) != std::string::npos;
  if (!fine) eager::fail(here, "einsum: \"" + text + "\" is not understood; it takes letters, each once an operand and once in the result, as \"bij,bjk->bik\"");
  if (e.operands.size() != count) eager::fail(here, "einsum: \"" + text + "\" names " + std::to_string(e.operands.size()) + " operands, and " + std::to_string(count) + " are given");
  return e;
}

bool has(const std::string& s, char c) { return s.find(c) != std::string::npos; }

/// One contraction: letters of both that are still needed are batch axes, those no longer needed are summed.
struct Term {
  ir::ValueId value;
  std::string letters;
};
Term summed(Builder& b, Term t, const std::string& keep) {
  ir::Ints axes;
  std::string left;
  for (std::size_t d = 0; d < t.letters.size(); ++d)
    if (has(keep, t.letters[d])) left += t.letters[d];
    else axes.push_back(static_cast<std::int64_t>(d));
  if (axes.empty()) return t;
  return {b.op("reduce_sum", {t.value}, attrs({{"axes", axes}})), left};
}
Term contracted(Builder& b, Term x, Term y, const std::string& needed) {
  x = summed(b, x, needed + y.letters), y = summed(b, y, needed + x.letters);
  ir::Ints batch[2], inner[2];
  std::string letters, free;
  for (std::size_t d = 0; d < x.letters.size(); ++d) {
    const char c = x.letters[d];
    const auto other = y.letters.find(c);
    if (other == std::string::npos) { free += c; continue; }
    auto* side = has(needed, c) ? batch : inner;
    side[0].push_back(static_cast<std::int64_t>(d)), side[1].push_back(static_cast<std::int64_t>(other));
    if (has(needed, c)) letters += c;
  }
  for (char c : y.letters)
    if (!has(x.letters, c)) free += c;
  return {b.op("dot_general", {x.value, y.value}, attrs({{"lhs_contract", inner[0]}, {"rhs_contract", inner[1]}, {"lhs_batch", batch[0]}, {"rhs_batch", batch[1]}})), letters + free};
}

}  // namespace

Tensor matmul(const Operand& x, const Operand& y) { return product("matmul", x, y, {}); }
Tensor mm(const Operand& x, const Operand& y) { return product("mm", x, y, {2}); }
Tensor bmm(const Operand& x, const Operand& y) { return product("bmm", x, y, {3}); }
Tensor dot(const Operand& x, const Operand& y) { return product("dot", x, y, {1}); }
Tensor outer(const Operand& x, const Operand& y) {
  const auto in = eager::tensors_of({&x, &y}, "outer");
  return mul(Operand(in[0].reshape({-1, 1}, x.here()), x.here()), Operand(in[1].reshape({1, -1}, x.here()), x.here()));
}
Tensor addmm(const Operand& c, const Operand& x, const Operand& y, double beta, double alpha) {
  const auto in = eager::tensors_of({&c, &x, &y}, "addmm");
  return eager::apply1("addmm", in, attrs({{"alpha", alpha}, {"beta", beta}}), c.here());
}

Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands, Here here) {
  const auto e = parsed(equation, operands.size(), here);
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (eager::get(operands[k], here, "einsum").sizes.size() != e.operands[k].size()) eager::fail(here, "einsum: \"" + e.operands[k] + "\" names " + std::to_string(e.operands[k].size()) + " axes, and the operand is " + eager::describe(operands[k]));
  const auto dtype = eager::meeting_dtype(operands, Domain::no_bool);
  return eager::call("einsum", equation + static_cast<char>(dtype), operands, here, [&](Builder& b, const Values& in) {
    Term all{b.convert(in[0], dtype), e.operands[0]};
    for (std::size_t k = 1; k < in.size(); ++k) {
      std::string needed = e.result;
      for (std::size_t later = k + 1; later < in.size(); ++later) needed += e.operands[later];
      all = contracted(b, all, {b.convert(in[k], dtype), e.operands[k]}, needed);
    }
    all = summed(b, all, e.result);
    ir::Ints perm;
    for (char c : e.result) perm.push_back(static_cast<std::int64_t>(all.letters.find(c)));
    return Values{b.transpose(all.value, perm)};
  }).at(0);
}

Tensor cholesky(const Operand& a) { return factors("cholesky", "cholesky", a)[0]; }
Tensor inverse(const Operand& a) { return factors("inverse", "inverse", a)[0]; }
Tensor det(const Operand& a) { return factors("det", "det", a)[0]; }
Tensor pinv(const Operand& a) { return factors("pinv", "pinv", a)[0]; }
Tensor matrix_exp(const Operand& a) { return factors("matrix_exp", "expm", a)[0]; }
std::tuple<Tensor, Tensor> slogdet(const Operand& a) {
  const auto r = factors("slogdet", "slogdet", a);
  return {r[0], r[1]};
}
std::tuple<Tensor, Tensor> qr(const Operand& a) {
  const auto r = factors("qr", "qr", a);
  return {r[0], r[1]};
}
std::tuple<Tensor, Tensor> eigh(const Operand& a) {
  const auto r = factors("eigh", "eigh", a);
  return {r[0], r[1]};
}
std::tuple<Tensor, Tensor, Tensor> svd(const Operand& a) {
  const auto r = factors("svd", "svd", a);
  return {r[0], r[1], r[2]};
}
Tensor solve(const Operand& a, const Operand& b) {
  const auto in = eager::tensors_of({&a, &b}, "solve");
  const bool vector = in[1].dim() == in[0].dim() - 1;
  const auto x = eager::apply1("solve", {in[0], vector ? in[1].unsqueeze(-1, a.here()) : in[1]}, {}, a.here());
  return vector ? x.squeeze(-1, a.here()) : x;
}

}  // namespace plumb
