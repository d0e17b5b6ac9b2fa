// Buffers: where they live, how an access reaches them. Bool is a byte in memory and one bit in a register.
#include <bit>
#include <numeric>

#include "backends/llvm/internal/kernel_emitter.h"

namespace plumb::backends::codegen {

using kir::Affine;

namespace {

constexpr std::int64_t largest_slot = 16 << 10, largest_stack = 48 << 10;

llvm::Align alignment(DType t) { return llvm::Align(static_cast<std::uint64_t>(byte_size(t))); }

}  // namespace

llvm::Type* KernelEmitter::memory_type(DType t) const { return is_bool(t) ? llvm::Type::getInt8Ty(module_.getContext()) : math_.type(t); }
Value* KernelEmitter::to_memory(Value* v, DType t) { return is_bool(t) ? b_.CreateZExt(v, shaped(v->getType(), b_.getInt8Ty())) : v; }
Value* KernelEmitter::from_memory(Value* v, DType t) { return is_bool(t) ? b_.CreateICmpNE(v, llvm::ConstantInt::get(v->getType(), 0)) : v; }

Value* KernelEmitter::tagged(Value* access, kir::BufferId buffer) {
  auto* i = llvm::cast<llvm::Instruction>(access);
  i->setMetadata(llvm::LLVMContext::MD_alias_scope, scopes_[static_cast<std::size_t>(buffer)]);
  i->setMetadata(llvm::LLVMContext::MD_noalias, others_[static_cast<std::size_t>(buffer)]);
  return access;
}

/// Small buffers are on the stack, where SROA finds them; the others in the thread's scratch memory. A step of a vector
/// loop reads and rewrites its absent lanes of a local buffer, hence the slack around it.
void KernelEmitter::emit_node(const kir::Alloc& s) {
  const auto& buffer = info(s.buffer);
  if (options_.grid && buffer.space == kir::Space::shared) return allocate_shared(s.buffer);
  if (buffer.space == kir::Space::fragment) return allocate_fragment(s.buffer);
  instances_[static_cast<std::size_t>(s.buffer)] = width_;
  auto& slot = frame_.slots[{s.buffer, width_}];
  if (!slot) {
    const std::int64_t bytes = (element_count(buffer.extents) * std::max(1u, width_) * byte_size(buffer.dtype) + 63) / 64 * 64 + 2 * slack_bytes_;
    llvm::IRBuilder<> entry(&frame_.function->getEntryBlock(), frame_.function->getEntryBlock().begin());
    if (options_.grid || (bytes <= largest_slot && frame_.stack_bytes + bytes <= largest_stack)) {
      auto* memory = entry.CreateAlloca(llvm::ArrayType::get(entry.getInt8Ty(), static_cast<std::uint64_t>(bytes)), nullptr, buffer.name);
      memory->setAlignment(llvm::Align(64));
      frame_.stack_bytes += bytes;
      slot = entry.CreateConstGEP1_64(entry.getInt8Ty(), memory, static_cast<std::uint64_t>(slack_bytes_));
    } else {
      const auto [offset, fresh] = scratch_offsets_.try_emplace({s.buffer, width_}, scratch_bytes_ + slack_bytes_);
      if (fresh) scratch_bytes_ += bytes;
      slot = entry.CreateConstGEP1_64(entry.getInt8Ty(), frame_.scratch, static_cast<std::uint64_t>(offset->second));
    }
  }
  pointers_[static_cast<std::size_t>(s.buffer)] = slot;
}

KernelEmitter::Address KernelEmitter::address(kir::BufferId buffer, const kir::Indices& index) {
  const auto strides = row_major_strides(info(buffer).extents);
  Affine flat;
  for (std::size_t d = 0; d < index.size(); ++d) flat = flat + index[d] * strides[d];
  flat = kir::recombine(flat);
  Value* base = pointers_[static_cast<std::size_t>(buffer)];
  const auto easy = varies(flat) ? lanewise(flat) : Lanewise{flat, 0};
  const bool uniform_index = easy && easy->stride == 0;
  const std::int64_t own = instances_[static_cast<std::size_t>(buffer)];
  if (own > 0) {  // each lane has its own: element e of lane l is at e·W + l
    require(own == width_, "a lane's own buffer is used in its loop");
    if (uniform_index) return {Access::contiguous, base, uniform(easy->uniform * own), nullptr};
    Value* at = affine(flat);
    return {Access::scattered, base, i64(0), b_.CreateAdd(b_.CreateMul(at, llvm::ConstantInt::get(at->getType(), static_cast<std::uint64_t>(own))), iota(b_.getInt64Ty()))};
  }
  if (uniform_index) return {Access::uniform, base, uniform(easy->uniform), nullptr};
  if (easy && easy->stride == 1) return {Access::contiguous, base, uniform(easy->uniform), nullptr, vector_alignment(buffer, easy->uniform)};
  return {Access::scattered, base, i64(0), affine(flat)};
}

/// A processor takes any address; a grid's wide accesses must be to multiples of their size. Buffers start at multiples of 256.
llvm::Align KernelEmitter::vector_alignment(kir::BufferId buffer, const Affine& first) const {
  const auto bytes = byte_size(info(buffer).dtype);
  if (!options_.grid) return llvm::Align(static_cast<std::uint64_t>(bytes));
  std::int64_t divisor = std::gcd(first.constant(), std::int64_t{16});
  for (const auto& t : first.terms()) {
    const bool first_lane = t.atom.kind == kir::Atom::Kind::var && t.atom.id == lane_var_;
    divisor = std::gcd(divisor, t.coefficient * (first_lane ? static_cast<std::int64_t>(width_) : 1));
  }
  return llvm::Align(static_cast<std::uint64_t>(std::min<std::int64_t>(16, bytes * (std::int64_t{1} << std::countr_zero(static_cast<std::uint64_t>(divisor))))));
}

Value* KernelEmitter::pointer(kir::BufferId buffer, const Address& a) { return b_.CreateGEP(memory_type(info(buffer).dtype), a.base, a.index); }

Value* KernelEmitter::load(kir::BufferId buffer, const kir::Indices& index, Value* guard, Value* other) {
  const DType t = info(buffer).dtype;
  if (guard && element_count(info(buffer).extents) == 0) return other;  // no element: the guard never holds
  if (auto* known = guard ? llvm::dyn_cast<llvm::ConstantInt>(guard) : nullptr; known && known->isZero()) return other;
  const auto a = address(buffer, index);
  if (a.access == Access::uniform) return load_uniform(buffer, a, guard, other);
  Value* mask = both(mask_, guard ? splat(guard) : nullptr);
  if (a.access == Access::scattered) return load_scattered(buffer, a, mask, other);
  auto* vector = llvm::FixedVectorType::get(memory_type(t), width_);
  Value* p = pointer(buffer, a);
  if (!mask || (is_local(buffer) && !guard)) return from_memory(tagged(b_.CreateAlignedLoad(vector, p, std::max(a.align, alignment(t))), buffer), t);
  Value* otherwise = other ? to_memory(splat(other), t) : llvm::Constant::getNullValue(vector);
  return from_memory(tagged(b_.CreateMaskedLoad(vector, p, alignment(t), calls_.memory_mask(b_, mask), otherwise), buffer), t);
}

/// One element for all lanes. Where no lane wants it the first element of the buffer is read in its place, so that
/// there is no branch and the load can leave a loop.
Value* KernelEmitter::load_uniform(kir::BufferId buffer, const Address& a, Value* guard, Value* other) {
  const DType t = info(buffer).dtype;
  Address safe = a;
  if (guard) safe.index = b_.CreateSelect(any(both(guard, is_vector(guard) ? mask_ : nullptr)), a.index, i64(0));
  Value* v = from_memory(tagged(b_.CreateAlignedLoad(memory_type(t), pointer(buffer, safe), alignment(t)), buffer), t);
  if (!guard) return v;
  const bool vector = is_vector(guard) || is_vector(other);
  return vector ? b_.CreateSelect(is_vector(guard) ? guard : splat(guard), splat(v), splat(other)) : b_.CreateSelect(guard, v, other);
}

/// Gathers exist for 4 and 8 bytes; narrower elements are read one by one, absent lanes at the buffer's first element.
Value* KernelEmitter::load_scattered(kir::BufferId buffer, const Address& a, Value* mask, Value* other) {
  const DType t = info(buffer).dtype;
  auto* element = memory_type(t);
  auto* vector = llvm::FixedVectorType::get(element, width_);
  Value* otherwise = other ? to_memory(splat(other), t) : nullptr;
  if (byte_size(t) >= 4 && !options_.grid) {
    Value* pointers = b_.CreateGEP(element, a.base, a.offsets);
    Value* all = mask ? calls_.memory_mask(b_, mask) : llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(b_.getInt1Ty(), width_));
    return from_memory(tagged(b_.CreateMaskedGather(vector, pointers, alignment(t), all, otherwise ? otherwise : llvm::Constant::getNullValue(vector)), buffer), t);
  }
  Value* offsets = mask ? b_.CreateSelect(mask, a.offsets, llvm::Constant::getNullValue(a.offsets->getType())) : a.offsets;
  Value* r = llvm::PoisonValue::get(vector);
  for (unsigned lane = 0; lane < width_; ++lane) {
    Value* p = b_.CreateGEP(element, a.base, b_.CreateExtractElement(offsets, lane));
    r = b_.CreateInsertElement(r, tagged(b_.CreateAlignedLoad(element, p, alignment(t)), buffer), lane);
  }
  return from_memory(mask && otherwise ? b_.CreateSelect(mask, r, otherwise) : r, t);
}

