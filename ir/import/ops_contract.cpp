// MatMul, Gemm, Einsum.
#include <algorithm>
#include <map>

#include "ir/import/families.h"

namespace plumb::ir::onnx_import {
namespace {

void mat_mul(NodeImport& n) { n.out(n.b.op("matmul", {n.in(0), n.in(1)})); }

/// alpha * A' B' + beta * C. With beta = 0, C is not read: its NaN or infinity has no effect.
void gemm(NodeImport& n) {
  const auto x = n.in(0), y = n.in(1);
  if (n.rank(x) != 2 || n.rank(y) != 2) n.fail("takes matrices, not " + n.type(x).str() + " and " + n.type(y).str());
  const bool trans_x = n.integer("transA", 0) != 0, trans_y = n.integer("transB", 0) != 0;
  const double alpha = n.real("alpha", 1), beta = n.real("beta", 1);
  if (!trans_x && !trans_y && n.has(2)) return n.out(n.b.op("addmm", {n.in(2), x, y}, attrs({{"alpha", alpha}, {"beta", beta}})));
  auto r = n.b.op("dot_general", {x, y}, attrs({{"lhs_contract", Ints{trans_x ? 0 : 1}}, {"rhs_contract", Ints{trans_y ? 1 : 0}}}));
  if (alpha != 1) r = n.with("mul", r, alpha);
  if (n.has(2) && beta != 0) {
    const auto c = n.b.broadcast_to(n.in(2), n.type(r).shape);
    r = n.b.op("add", {r, beta == 1 ? c : n.with("mul", c, beta)});
  }
  n.out(r);
}

/// A value whose axes carry Einsum's labels.
struct Term {
  ValueId value;
  std::string labels;
  std::int64_t axis(char c) const { return static_cast<std::int64_t>(labels.find(c)); }
  bool has(char c) const { return labels.find(c) != std::string::npos; }
};

ValueId permuted(NodeImport& n, const Term& t, const std::string& order) {
  Ints perm;
  for (char c : order) perm.push_back(t.axis(c));
  bool same = true;
  for (std::size_t k = 0; k < perm.size(); ++k) same = same && perm[k] == static_cast<std::int64_t>(k);
  return same ? t.value : n.b.transpose(t.value, perm);
}
/// Sums away the labels that nothing else needs.
Term summed(NodeImport& n, Term t, const std::string& needed) {
  Ints axes;
  std::string left;
  for (char c : t.labels)
    if (needed.find(c) == std::string::npos) axes.push_back(t.axis(c));
    else left += c;
  return axes.empty() ? t : Term{n.reduce("reduce_sum", t.value, axes), left};
}
/// One product: shared labels are batch axes where still needed, else contracted.
Term product(NodeImport& n, const Term& x, const Term& y, const std::string& needed) {
  Ints lc, rc, lb, rb;
  std::string batch, free;
  for (char c : x.labels) {
    if (!y.has(c)) continue;
    const bool keep = needed.find(c) != std::string::npos;
    (keep ? lb : lc).push_back(x.axis(c));
    (keep ? rb : rc).push_back(y.axis(c));
    if (keep) batch += c;
  }
  for (char c : x.labels)
    if (!y.has(c)) free += c;
  for (char c : y.labels)
    if (!x.has(c)) free += c;
  return {n.b.op("dot_general", {x.value, y.value}, attrs({{"lhs_contract", lc}, {"rhs_contract", rc}, {"lhs_batch", lb}, {"rhs_batch", rb}})), batch + free};
}

/// "..." becomes capital digits of its own, one an axis, counted from the right. Labels are letters.
std::string expand_labels(NodeImport& n, std::string text, std::size_t ellipsis_rank) {
  const auto dots = text.find("...");
  std::string names;
  for (std::size_t k = 0; k < ellipsis_rank; ++k) names += static_cast<char>('0' + (ellipsis_rank - 1 - k));
  if (dots != std::string::npos) text.replace(dots, 3, names);
  for (char c : text)
    if (!std::isalnum(static_cast<unsigned char>(c))) n.fail("the equation has '" + std::string(1, c) + "' in a term");
  return text;
}

/// The diagonal along two axes of one size that share a label; it stands where the first of them stood. Two neighbouring
/// axes of size s are one axis of s * s, in which the diagonal's elements are s + 1 apart.
Term diagonal(NodeImport& n, const Term& t, std::size_t first, std::size_t second) {
  const Extents e = n.extents(t.value);
  const auto size = e[first];
  if (e[second] != size) n.fail("label '" + std::string(1, t.labels[first]) + "' stands for sizes " + std::to_string(size) + " and " + std::to_string(e[second]));
  if (size > (std::int64_t{1} << 31)) n.unsupported("a diagonal of " + std::to_string(size));
  Ints perm;
  Shape merged;
  std::string labels;
  for (std::size_t d = 0; d < e.size(); ++d) {
    if (d == second) continue;
    perm.push_back(static_cast<std::int64_t>(d));
    if (d == first) perm.push_back(static_cast<std::int64_t>(second));
    merged.push_back(d == first ? size * size : e[d]);
    labels += t.labels[d];
  }
  const auto rows = n.b.reshape(n.b.transpose(t.value, perm), merged);
  return {n.slice(rows, first, 0, size * size, size + 1), labels};
}
Term without_repeats(NodeImport& n, Term t) {
  for (std::size_t k = 0; k < t.labels.size();) {
    const auto again = t.labels.find(t.labels[k], k + 1);
    if (again == std::string::npos) ++k;
    else t = diagonal(n, t, k, again);
  }
  return t;
}

struct Equation {
  std::vector<std::string> terms;
  std::string result;
  bool explicit_result = false;
};
Equation parse_equation(const std::string& text) {
  Equation e;
  std::string compact;
  for (char c : text)
    if (c != ' ') compact += c;
  const auto arrow = compact.find("->");
  e.explicit_result = arrow != std::string::npos;
  if (e.explicit_result) e.result = compact.substr(arrow + 2);
  const std::string left = compact.substr(0, arrow);
  for (std::size_t at = 0;;) {
    const auto comma = left.find(',', at);
    e.terms.push_back(left.substr(at, comma == std::string::npos ? comma : comma - at));
    if (comma == std::string::npos) return e;
    at = comma + 1;
  }
}

void einsum(NodeImport& n) {
  Equation e = parse_equation(n.text("equation", ""));
  const auto xs = n.all();
  if (e.terms.size() != xs.size()) n.fail("the equation has " + std::to_string(e.terms.size()) + " terms for " + std::to_string(xs.size()) + " inputs");
  std::vector<Term> terms;
  std::map<char, int> uses;
  std::size_t widest = 0;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const bool dots = e.terms[k].find("...") != std::string::npos;
    const std::size_t named = e.terms[k].size() - (dots ? 3 : 0), rank = n.rank(xs[k]);
    if (dots ? named > rank : named != rank) n.fail("term '" + e.terms[k] + "' does not fit " + n.type(xs[k]).str());
    const std::size_t extra = dots ? rank - named : 0;
    widest = std::max(widest, extra);
    const std::string labels = expand_labels(n, e.terms[k], extra);
    for (char c : labels) ++uses[c];
    terms.push_back(without_repeats(n, {xs[k], labels}));
  }
  if (widest > 9) n.unsupported("an ellipsis of more than 9 axes");
  std::string result = expand_labels(n, e.result, widest);
  if (!e.explicit_result) {
    result = expand_labels(n, "...", widest);
    for (const auto& [c, count] : uses)
      if (count == 1 && std::isalpha(static_cast<unsigned char>(c))) result += c;
  }
  for (char c : result)
    if (!uses.contains(c) || std::count(result.begin(), result.end(), c) > 1) n.fail(std::string("label '") + c + "' of the result is in no term, or twice in the result");
  const auto needed_after = [&](std::size_t k) {
    std::string needed = result;
    for (std::size_t j = k; j < terms.size(); ++j) needed += terms[j].labels;
    return needed;
  };
  Term all = summed(n, terms[0], needed_after(1));
  for (std::size_t k = 1; k < terms.size(); ++k) all = product(n, all, summed(n, terms[k], result + all.labels + needed_after(k + 1)), needed_after(k + 1));
  n.out(permuted(n, summed(n, all, result), result));
}

constexpr OpEntry entries[] = {{"Einsum", 1, any_number, einsum}, {"Gemm", 2, 3, gemm}, {"MatMul", 2, 2, mat_mul}};
}  // namespace
std::span<const OpEntry> contract_family() { return entries; }
}  // namespace plumb::ir::onnx_import
