// Index expressions: linear parts as they are; quotients, remainders and xors are computed once, in the outermost block
// in which everything that they depend on is known.
#include "interpreter/kernel/internal/compiler.h"
#include "ir/kernel/walk.h"

namespace plumb::interp::kernel {

using kir::Affine;
using kir::Atom;

/// The innermost block that brings a variable or scalar of the atom into being.
std::size_t Compiler::home(const Atom& a) const {
  std::size_t h = 0;
  kir::for_each_atom(kir::affine_of(a), [&](const Atom& x) {
    if (x.kind == Atom::Kind::value) h = std::max(h, scalars_[static_cast<std::size_t>(x.id)].scope);
    if (x.kind != Atom::Kind::var) return;
    for (std::size_t s = scopes_.size(); s-- > h;)
      if (std::find(scopes_[s].vars.begin(), scopes_[s].vars.end(), x.id) != scopes_[s].vars.end()) {
        h = s;
        break;
      }
  });
  return h;
}

Linear::Part Compiler::atom(const Atom& a, bool& varying) {
  const auto where = home(a);
  for (const auto& [known, part] : scopes_[where].atoms)
    if (kir::compare(known, a) == 0) {
      varying = part.coefficient != 0;
      return {1, part.slot};
    }
  Linear x = linear(*a.a), y = a.b ? linear(*a.b) : Linear{};
  varying = !x.same_for_all() || !y.same_for_all();
  const int at = slot(varying ? region_->lanes : 1);
  const auto fn = a.kind == Atom::Kind::floor_div ? AtomFn::floor_div : a.kind == Atom::Kind::mod ? AtomFn::mod : AtomFn::bit_xor;
  auto op = atom_op(fn, at, std::move(x), std::move(y), a.divisor);
  op->statement = statement_;
  scopes_[where].ops.list.push_back(std::move(op));
  scopes_[where].atoms.push_back({a, {varying, at}});
  return {1, at};
}

Linear Compiler::linear(const Affine& a) {
  Linear r;
  r.constant = a.constant();
  for (const auto& t : a.terms()) {
    switch (t.atom.kind) {
      case Atom::Kind::var: {
        const auto& v = p_.vars[static_cast<std::size_t>(t.atom.id)];
        (v.kind == VarPlace::Kind::varying ? r.varying : r.uniform).push_back({t.coefficient, v.slot});
        if (v.kind == VarPlace::Kind::lanes) r.lane = wrap_add(r.lane, t.coefficient);
        break;
      }
      case Atom::Kind::value: {
        const auto& s = scalars_[static_cast<std::size_t>(t.atom.id)];
        (s.lanes ? r.varying : r.uniform).push_back({t.coefficient, s.slot});
        break;
      }
      case Atom::Kind::floor_div:
      case Atom::Kind::mod:
      case Atom::Kind::bit_xor: {
        bool varying = false;
        const auto part = atom(t.atom, varying);
        (varying ? r.varying : r.uniform).push_back({t.coefficient, part.slot});
        break;
      }
      case Atom::Kind::symbol: fail_unsupported("kernel @" + k_.name + ": the dimension " + ir::symbol_name(t.atom.id) + " has no value; the interpreter runs kernels of concrete sizes");
      case Atom::Kind::coordinate: fail_internal("a coordinate stands outside an output map");
    }
  }
  return r;
}

std::vector<Linear> Compiler::linears(const kir::Indices& index) {
  std::vector<Linear> r;
  for (const auto& i : index) r.push_back(linear(i));
  return r;
}

Test Compiler::test(const kir::Predicate& p) {
  Test t;
  for (const auto& c : p) t.conditions.push_back({linear(c.expr), c.equality});
  return t;
}

Access Compiler::access(kir::BufferId b, const kir::Indices& index) {
  const auto& info = k_.buffers[static_cast<std::size_t>(b)];
  Access a;
  a.region = b;
  a.index = linears(index);
  const auto strides = row_major_strides(info.extents);
  Affine flat;
  for (std::size_t d = 0; d < index.size(); ++d) {
    flat = flat + index[d] * strides[d];
    const auto r = bounds_.range(index[d]);
    if (!r || r->low < 0 || r->high >= info.extents[d]) a.checks.push_back({a.index[d], info.extents[d]});
  }
  a.flat = linear(flat);
  const auto instances = p_.regions[static_cast<std::size_t>(b)].instances;
  if (instances == 1) return a;
  a.flat.constant *= instances;
  a.flat.lane = a.flat.lane * instances + 1;
  for (auto* parts : {&a.flat.uniform, &a.flat.varying})
    for (auto& part : *parts) part.coefficient *= instances;
  return a;
}

}  // namespace plumb::interp::kernel
