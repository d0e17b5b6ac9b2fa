// Recorded answers of another compiler, judged without a chosen tolerance.
//
// Integers and bools must be equal, NaN and infinities in the same places. Other floats of a tensor are judged by
//  enclosure   where the program's enclosure from end to end is at hand (check mode full) and narrow: the recorded value
//              must lie in it, as ours must;
//  scale       elsewhere. The program is also run with every f32 widened to f64; d is the largest distance between our
//              answer and the wide one over the tensor. A recorded value is right when it lies within 16 d, plus 4 units
//              in the last place of the tensor's largest magnitude, of the wide answer: both are roundings of one real
//              answer, and d is how far roundings were measured to carry on this program and these inputs. 16: another
//              compiler's order may be less lucky than ours; a structural fault is off by the size of the values.
// A complex tensor is compared by its parts. The comparison says how many elements each way decided.
#pragma once
#include "interpreter/tensor/evaluate.h"

namespace plumb::verify {

struct Comparison {
  std::int64_t elements = 0, wrong = 0;
  std::int64_t by_equality = 0, by_enclosure = 0, by_scale = 0;
  double scale = 0, worst = 0;     ///< 16 d plus the units; the largest distance of a recorded value from the wide answer
  std::string first_wrong;
};
/// `enclosed` may be null.
Comparison compare_recorded(const ir::Literal& ours, const ir::Literal& wide, const ir::Literal& recorded, const interp::EnclosedTensor* enclosed = nullptr);

/// The program with every f32 widened to f64, and c64 to c128 (types, constants, conversions).
ir::Module widen(const ir::Module& module);
ir::Literal widen(const ir::Literal& literal);

}  // namespace plumb::verify
