#include "backends/llvm/internal/kernel_emitter.h"

namespace plumb::backends::codegen {

using kir::Affine;
using kir::Atom;

llvm::Type* KernelEmitter::memory_type(DType t) const { return is_bool(t) ? llvm::Type::getInt8Ty(module_.getContext()) : math_.type(t); }
Value* KernelEmitter::to_memory(Value* v, DType t) { return is_bool(t) ? b_.CreateZExt(v, math_.like(v, b_.getInt8Ty())) : v; }
Value* KernelEmitter::from_memory(Value* v, DType t) { return is_bool(t) ? b_.CreateICmpNE(v, llvm::ConstantInt::get(v->getType(), 0)) : v; }
Value* KernelEmitter::lanes(Value* v) { return is_vector(v) ? v : b_.CreateVectorSplat(width_, v); }
Value* KernelEmitter::both(Value* m, Value* n) { return !m ? n : !n ? m : b_.CreateAnd(m, n); }

kir::AtomRange KernelEmitter::ranges() const {
  return [this](const Atom& a) -> std::optional<kir::Range> {
    if (a.kind != Atom::Kind::var || extents_[static_cast<std::size_t>(a.id)] < 1) return std::nullopt;
    return kir::Range{0, extents_[static_cast<std::size_t>(a.id)] - 1};
  };
}

bool KernelEmitter::depends_on_lane(const Affine& a) const {
  if (width_ == 0) return false;
  for (const auto& t : a.terms()) {
    if (t.atom.kind == Atom::Kind::var && t.atom.id == lane_var_) return true;
    if (t.atom.kind == Atom::Kind::value && is_vector(scalars_[static_cast<std::size_t>(t.atom.id)])) return true;
    if ((t.atom.a && depends_on_lane(*t.atom.a)) || (t.atom.b && depends_on_lane(*t.atom.b))) return true;
  }
  return false;
}

/// Floor division or remainder by a positive constant; unsigned where the range shows that nothing is negative.
Value* KernelEmitter::divide(Value* x, std::int64_t c, bool remainder, const Affine& of) {
  auto* type = x->getType();
  const auto r = kir::range(of, ranges());
  if (r && r->low >= 0) {
    auto* narrow = math_.like(x, b_.getInt32Ty());
    if (is_vector(x) && r->high < (std::int64_t{1} << 31) && c < (std::int64_t{1} << 31)) {  // 64-bit vector multiplies are slow
      Value *y = b_.CreateTrunc(x, narrow), *d = llvm::ConstantInt::get(narrow, static_cast<std::uint64_t>(c));
      return b_.CreateZExt(remainder ? b_.CreateURem(y, d) : b_.CreateUDiv(y, d), type);
    }
    Value* d = llvm::ConstantInt::get(type, static_cast<std::uint64_t>(c));
    return remainder ? b_.CreateURem(x, d) : b_.CreateUDiv(x, d);
  }
  Value *d = llvm::ConstantInt::get(type, static_cast<std::uint64_t>(c)), *zero = llvm::ConstantInt::get(type, 0);
  Value *q = b_.CreateSDiv(x, d), *rest = b_.CreateSub(x, b_.CreateMul(q, d));
  Value* negative = b_.CreateICmpSLT(rest, zero);
  return remainder ? b_.CreateSelect(negative, b_.CreateAdd(rest, d), rest) : b_.CreateSelect(negative, b_.CreateSub(q, llvm::ConstantInt::get(type, 1)), q);
}

Value* KernelEmitter::atom(const Atom& a, bool vector) {
  auto shaped = [&](Value* v) { return vector ? lanes(v) : v; };
  switch (a.kind) {
    case Atom::Kind::var: {
      if (a.id != lane_var_ || width_ == 0) return shaped(vars_[static_cast<std::size_t>(a.id)]);
      std::vector<llvm::Constant*> step;
      for (unsigned k = 0; k < width_; ++k) step.push_back(b_.getInt64(k));
      return b_.CreateAdd(lanes(lane_base_), llvm::ConstantVector::get(step));
    }
    case Atom::Kind::value: return shaped(scalar(a.id));
    case Atom::Kind::floor_div:
    case Atom::Kind::mod: return shaped(divide(affine(*a.a), a.divisor, a.kind == Atom::Kind::mod, *a.a));
    case Atom::Kind::bit_xor: {
      Value *x = affine(*a.a), *y = affine(*a.b);
      if (is_vector(x) || is_vector(y)) x = lanes(x), y = lanes(y);
      return shaped(b_.CreateXor(x, y));
    }
    default: fail_internal("dimension symbols are bound before code generation");
  }
}

Value* KernelEmitter::affine(const Affine& a) {
  const bool vector = depends_on_lane(a);
  Value* r = vector ? lanes(i64(a.constant())) : i64(a.constant());
  for (const auto& t : a.terms()) {
    Value* v = atom(t.atom, vector);
    Value* c = llvm::ConstantInt::get(v->getType(), static_cast<std::uint64_t>(t.coefficient));
    r = b_.CreateAdd(r, t.coefficient == 1 ? v : b_.CreateMul(v, c));
  }
  return r;
}

Value* KernelEmitter::scalar_affine(const Affine& a) {
  require(!depends_on_lane(a), "a loop extent is uniform");
  return affine(a);
}

KernelEmitter::Address KernelEmitter::address(kir::BufferId buffer, const kir::Indices& index) {
  const auto& info_b = info(buffer);
  const auto strides = row_major_strides(info_b.extents);
  Affine flat;
  for (std::size_t d = 0; d < index.size(); ++d) flat = flat + index[d] * strides[d];
  flat = kir::recombine(flat);
  auto* element = memory_type(info_b.dtype);
  Value* base = pointers_[static_cast<std::size_t>(buffer)];
  if (private_[static_cast<std::size_t>(buffer)]) {
    require(!depends_on_lane(flat), "a lane's own buffer is indexed uniformly");
    return {b_.CreateGEP(element, base, affine(flat * static_cast<std::int64_t>(width_))), true, false, nullptr};
  }
  if (!depends_on_lane(flat)) return {b_.CreateGEP(element, base, affine(flat)), false, true, nullptr};
  // Split off what does not depend on the lane: it goes to the scalar side.
  Affine uniform(flat.constant()), varying;
  for (const auto& t : flat.terms()) {
    const Affine one = kir::substitute(Affine(), [](const Atom&) { return std::nullopt; });
    Affine single = one;
    single = [&] {
      switch (t.atom.kind) {
        case Atom::Kind::var: return Affine::var(t.atom.id);
        case Atom::Kind::value: return Affine::value(t.atom.id);
        case Atom::Kind::floor_div: return kir::floor_div(*t.atom.a, t.atom.divisor);
        case Atom::Kind::mod: return kir::mod(*t.atom.a, t.atom.divisor);
        default: return kir::bit_xor(*t.atom.a, *t.atom.b);
      }
    }();
    (depends_on_lane(single) ? varying : uniform) = (depends_on_lane(single) ? varying : uniform) + single * t.coefficient;
  }
  if (varying == Affine::var(lane_var_)) {
    Value* start = b_.CreateAdd(affine(uniform), lane_base_);
    return {b_.CreateGEP(element, base, start), true, false, nullptr};
  }
  Value* pointer = b_.CreateGEP(element, base, affine(uniform));
  Value* offsets = affine(varying);
  const auto r = kir::range(varying, ranges());
  if (r && r->low >= 0 && r->high < (std::int64_t{1} << 30)) offsets = b_.CreateTrunc(offsets, math_.like(offsets, b_.getInt32Ty()));
  return {pointer, false, false, offsets};
}

Value* KernelEmitter::load(kir::BufferId buffer, const kir::Indices& index, Value* mask, Value* other) {
  const DType t = info(buffer).dtype;
  auto* element = memory_type(t);
  const auto a = address(buffer, index);
  const auto align = llvm::Align(static_cast<std::uint64_t>(byte_size(t)));
  const bool local = info(buffer).space != kir::Space::global;
  if (a.uniform) {
    if (!mask || !other) {
      // An absent lane's address may be anything, but a uniform one belongs to a present lane too, unless all are absent
      // through a data-dependent mask; uniform loads under such a mask stay in bounds by the kernel's own checks.
      return from_memory(b_.CreateAlignedLoad(element, a.pointer, align), t);
    }
    Value* splat = b_.CreateVectorSplat(width_, llvm::ConstantInt::get(b_.getInt64Ty(), 0));
    Value* pointers = b_.CreateGEP(element, a.pointer, splat);
    return from_memory(b_.CreateMaskedGather(llvm::FixedVectorType::get(element, width_), pointers, align, mask, to_memory(lanes(other), t)), t);
  }
  auto* vector = llvm::FixedVectorType::get(element, width_);
  if (a.contiguous) {
    if (!mask || (local && !other)) return from_memory(b_.CreateAlignedLoad(vector, a.pointer, align), t);
    return from_memory(b_.CreateMaskedLoad(vector, a.pointer, align, mask, other ? to_memory(lanes(other), t) : llvm::Constant::getNullValue(vector)), t);
  }
  Value* pointers = b_.CreateGEP(element, a.pointer, a.offsets);
  Value* all = mask ? mask : llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(b_.getInt1Ty(), width_));
  return from_memory(b_.CreateMaskedGather(vector, pointers, align, all, other ? to_memory(lanes(other), t) : llvm::Constant::getNullValue(vector)), t);
}