void KernelEmitter::store(kir::BufferId buffer, const kir::Indices& index, Value* v) {
  const DType t = info(buffer).dtype;
  const auto a = address(buffer, index);
  if (a.access == Access::scattered) return store_scattered(buffer, a, to_memory(splat(v), t));
  Value* p = pointer(buffer, a);
  if (a.access == Access::uniform) {
    if (is_vector(v)) {  // several lanes would race, so one is present: the first
      Value* lane = i64(0);
      if (mask_) {
        Value* bits = b_.CreateBitCast(mask_, b_.getIntNTy(width_));
        lane = b_.CreateZExtOrTrunc(b_.CreateIntrinsic(llvm::Intrinsic::cttz, {bits->getType()}, {bits, b_.getTrue()}), b_.getInt64Ty());
      }
      v = b_.CreateExtractElement(v, lane);
    }
    tagged(b_.CreateAlignedStore(to_memory(v, t), p, alignment(t)), buffer);
    return;
  }
  Value* value = to_memory(splat(v), t);
  if (mask_ && !is_local(buffer)) {
    tagged(b_.CreateMaskedStore(value, p, alignment(t), calls_.memory_mask(b_, mask_)), buffer);
    return;
  }
  // Reading and rewriting the absent lanes keeps a local buffer promotable to registers.
  if (mask_) value = b_.CreateSelect(mask_, value, tagged(b_.CreateAlignedLoad(value->getType(), p, alignment(t)), buffer));
  tagged(b_.CreateAlignedStore(value, p, std::max(a.align, alignment(t))), buffer);
}

void KernelEmitter::store_scattered(kir::BufferId buffer, const Address& a, Value* value) {
  Value* pointers = b_.CreateGEP(memory_type(info(buffer).dtype), a.base, a.offsets);
  Value* all = mask_ ? calls_.memory_mask(b_, mask_) : llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(b_.getInt1Ty(), width_));
  tagged(b_.CreateMaskedScatter(value, pointers, alignment(info(buffer).dtype), all), buffer);
}

}  // namespace plumb::backends::codegen
