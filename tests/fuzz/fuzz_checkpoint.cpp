#include <pollen/data/formats/detail/sealed_tensors.hpp>
#include <pollen/nn/training/detail/checkpoint.hpp>

#include <cmath>
#include <cstdlib>

namespace {

using namespace pollen;

class Line final : public HasParameters<float> {
  public:
    void visit(Visitor<float>& visitor) override { each(*this, visitor); }
    void visit(ConstVisitor<float>& visitor) const override { each(*this, visitor); }

  private:
    static void each(auto& self, auto& visitor) {
        visitor.parameter("weight", self.weight_);
        visitor.parameter("bias", self.bias_);
    }
    Parameter<float> weight_{.shape = {2, 3}}, bias_{.shape = {2}};
};

detail::RunFacts facts() {
    detail::RunFacts facts;
    facts.options = {{"batch", "2"}};
    facts.data = {{"training inputs", "(5, 3) 0123456789abcdef"}};
    facts.steps = 12;
    facts.per_epoch = 3;
    facts.batch = 2;
    facts.epoch_items = 5;
    facts.memories = 1;
    facts.validation = true;
    return facts;
}

// A run that is accepted is one that can go on.
void parse(Bytes bytes, const Parameters<float>& parameters) {
    try {
        const auto state = detail::parse_checkpoint(bytes, "f", parameters, facts(), {1 << 20});
        const bool open = state.step > 0 && state.step % 3 == 0 && state.loss_items == 5;
        bool good = state.step >= 0 && state.step <= 12 && std::ssize(state.history) == state.step / 3 - open &&
                    (open || state.loss_items == state.step % 3 * 2) && state.memory.size() == 1 &&
                    state.best_epoch >= 0 && state.best_epoch <= std::ssize(state.history) && state.theta.size() == 8 &&
                    state.best.size() == (state.best_epoch > 0 ? 8 : 0) && !std::isnan(state.loss_sum);
        for (const float x : state.theta) good &= std::isfinite(x);
        for (const float x : state.best) good &= std::isfinite(x);
        if (!good) std::abort();
    } catch (const FileError&) {
    }
}

}  // namespace

// Mutations hardly ever leave the checksum right, so each input is read a second time with it mended.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Line line;
    static const Parameters<float> parameters(line);
    const Bytes bytes = std::as_bytes(std::span(data, size));
    parse(bytes, parameters);
    std::vector<std::byte> mended(bytes.begin(), bytes.end());
    if (detail::renew_checksum(mended)) parse(mended, parameters);
    return 0;
}