Value* KernelEmitter::guarded_load(const kir::Load& l) {
  Value* p = predicate(l.guard);
  if (!p) return load(l.buffer, l.index, mask_, nullptr);
  if (width_ > 0) {
    Value* wanted = both(mask_, lanes(p));
    return load(l.buffer, l.index, wanted, scalar(l.other));
  }
  auto& context = module_.getContext();
  auto *before = b_.GetInsertBlock(), *inside = llvm::BasicBlock::Create(context, "inside", function_), *after = llvm::BasicBlock::Create(context, "loaded", function_);
  b_.CreateCondBr(p, inside, after);
  b_.SetInsertPoint(inside);
  Value* v = load(l.buffer, l.index, nullptr, nullptr);
  auto* from = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  auto* phi = b_.CreatePHI(v->getType(), 2);
  phi->addIncoming(v, from);
  phi->addIncoming(scalar(l.other), before);
  return phi;
}

void KernelEmitter::store(kir::BufferId buffer, const kir::Indices& index, Value* v) {
  const DType t = info(buffer).dtype;
  auto* element = memory_type(t);
  const auto a = address(buffer, index);
  const auto align = llvm::Align(static_cast<std::uint64_t>(byte_size(t)));
  if (a.uniform) {
    require(!is_vector(v) || width_ > 0, "a vector value is stored inside its loop");
    Value* one = is_vector(v) ? b_.CreateExtractElement(v, std::uint64_t{0}) : v;
    b_.CreateAlignedStore(to_memory(one, t), a.pointer, align);
    return;
  }
  Value* value = to_memory(lanes(v), t);
  auto* vector = llvm::FixedVectorType::get(element, width_);
  if (a.contiguous) {
    if (!mask_) b_.CreateAlignedStore(value, a.pointer, align);
    else if (info(buffer).space == kir::Space::local)  // keeps the buffer promotable to registers
      b_.CreateAlignedStore(b_.CreateSelect(mask_, value, b_.CreateAlignedLoad(vector, a.pointer, align)), a.pointer, align);
    else b_.CreateMaskedStore(value, a.pointer, align, mask_);
    return;
  }
  Value* pointers = b_.CreateGEP(element, a.pointer, a.offsets);
  b_.CreateMaskedScatter(value, pointers, align, mask_ ? mask_ : llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(b_.getInt1Ty(), width_)));
}

Value* KernelEmitter::predicate(const kir::Predicate& p) {
  Value* r = nullptr;
  for (const auto& c : p) {
    const auto bounds = kir::range(c.expr, ranges());
    if (bounds && !c.equality && bounds->low >= 0) continue;
    Value* v = affine(c.expr);
    auto* zero = llvm::ConstantInt::get(v->getType(), 0);
    Value* here = c.equality ? b_.CreateICmpEQ(v, zero) : b_.CreateICmpSGE(v, zero);
    if (r && is_vector(r) != is_vector(here)) r = lanes(r), here = lanes(here);
    r = r ? b_.CreateAnd(r, here) : here;
  }
  return r;
}

}  // namespace plumb::backends::codegen
