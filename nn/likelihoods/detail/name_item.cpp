#include <pollen/nn/likelihoods/detail/name_item.hpp>

#include <pollen/autograd/support/interrupt.hpp>

#include <exception>

namespace pollen::detail {

template <Real T>
void find_item(const Module<T>& net, const Likelihood<T>& likelihood, const Parameters<T>& parameters,
               std::span<const T> theta, const Dataset<T>& data, std::int64_t first) {
    Tape<T> tape(Recording::off);
    Pass<T> pass(tape, parameters);
    // What is said of an item alone; nothing if it is not refused. What is thrown because an item is alone, or because
    // of the parameters, refuses no item.
    const auto refusal = [&](std::int64_t item) -> std::string {
        const Dataset<T> one = data.view(item, 1);
        tape.clear();
        pass.restart({}, theta);
        try {
            likelihood.log_prob(pass, net(pass, tape.borrow(one.inputs)), one);
        } catch (const DomainError&) {
            return "";
        } catch (const ValueError& error) {
            return error.what();
        } catch (const std::exception&) {
            return "";
        }
        return "";
    };
    for (std::int64_t item = 0; item < data.size() && !Interrupt::requested(); ++item) {
        const std::string text = refusal(item);
        if (text.empty()) continue;
        if (item == 0 && data.size() > 1 && !refusal(1).empty()) return;
        throw ValueError("item " + std::to_string(first + item) + " of the data set, alone: " + text);
    }
}

#define POLLEN_INSTANTIATE(T)                                                                                 \
    template void find_item(const Module<T>&, const Likelihood<T>&, const Parameters<T>&, std::span<const T>, \
                            const Dataset<T>&, std::int64_t);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen::detail
